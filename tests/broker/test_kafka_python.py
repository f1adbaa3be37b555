"""What kafka-python gets wrong now and then, made to happen."""

import socket
import time
from typing import Any

import pytest
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.net.transport import KafkaTCPTransport

from simulators.broker import Kafka
from stream_rank.broker.clients import consumer_of
from stream_rank.broker.connection import Connection
from stream_rank.broker.kafka_python import consumer as kafka_python
from tests.broker.conftest import create, fresh_name, from_the_beginning


def test_what_is_said_before_hanging_up_is_heard() -> None:
    ours, broker = socket.socketpair()
    ours.setblocking(False)
    transport = KafkaTCPTransport(None, ours)
    assert transport._sock_recv() == (b"", None)
    broker.sendall(b"who are you?")
    broker.close()
    assert transport._sock_recv() == (b"who are you?", None)
    data, error = transport._sock_recv()
    assert data == b""
    assert "disconnected" in str(error)
    ours.close()


def test_a_leader_that_gave_nobody_a_partition_joins_again(
    kafka: Kafka, monkeypatch: pytest.MonkeyPatch
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
    monkeypatch.setattr(kafka_python, "_JOIN", 1.0)
    monkeypatch.setattr(kafka_python, "_LOOK", 0.5)
    topic = fresh_name("ratings")
    create(kafka.address, topic)
    where = Connection((kafka.address,))
    consumer = consumer_of("kafka-python", where, fresh_name("group"), [topic], from_the_beginning)
    until = time.monotonic() + 30
    while not consumer.assignment and time.monotonic() < until:
        consumer.poll(0.1)
    consumer.close(5)
    assert len(given_out) == 2
