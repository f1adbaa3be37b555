"""Consumers and producers by the name of the client library."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from stream_rank.errors import ConfigError
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import (
    Consumer,
    Producer,
    ResolveOffsets,
    Subscription,
    Transactions,
)

__all__ = ["check_client_settings", "consumer_of", "producer_of", "transactions_of"]


@contextmanager
def _confluent_installed() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise ConfigError(
            f"`client` confluent needs confluent-kafka: pip install 'stream-rank[fast]' ({error})"
        ) from None


def check_client_settings(client: str, given: Mapping[str, Any]) -> None:
    """Raise `ConfigError` for settings that this client does not know, or that stream-rank relies on."""
    if client == "confluent":
        with _confluent_installed():
            from stream_rank.ingest.kafka.confluent.options import check
    else:
        from stream_rank.ingest.kafka.kafka_python.options import check
    check(given)


def consumer_of(
    client: str, connection: Connection, subscription: Subscription, resolve_offsets: ResolveOffsets
) -> Consumer:
    """A consumer of this client library."""
    if client == "confluent":
        with _confluent_installed():
            from stream_rank.ingest.kafka.confluent.consumer import ConfluentConsumer
        return ConfluentConsumer(connection, subscription, resolve_offsets)
    if subscription.protocol != "classic":
        raise ConfigError(f"`group_protocol` {subscription.protocol} needs `client` confluent")
    from stream_rank.ingest.kafka.kafka_python.consumer import KafkaPythonConsumer

    return KafkaPythonConsumer(connection, subscription, resolve_offsets)


def producer_of(client: str, connection: Connection) -> Producer:
    """A producer of this client library."""
    if client == "confluent":
        with _confluent_installed():
            from stream_rank.ingest.kafka.confluent.producer import ConfluentProducer
        return ConfluentProducer(connection)
    from stream_rank.ingest.kafka.kafka_python.producer import KafkaPythonProducer

    return KafkaPythonProducer(connection)


def transactions_of(client: str, connection: Connection, transactional_id: str) -> Transactions:
    """Transactions of this client library, under an id that is the same in all processes that are one another's successors."""
    if client == "confluent":
        with _confluent_installed():
            from stream_rank.ingest.kafka.confluent.transactions import ConfluentTransactions
        return ConfluentTransactions(connection, transactional_id)
    from stream_rank.ingest.kafka.kafka_python.transactions import KafkaPythonTransactions

    return KafkaPythonTransactions(connection, transactional_id)
