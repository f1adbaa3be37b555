"""Rejects as messages: with what came, whole, and what was wrong with it, in headers."""

from collections.abc import Mapping

from stream_rank.broker.port import Headers, Incoming, Message, Partition, Producer
from stream_rank.errors import TooLargeError
from stream_rank.stream.batch import Reject
from stream_rank.stream.chunk import Columns, Records

__all__ = ["REDRIVEN", "DeadLetters", "origin_of"]

_PREFIX = "stream-rank-"
REASON, TOPIC, PARTITION = f"{_PREFIX}reason", f"{_PREFIX}topic", f"{_PREFIX}partition"
OFFSET, TIME, CLIPPED = f"{_PREFIX}offset", f"{_PREFIX}time", f"{_PREFIX}clipped"
REDRIVEN = f"{_PREFIX}redriven"
"""Of a message that says which letter was brought back."""
_SECONDS = 5.0
"""For which a snapshot waits for the letters that it passes."""
_CLIP = 100_000
"""Bytes that are kept of a message that the topic does not take whole."""

Origin = tuple[Partition, int, Incoming]


class DeadLetters:
    """Sends rejects to a topic. A snapshot passes none that is not there; after a kill, some come twice."""

    def __init__(self, producer: Producer, topic: str) -> None:
        self._producer, self._topic = producer, topic
        self._mark = self.sent = 0
        """Letters of the run, and of this process."""

    def put(self, reject: Reject, chunk: Records | Columns) -> None:
        """Send a reject."""
        assert isinstance(chunk, Records)  # of messages
        assert chunk.origin_of is not None
        origin: Origin = chunk.origin_of(reject.record)
        partition, offset, message = origin
        headers = [(name, value) for name, value in message.headers if not name.startswith(_PREFIX)]
        headers += [
            (REASON, reject.reason.encode(errors="replace")),
            (TOPIC, partition.topic.encode()),
            (PARTITION, str(partition.number).encode()),
            (OFFSET, str(offset).encode()),
            (TIME, str(message.timestamp).encode()),
        ]
        letter = Message(self._topic, message.value, message.key, headers)
        try:
            self._producer.send(letter)
        except TooLargeError as error:  # of those before: there was no room for this one
            self._send_clipped(error)
            self._producer.send(letter)
        self._mark += 1
        self.sent += 1

    def begin(self, mark: int = 0) -> None:
        """Count on."""
        self._mark = mark

    def mark(self) -> int:
        """Make sure that all letters are with the broker; how many there are."""
        try:
            self._producer.flush(_SECONDS)
        except TooLargeError as error:
            self._send_clipped(error)
            self._producer.flush(_SECONDS)
        return self._mark

    def _send_clipped(self, error: TooLargeError) -> None:
        for message in error.messages:
            self._producer.send(_clipped(message))

    def close(self) -> None:
        """Let go of the broker."""
        self._producer.close()


def _clipped(message: Message) -> Message:
    value = message.value or b""
    headers = [*message.headers, (CLIPPED, str(len(value)).encode())]
    return message._replace(value=value[:_CLIP], headers=headers)


def origin_of(headers: Headers) -> Mapping[str, str] | None:
    """What the headers of a dead letter say, by the names above; None if it is somebody else's message."""
    found = {
        name: value.decode(errors="replace")
        for name, value in headers
        if name.startswith(_PREFIX) and value is not None
    }
    return found if {REASON, TOPIC, PARTITION, OFFSET} <= found.keys() else None
