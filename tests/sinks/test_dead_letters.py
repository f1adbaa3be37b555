"""Letters that are too large for their topic."""

from collections.abc import Callable
from functools import partial

import pytest

from stream_rank.errors import FatalKafkaError, MessageTooLargeError, RetriableKafkaError
from stream_rank.ingest.kafka.port import ConsumerRecord, Partition, ProducerRecord
from stream_rank.sinks.dead_letters import dead_letter_topic, origin_of
from stream_rank.sinks.sink import Rejected
from stream_rank.sinks.topic_sink import TopicSink

_OWN = 1_000


class Limited:
    """A producer for a topic with a limit; one in so many calls finds no broker."""

    def __init__(self, limit: int, trouble_every: int = 10**9) -> None:
        self._limit, self._every, self._calls = limit, trouble_every, 0
        self._unsent: list[ProducerRecord] = []
        self.there: list[ProducerRecord] = []

    @property
    def waiting(self) -> int:
        return len(self._unsent)

    def _call(self) -> None:
        self._calls += 1
        if self._calls % self._every == 0:
            raise RetriableKafkaError("nobody is there")

    def send(self, message: ProducerRecord) -> None:
        self._call()
        self._unsent.append(message)

    def push(self) -> None:
        """All is sent by `flush`."""

    def flush(self, seconds: float) -> None:
        self._call()
        large = [each for each in self._unsent if _bytes(each) > self._limit]
        self.there += [each for each in self._unsent if each not in large]
        self._unsent = []
        if large:
            raise MessageTooLargeError(large, "see the topic")

    def close(self) -> None:
        """There is nothing to let go of."""


def _bytes(message: ProducerRecord) -> int:
    headers = sum(len(name) + len(value or b"") for name, value in message.headers)
    return len(message.value or b"") + len(message.key or b"") + headers


def letters_of(
    producer: Limited, values: list[bytes], key: bytes = b"key", trace: bytes = b""
) -> TopicSink[Rejected]:
    letters = dead_letter_topic(producer, "letters")
    for offset, value in enumerate(values):
        message = ConsumerRecord(value, key, [("trace", trace)], 5)
        origin = Partition("ratings", 3), offset, message
        reject = Rejected("it is no event", "schema", f"ratings[3]@{offset}", value, origin)
        _until(partial(letters.put, reject))
    return letters


def _until(attempt: Callable[[], object]) -> object:
    """What somebody does who is told to come again."""
    while True:
        try:
            return attempt()
        except MessageTooLargeError:
            raise
        except RetriableKafkaError:
            continue


@pytest.mark.parametrize("trouble_every", [2, 3, 5, 10**9])
@pytest.mark.parametrize("limit", [10**7, 150_000, 50_000, _OWN])
def test_every_letter_comes_in_some_size(limit: int, trouble_every: int) -> None:
    values = [b"a" * 200, b"b" * 300_000, b"c" * 80_000, b"d" * 120_000]
    producer = Limited(limit, trouble_every)
    letters = letters_of(producer, values)
    _until(letters.flush)
    assert letters.mark() == len(values)
    found = {}
    for message in producer.there:
        origin = origin_of(message.headers)
        assert origin is not None
        assert origin["stream-rank-topic"] == "ratings"
        found[int(origin["stream-rank-offset"])] = message, origin
    assert len(producer.there) == len(found) == len(values)
    for record, value in enumerate(values):
        message, origin = found[record]
        if len(value) < limit - _OWN / 2:  # of headers there are less
            assert (message.value, message.key) == (value, b"key")
            continue
        assert origin["stream-rank-clipped"] == str(len(value))
        wanted = (value[:100_000], b"key") if limit > 100_000 else (b"", None)
        assert (message.value, message.key) == wanted


def test_large_keys_and_headers_are_left_out_at_last() -> None:
    producer = Limited(_OWN)
    letters = letters_of(producer, [b"no"], key=b"k" * 5_000, trace=b"t" * 5_000)
    letters.flush()
    assert letters.mark() == 1
    (message,) = producer.there
    assert (message.value, message.key) == (b"", None)
    assert all(name.startswith("stream-rank-") for name, _ in message.headers)


def test_a_topic_that_takes_nothing_is_told() -> None:
    letters = letters_of(Limited(10), [b"no"])
    with pytest.raises(FatalKafkaError, match="letters takes no dead letter at all"):
        letters.flush()
