"""Settings that are passed on to the clients: asked of the clients themselves, which need no broker for it."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest

from stream_rank.errors import ConfigError, RetriableKafkaError
from stream_rank.ingest.kafka.clients import check_client_settings, consumer_of, producer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import ProducerRecord, Subscription

KAFKA_PYTHON: dict[str, Any] = {
    "fetch_max_bytes": 1_234_567,  # for consumers
    "linger_ms": 77,  # for producers
    "client_id": "someone",
    "bootstrap_timeout_ms": 100,
}
CONFLUENT: dict[str, Any] = {
    "fetch.max.bytes": 1_234_567,
    "linger.ms": 77,
    "client.id": "someone",
    "enable.metrics.push": False,
}


def connection(settings: Mapping[str, Any]) -> Connection:
    return Connection(("127.0.0.1:1",), client_settings=settings)


def recording(kind: type[Any], made: list[dict[str, Any]]) -> type[Any]:
    """The client's own class, with what it was made with."""

    def __init__(self: Any, *given: Any, **named: Any) -> None:  # noqa: N807
        made.append({**(given[0] if given else {}), **named})
        kind.__init__(self, *given, **named)

    return type(kind.__name__, (kind,), {"__init__": __init__})


def test_kafka_python_gets_what_each_of_its_classes_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    from kafka import KafkaConsumer, KafkaProducer

    made: list[dict[str, Any]] = []
    place = "stream_rank.ingest.kafka.kafka_python"
    monkeypatch.setattr(f"{place}.consumer.KafkaConsumer", recording(KafkaConsumer, made))
    monkeypatch.setattr(f"{place}.producer.KafkaProducer", recording(KafkaProducer, made))
    check_client_settings("kafka-python", KAFKA_PYTHON)
    where, member = connection(KAFKA_PYTHON), Subscription(["t"], "g")
    with pytest.raises(RetriableKafkaError):
        consumer_of("kafka-python", where, member, lambda _: {}).poll(0.1)
    sender = producer_of("kafka-python", where)
    sender.send(ProducerRecord("t", b"1"))
    with pytest.raises(RetriableKafkaError):
        sender.flush(0.1)
    one, other = made
    assert (one["fetch_max_bytes"], one["client_id"]) == (1_234_567, "someone")
    assert "linger_ms" not in one
    assert (other["linger_ms"], other["client_id"]) == (77, "someone")
    assert "fetch_max_bytes" not in other


def test_confluent_gets_what_is_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    client = pytest.importorskip("confluent_kafka")
    from stream_rank.ingest.kafka.confluent import consumer, producer

    made: list[dict[str, Any]] = []

    class Client:
        """Both modules use the client's module by this name."""

        Consumer = recording(client.Consumer, made)
        Producer = recording(client.Producer, made)

    monkeypatch.setattr(consumer, "client", Client)
    monkeypatch.setattr(producer, "client", Client)
    check_client_settings("confluent", CONFLUENT)
    where, member = connection(CONFLUENT), Subscription(["t"], "g")
    reader = consumer_of("confluent", where, member, lambda _: {})
    with suppress(RetriableKafkaError):
        reader.poll(0.0)
    reader.close(5)
    producer_of("confluent", where).close()
    one, other = made
    assert (one["fetch.max.bytes"], one["client.id"]) == (1_234_567, "someone")
    assert "linger.ms" not in one
    assert (other["linger.ms"], other["client.id"]) == (77, "someone")
    assert "fetch.max.bytes" not in other


@pytest.mark.parametrize(
    ("client", "settings", "said"),
    [
        ("kafka-python", {"fetch_max_byte": 1}, "did you mean 'fetch_max_bytes'"),
        ("kafka-python", {"fetch.max.bytes": 1}, "did you mean 'fetch_max_bytes'"),
        ("kafka-python", {"fetch_max_bytes": "1"}, "is a whole number, not '1'"),
        ("kafka-python", {"fetch_max_bytes": True}, "is a whole number, not True"),
        ("kafka-python", {"check_crcs": 1}, "is true or false, not 1"),
        ("kafka-python", {"group_id": "g"}, "use `group_id`"),
        ("kafka-python", {"bootstrap_servers": "a:1"}, "use `bootstrap_servers`"),
        ("kafka-python", {"sasl_plain_password": "x"}, "use `sasl_password`"),
        ("kafka-python", {"auto_offset_reset": "latest"}, "use `start` and `on_lost_offsets`"),
        ("kafka-python", {"enable_auto_commit": True}, "the position is in the snapshot"),
        ("kafka-python", {"isolation_level": "read_uncommitted"}, "aborted"),
        ("kafka-python", {"value_deserializer": "x"}, "a Python object"),
        ("kafka-python", {"kafka_client": "x"}, "a Python object"),
        ("confluent", {"fetch.max.byte": 1}, "did you mean 'fetch.max.bytes'"),
        ("confluent", {"fetch_max_bytes": 1}, "did you mean 'fetch.max.bytes'"),
        ("confluent", {"fetch.max.bytes": "much"}, "Invalid value"),
        ("confluent", {"fetch.max.bytes": -5}, "outside allowed range"),
        ("confluent", {"group.id": "g"}, "use `group_id`"),
        ("confluent", {"metadata.broker.list": "a:1"}, "use `bootstrap_servers`"),
        ("confluent", {"session.timeout.ms": 1}, "use `session_timeout_seconds`"),
        ("confluent", {"auto.offset.reset": "latest"}, "use `start` and `on_lost_offsets`"),
        ("confluent", {"enable.auto.commit": True}, "the position is in the snapshot"),
        ("confluent", {"acks": 0}, "replicas"),
        ("confluent", {"error_cb": "x"}, "a Python object"),
    ],
)
def test_what_is_not_to_be_passed_on(client: str, settings: dict[str, Any], said: str) -> None:
    if client == "confluent":
        pytest.importorskip("confluent_kafka")
    with pytest.raises(ConfigError, match=said) as raised:
        check_client_settings(client, settings)
    assert "\n" not in str(raised.value)


def test_what_does_not_go_with_the_rest_is_told_when_the_client_is_made() -> None:
    pytest.importorskip("confluent_kafka")
    member = Subscription(["t"], "g")
    for client, settings in (
        ("kafka-python", {"fetch_max_wait_ms": 100_000}),
        ("confluent", {"fetch.max.bytes": 2_000_000_000}),
    ):
        check_client_settings(client, settings)
        reader = consumer_of(client, connection(settings), member, lambda _: {})
        with pytest.raises(ConfigError, match="`kafka`: "):
            reader.poll(0.0)


def test_every_name_that_is_listed_is_one_of_librdkafka() -> None:
    """Versions differ: what this one does not know is not asked for, but nothing it has may be for the other kind."""
    pytest.importorskip("confluent_kafka")
    from stream_rank.ingest.kafka.confluent.option_names import ANY, CONSUMER, PRODUCER

    assert not ANY & CONSUMER | ANY & PRODUCER | CONSUMER & PRODUCER
    for names, some in ((CONSUMER, "fetch.max.bytes"), (PRODUCER, "linger.ms"), (ANY, "debug")):
        assert some in names
