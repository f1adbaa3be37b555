"""Values that need a schema wait for it, and are never rejected because it is away."""

from typing import Any

from stream_rank.errors import RetriableRegistryError
from stream_rank.ingest.backoff import Backoff
from stream_rank.ingest.chunk import Records
from stream_rank.ingest.kafka.memory_broker import MemoryBroker, MemoryConsumer
from stream_rank.ingest.kafka.port import ProducerRecord
from stream_rank.ingest.kafka.topic_source import TopicSource


class Registry:
    """One that comes when it was asked so many times."""

    def __init__(self, away: int) -> None:
        self.away, self.prepared = away, list[bytes]()

    def prepare(self, values: Any) -> None:
        self.away -= 1
        if self.away >= 0:
            raise RetriableRegistryError("nobody there")
        self.prepared += values

    def json(self, value: bytes) -> bytes:
        assert value in self.prepared
        return value * 2


def test_a_chunk_waits_for_what_it_needs() -> None:
    broker = MemoryBroker()
    broker.create("t", 1)
    sent: list[bytes | None] = [b"%d" % i for i in range(200)]
    sent[3] = None
    for value in sent:
        broker.append(ProducerRecord("t", value, None, [("a", value)], 0))
    said: list[str] = []
    backoff, registry = Backoff("schema registry", said.append), Registry(3)
    source = TopicSource(
        ["t"], lambda place: MemoryConsumer(broker, None, ["t"], place), Backoff("Kafka", said.append),
        values=registry, values_backoff=backoff,
    )  # fmt: skip
    found: list[Records] = []
    nothing = 0
    for chunk in source.chunks(None):
        if chunk is not None:
            found.append(chunk)
        elif backoff.active:
            nothing += 1
        if sum(map(len, found)) == 200:
            break
    assert nothing >= 3
    assert backoff.failures == 3
    assert said[0] == "schema registry: nobody there"
    assert said[1].startswith("schema registry: recovered after")
    values = [
        chunk.json_of(i)
        for chunk in found
        for i in range(len(chunk))
        if chunk.json_of is not None and chunk.raw(i)
    ]
    assert values == [value * 2 for value in sent if value is not None]
    first = next(chunk for chunk in found if len(chunk))
    assert first.headers_of is not None
    assert [*first.headers_of(1)] == [("a", b"1")]
