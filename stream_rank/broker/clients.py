"""Clients by their names."""

from collections.abc import Iterator
from contextlib import contextmanager

from stream_rank.broker.connection import Connection
from stream_rank.broker.port import Consumer, Member, Place, Producer
from stream_rank.errors import ConfigError

__all__ = ["consumer_of", "producer_of"]


@contextmanager
def _there() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise ConfigError(
            f"client confluent needs confluent-kafka: pip install 'stream-rank[fast]' ({error})"
        ) from None


def consumer_of(client: str, connection: Connection, member: Member, place: Place) -> Consumer:
    """A consumer by the client of that name."""
    if client == "confluent":
        with _there():
            from stream_rank.broker.confluent.consumer import ConfluentConsumer
        return ConfluentConsumer(connection, member, place)
    if member.protocol != "classic":
        raise ConfigError(f"group_protocol {member.protocol} needs client = confluent")
    from stream_rank.broker.kafka_python.consumer import KafkaPythonConsumer

    return KafkaPythonConsumer(connection, member, place)


def producer_of(client: str, connection: Connection) -> Producer:
    """A producer by the client of that name."""
    if client == "confluent":
        with _there():
            from stream_rank.broker.confluent.producer import ConfluentProducer
        return ConfluentProducer(connection)
    from stream_rank.broker.kafka_python.producer import KafkaPythonProducer

    return KafkaPythonProducer(connection)
