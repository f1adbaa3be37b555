"""Dead letters: rejects as messages with the original value, key and headers, and the reason in further headers."""

from collections.abc import Mapping
from functools import partial

from stream_rank.errors import FatalKafkaError
from stream_rank.ingest.kafka.port import (
    ConsumerRecord,
    Partition,
    Producer,
    ProducerRecord,
)
from stream_rank.ingest.message import Headers
from stream_rank.sinks.sink import Rejected
from stream_rank.sinks.topic_sink import TopicSink

__all__ = ["REDRIVEN", "dead_letter_topic", "origin_of"]

_PREFIX = "stream-rank-"
REASON, TOPIC, PARTITION = f"{_PREFIX}reason", f"{_PREFIX}topic", f"{_PREFIX}partition"
OFFSET, TIME, CLIPPED = f"{_PREFIX}offset", f"{_PREFIX}time", f"{_PREFIX}clipped"
REDRIVEN = f"{_PREFIX}redriven"
"""The header of a message that marks a dead letter as redriven."""
_CLIP = 100_000
"""Bytes of the value that are kept when a dead letter is too large for the topic."""

Origin = tuple[Partition, int, ConsumerRecord]


def dead_letter_topic(producer: Producer, topic: str) -> TopicSink[Rejected]:
    """A sink that sends every reject to a dead-letter topic."""
    return TopicSink(producer, partial(_as_letter, topic), _smaller)


def _as_letter(topic: str, reject: Rejected) -> ProducerRecord:
    origin: Origin = reject.origin
    partition, offset, message = origin
    headers = [(name, value) for name, value in message.headers if not name.startswith(_PREFIX)]
    headers += [
        (REASON, reject.reason.encode(errors="replace")),
        (TOPIC, partition.topic.encode()),
        (PARTITION, str(partition.number).encode()),
        (OFFSET, str(offset).encode()),
        (TIME, str(message.timestamp).encode()),
    ]
    return ProducerRecord(topic, message.value, message.key, headers)


def _smaller(letter: ProducerRecord) -> ProducerRecord:
    """The letter with a clipped value; if that is too large as well, only the reason and the origin."""
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
    """The headers of a dead letter by the names above; None if the message is not one."""
    found = {
        name: value.decode(errors="replace")
        for name, value in headers
        if name.startswith(_PREFIX) and value is not None
    }
    return found if {REASON, TOPIC, PARTITION, OFFSET} <= found.keys() else None
