"""Settings of Kafka's clients that users cannot pass through, with the reasons."""

from collections.abc import Mapping
from typing import Any

from stream_rank.errors import ConfigError

__all__ = ["GUARANTEES", "refuse_reserved"]

GUARANTEES = {
    "enable.auto.commit": "the position is in the snapshot, and is committed after it",
    "auto.commit.enable": "the position is in the snapshot, and is committed after it",
    "auto.commit.interval.ms": "the position is in the snapshot, and is committed after it",
    "isolation.level": "messages of aborted transactions must not be learned",
    "allow.auto.create.topics": "a mistyped topic must not be created",
    "transactional.id": "messages are sent without transactions",
    "enable.idempotence": "messages must be sent once, and in their order",
    "acks": "a message counts as sent once all in-sync replicas have it",
    "retries": "messages are retried until they are acknowledged; each flush sets its own time limit",
    "delivery.timeout.ms": "messages are retried until they are acknowledged; each flush sets its own time limit",
}
"""Settings that stream-rank relies on with either client; names with dots, as in Kafka's documentation."""


def refuse_reserved(
    client: str, given: Mapping[str, Any], own: Mapping[str, str], fixed: Mapping[str, str]
) -> None:
    """Raise `ConfigError` for a setting that has its own name in stream-rank (`own`), or that must not change (`fixed`)."""
    for name in given:
        if name in own:
            raise ConfigError(f"{name!r} of {client} cannot be passed on: use {own[name]}")
        if name in fixed:
            raise ConfigError(f"{name!r} of {client} cannot be changed: {fixed[name]}")
