"""The ids of topics and the numbers of their partitions, asked for by kafka-python in a way that makes no topic."""

from collections.abc import Iterable
from typing import Any

from kafka.protocol.metadata import MetadataRequest

from stream_rank.ingest.kafka.kafka_python.client_settings import PATIENCE_MS
from stream_rank.ingest.kafka.port import topic_id

__all__ = ["partition_counts", "topic_ids"]


def topic_ids(manager: Any, topics: Iterable[str]) -> dict[str, str]:
    """The ids now, as far as brokers have them; `manager` is that of a client's connections."""
    told = {each.name: each.topic_id for each in _described(manager, topics)}
    found = {name: topic_id(given.bytes) for name, given in told.items() if given is not None}
    return {name: given for name, given in found.items() if given is not None}


def partition_counts(manager: Any, topics: Iterable[str]) -> dict[str, int]:
    """How many partitions topics have now."""
    return {each.name: len(each.partitions) for each in _described(manager, topics)}


def _described(manager: Any, topics: Iterable[str]) -> list[Any]:
    """What a broker says of the topics that are there."""
    request = MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=topic) for topic in topics],
        allow_auto_topic_creation=False,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )

    async def asked() -> Any:
        return await manager.send(request, request_timeout_ms=PATIENCE_MS)

    return [each for each in manager.run(asked).topics if not each.error_code]
