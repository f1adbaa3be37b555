"""Rejects as messages: with what came, whole, and what was wrong with it, in headers."""

from collections.abc import Mapping

from stream_rank.codec.batch import Reject
from stream_rank.errors import FatalKafkaError, MessageTooLargeError
from stream_rank.ingest.chunk import Columns, Records
from stream_rank.ingest.kafka.port import (
    ConsumerRecord,
    Headers,
    Partition,
    Producer,
    ProducerRecord,
)

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

Origin = tuple[Partition, int, ConsumerRecord]


class DeadLetters:
    """Sends rejects to a topic. A snapshot passes none that is not there; after a kill, some come twice."""

    def __init__(self, producer: Producer, topic: str) -> None:
        self._producer, self._topic = producer, topic
        self._mark = self.sent = 0
        """Letters of the run, and of this process."""
        self._large: list[ProducerRecord] = []
        """Letters that the topic did not take, to be sent in part."""

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
        self._send(ProducerRecord(self._topic, message.value, message.key, headers))
        self._mark += 1
        self.sent += 1

    def begin(self, mark: int = 0) -> None:
        """Count on."""
        self._mark = mark

    def mark(self) -> int:
        """Make sure that all letters are with the broker; how many there are."""
        while True:
            while self._large:
                self._send(_smaller(self._large[0]))
                del self._large[0]
            try:
                self._producer.flush(_SECONDS)
                return self._mark
            except MessageTooLargeError as error:
                self._large += error.messages

    def _send(self, letter: ProducerRecord) -> None:
        while True:
            try:
                return self._producer.send(letter)
            except MessageTooLargeError as error:  # of those before, for which there was no room
                self._large += error.messages

    def close(self) -> None:
        """Let go of the broker."""
        self._producer.close()


def _smaller(letter: ProducerRecord) -> ProducerRecord:
    """The beginning of its value; and where that is too large too, what was wrong and where it came from."""
    if all(name != CLIPPED for name, _ in letter.headers):
        value = letter.value or b""
        headers = [*letter.headers, (CLIPPED, str(len(value)).encode())]
        return letter._replace(value=value[:_CLIP], headers=headers)
    ours = [each for each in letter.headers if each[0].startswith(_PREFIX)]
    if (letter.value, letter.key, list(letter.headers)) == (b"", None, ours):
        raise FatalKafkaError(
            f"{letter.topic} takes no dead letter at all: see its max.message.bytes"
        )
    return letter._replace(value=b"", key=None, headers=ours)


def origin_of(headers: Headers) -> Mapping[str, str] | None:
    """What the headers of a dead letter say, by the names above; None if it is somebody else's message."""
    found = {
        name: value.decode(errors="replace")
        for name, value in headers
        if name.startswith(_PREFIX) and value is not None
    }
    return found if {REASON, TOPIC, PARTITION, OFFSET} <= found.keys() else None
