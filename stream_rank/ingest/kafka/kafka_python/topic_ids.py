"""The ids of topics, asked for by kafka-python in a way that makes no topic."""

from collections.abc import Iterable
from typing import Any

from kafka.protocol.metadata import MetadataRequest

from stream_rank.ingest.kafka.kafka_python.client_settings import PATIENCE_MS
from stream_rank.ingest.kafka.port import topic_id

__all__ = ["topic_ids"]


def topic_ids(manager: Any, topics: Iterable[str]) -> dict[str, str]:
    """The ids now, as far as brokers have them; `manager` is that of a client's connections."""
    request = MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=topic) for topic in topics],
        allow_auto_topic_creation=False,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )

    async def asked() -> Any:
        return await manager.send(request, request_timeout_ms=PATIENCE_MS)

    told = {each.name: each.topic_id for each in manager.run(asked).topics if not each.error_code}
    found = {name: topic_id(given.bytes) for name, given in told.items() if given is not None}
    return {name: given for name, given in found.items() if given is not None}
