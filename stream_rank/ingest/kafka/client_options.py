"""Settings of Kafka's clients that are passed on unchanged: which of them are not for a user to set, and why."""

from collections.abc import Mapping
from typing import Any

from stream_rank.errors import ConfigError

__all__ = ["GUARANTEES", "refuse_reserved"]

GUARANTEES = {
    "enable.auto.commit": "the position is in the snapshot, and is committed after it",
    "auto.commit.enable": "the position is in the snapshot, and is committed after it",
    "auto.commit.interval.ms": "the position is in the snapshot, and is committed after it",
    "isolation.level": "messages of transactions that were aborted must not be learned",
    "allow.auto.create.topics": "a mistyped topic must not be made",
    "transactional.id": "messages are sent without transactions",
    "enable.idempotence": "messages must be sent once, and in their order",
    "acks": "a message is sent when all replicas that are in step have it",
    "retries": "messages are sent until they are taken; whoever waits for it sets the time",
    "delivery.timeout.ms": "messages are sent until they are taken; whoever waits for it sets the time",
}
"""What stream-rank relies on whoever the client is; names with dots, as Kafka's documentation has them."""


def refuse_reserved(
    client: str, given: Mapping[str, Any], own: Mapping[str, str], fixed: Mapping[str, str]
) -> None:
    """A `ConfigError` for a setting that stream-rank has under a name of its `own`, or that must stay as it is (`fixed`)."""
    for name in given:
        if name in own:
            raise ConfigError(f"{name!r} of {client} cannot be passed on: use {own[name]}")
        if name in fixed:
            raise ConfigError(f"{name!r} of {client} cannot be changed: {fixed[name]}")
