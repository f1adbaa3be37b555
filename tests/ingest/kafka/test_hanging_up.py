"""Brokers behind TLS that hang up: one that is stopping, or a proxy that has none behind it. It passes."""

import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from stream_rank.errors import RetriableKafkaError
from stream_rank.ingest.kafka.clients import consumer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.kafka_python import client_settings as connecting
from stream_rank.ingest.kafka.port import Subscription
from tests.daemon.certificates import make_certificates
from tests.ingest.kafka.conftest import from_the_beginning

_AT_ONCE = struct.pack("ii", 1, 0)
"""Lingering for no time: the connection is reset."""


@contextmanager
def hanging_up(certificate: Path, after_greeting: bool, reset: bool) -> Iterator[str]:
    """The address of somebody who takes every connection, and drops it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def drop(taken: socket.socket) -> None:
        with suppress(OSError):
            if after_greeting:
                taken = context.wrap_socket(taken, server_side=True)
            if reset:
                taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        taken.close()

    def take() -> None:
        with suppress(OSError):
            while True:
                drop(server.accept()[0])

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=take)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # kafka-python's sockets close themselves
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
@pytest.mark.parametrize("after_greeting", [False, True], ids=["at once", "after the greeting"])
@pytest.mark.parametrize("reset", [False, True], ids=["orderly", "reset"])
def test_hanging_up_is_trouble_that_passes(
    client: str, after_greeting: bool, reset: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connecting, "PATIENCE_MS", 500)
    authority, certificate = make_certificates(tmp_path)
    with hanging_up(certificate, after_greeting, reset) as address:
        where = Connection((address,), security_protocol="SSL", ssl_ca_location=authority)
        consumer = consumer_of(
            client, where, Subscription(["ratings"], "group"), from_the_beginning
        )
        troubles, until = 0, time.monotonic() + 30
        while troubles < 2 and time.monotonic() < until:
            try:
                consumer.poll(0.2)
            except RetriableKafkaError:
                troubles += 1
        consumer.close(5)
    assert troubles == 2
