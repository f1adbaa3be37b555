"""What kafka-python gets wrong now and then, made to happen."""

import gc
import logging
import os
import socket
import ssl
import threading
import time
from typing import Any

import pytest
from kafka import errors
from kafka.admin import NewPartitions
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.net.transport import KafkaTCPTransport

from simulators.broker import free_ports
from stream_rank.errors import FatalKafkaError, RetriableKafkaError
from stream_rank.ingest.kafka.clients import consumer_of, producer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.kafka_python import client_settings as connecting
from stream_rank.ingest.kafka.kafka_python import consumer as consuming
from stream_rank.ingest.kafka.kafka_python.startup import opened
from stream_rank.ingest.kafka.port import ProducerRecord, Subscription
from tests.ingest.kafka.conftest import (
    Broker,
    admin,
    create,
    fresh_name,
    from_the_beginning,
    polled,
)


class Net:
    """An event loop that does nothing by itself."""

    def __init__(self) -> None:
        self.later: list[Any] = []

    def call_later(self, _: float, work: Any) -> None:
        self.later.append(work)

    def unregister_event(self, *_: Any) -> None:
        """It waits for none."""


def test_what_is_said_before_hanging_up_is_heard() -> None:
    ours, broker = socket.socketpair()
    ours.setblocking(False)
    net = Net()
    transport = KafkaTCPTransport(net, ours)
    assert transport._sock_recv() == (b"", None)
    broker.sendall(b"who are you?")
    broker.close()
    assert transport._sock_recv() == (b"who are you?", None)
    data, error = transport._sock_recv()
    assert data == b""
    assert "disconnected" in str(error)
    assert not transport.is_closing()
    for work in net.later:
        work()
    assert transport.is_closing()


def _left_behind() -> tuple[int, int]:
    """Threads of clients, and open files."""
    gc.collect()
    threads = [each for each in threading.enumerate() if each.name.startswith("kafka-io")]
    return len(threads), len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="open files are counted in /proc")
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets that were refused close themselves
def test_nothing_is_left_of_tries_while_there_is_no_broker(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, logger="kafka")  # pytest keeps errors, which keep sockets
    monkeypatch.setattr(connecting, "PATIENCE_MS", 100)
    where = Connection((f"127.0.0.1:{free_ports(1)[0]}",))
    consumer = consumer_of(
        "kafka-python", where, Subscription(["ratings"], "group"), from_the_beginning
    )
    producer = producer_of("kafka-python", where)
    producer.send(ProducerRecord("ratings", b"{}"))

    def try_in_vain() -> None:
        for each in (lambda: consumer.poll(0.1), lambda: producer.flush(0.1)):
            try:
                each()
            except RetriableKafkaError:  # pytest.raises would keep it, and all that it has seen
                continue
            raise AssertionError("there is no broker")

    try_in_vain()
    before = _left_behind()
    for _ in range(5):
        try_in_vain()
    assert _left_behind() == before


@pytest.mark.parametrize(
    ("logged", "said"),
    [
        (errors.SaslAuthenticationFailedError("who?"), "refuses"),
        (errors.KafkaConnectionError(ssl.SSLCertVerificationError("unknown")), "is not trusted"),
        (ssl.SSLError("certificate required"), "no TLS"),
        (ssl.SSLEOFError("it hung up"), None),
        (errors.KafkaConnectionError("socket disconnected"), None),
    ],
)
def test_what_lasts_is_told_from_what_passes(logged: Exception, said: str | None) -> None:
    def nobody(**_: Any) -> None:
        logging.getLogger("kafka.net.transport").error("%s: %s", "a connection", logged)
        raise errors.KafkaTimeoutError("no broker")

    where = Connection(("b:9092",))
    if said is None:
        with pytest.raises(errors.KafkaTimeoutError):
            opened(nobody, where)
    else:
        with pytest.raises(FatalKafkaError, match=said):
            opened(nobody, where)


def test_a_leader_that_gave_nobody_a_partition_joins_again(
    kafka: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does when the list of partitions is on its way at that moment; it would wait for ever."""
    right, given_out = RangePartitionAssignor.assign, []

    class Nothing:
        def partitions_for_topic(self, topic: str) -> None:
            """What is known of a topic that is being asked for."""

    def assign(_: Any, cluster: Any, members: Any) -> Any:
        given_out.append(time.monotonic())
        return right(cluster if len(given_out) > 1 else Nothing(), members)

    monkeypatch.setattr(RangePartitionAssignor, "assign", assign)
    monkeypatch.setattr(consuming, "_JOIN", 1.0)
    monkeypatch.setattr(consuming, "_LOOK", 0.5)
    topic = fresh_name("ratings")
    create(kafka.address, topic)
    where = Connection((kafka.address,))
    consumer = consumer_of(
        "kafka-python", where, Subscription([topic], fresh_name("group")), from_the_beginning
    )
    until = time.monotonic() + 30
    while not consumer.assignment and time.monotonic() < until:
        consumer.poll(0.1)
    assert consumer.assignment
    assert len(given_out) >= 2
    consumer.close(5)


def test_a_leader_joins_to_the_end_where_partitions_were_added(
    kafka: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though a poll ends between the answers to its two requests; it would stay without partitions for ever."""
    monkeypatch.setattr(connecting, "_METADATA_MS", 500)
    topic = fresh_name("ratings")
    create(kafka.address, topic)
    where = Connection((kafka.address,))
    consumer: Any = consumer_of(
        "kafka-python", where, Subscription([topic], fresh_name("group"), 6.0), from_the_beginning
    )

    def until_it_has(partitions: int) -> None:
        until = time.monotonic() + 20
        while len(consumer.assignment) < partitions and time.monotonic() < until:
            polled(consumer)
        assert len(consumer.assignment) == partitions

    until_it_has(1)
    manager = consumer._client._coordinator._manager
    at_once = manager.send

    async def later(*request: Any, **more: Any) -> Any:
        await manager._net.sleep(0.5)
        return await at_once(*request, **more)

    def send(request: Any, *rest: Any, **more: Any) -> Any:
        slow = type(request).__name__ == "SyncGroupRequest"
        return (later if slow else at_once)(request, *rest, **more)

    monkeypatch.setattr(manager, "send", send)
    boss = admin(kafka.address)
    boss.create_partitions({topic: NewPartitions(2)})
    boss.close()
    until_it_has(2)
    consumer.close(5)
