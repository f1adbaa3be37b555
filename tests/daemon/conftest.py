"""Daemons on the real broker, run as people run them."""

import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

import pytest

from stream_rank.ingest.kafka.clients import producer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import ProducerRecord
from tests.cli.conftest import command
from tests.ingest.kafka.conftest import Broker, create, fresh_name, kafka, wait_for
from tests.witness import Witness

__all__ = ["Broker", "Daemon", "Topic", "kafka", "wait_for"]


_START_SECONDS = 180.0
"""For a daemon that compiles, on a machine that has other things to do too."""


class Topic:
    """A topic of one's own on a broker."""

    def __init__(
        self, kafka: Broker, partitions: int = 1, replicas: int = 1, **settings: Any
    ) -> None:
        self.address, self.name, self.partitions = kafka.address, fresh_name("ratings"), partitions
        create(self.address, self.name, partitions, replicas, **settings)

    def send(self, messages: Iterable[ProducerRecord | bytes]) -> None:
        producer = producer_of("confluent", Connection(tuple(self.address.split(","))))
        for each in messages:
            producer.send(
                each
                if isinstance(each, ProducerRecord)
                else ProducerRecord(self.name, each, partition=0)
            )
        producer.flush(60)
        producer.close()

    def ends(self) -> list[int]:
        from confluent_kafka import Consumer, KafkaException, TopicPartition

        reader = Consumer({"bootstrap.servers": self.address, "group.id": "ends"})

        def end_of(number: int) -> tuple[int] | None:
            with suppress(KafkaException):  # a broker that is there again may not lead yet
                partition = TopicPartition(self.name, number)
                return (int(reader.get_watermark_offsets(partition, timeout=10)[1]),)
            return None

        found = [wait_for(partial(end_of, number))[0] for number in range(self.partitions)]
        reader.close()
        return found


class Daemon:
    """A daemon in a process of its own; `log` is what it says."""

    def __init__(
        self,
        folder: Path,
        topics: list[str],
        brokers: str,
        flags: list[Any] | None = None,
        variables: dict[str, str] | None = None,
        **settings: Any,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.out, self._log = folder / "out", folder / f"log-{time.monotonic_ns()}.txt"
        config = folder / "stream-rank.toml"
        given: dict[str, Any] = {
            "topics": topics,
            "bootstrap_servers": brokers.split(","),
            "out": str(self.out),
            "group_id": f"group-{topics[0]}",
            "learners": ["prank"],
            "n_ranks": 5,
            "port": 0,
            "session_timeout_seconds": 6,
            "log": "json",
            "log_seconds": 1,
            **settings,
        }
        config.write_text(
            "".join(
                f"{name} = {json.dumps(value)}\n"
                for name, value in given.items()
                if value is not None
            )
        )
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                command("run", "--config", config, *(flags or [])),
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(variables or {})},
            )
        self._witness = Witness(self._log, self.process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            if kind is not None:
                self._witness.look()  # before it is gone: the test has failed
            self.process.kill()
            self.process.wait()

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.splitlines() if line.startswith("{")]

    def said(self, words: str) -> bool:
        return words in self.log

    @cached_property
    def url(self) -> str:
        found = wait_for(
            lambda: re.search(r'"http": "([^"]+)"', self.log) or self.process.poll() is not None,
            _START_SECONDS,
        )
        assert not isinstance(found, bool), self.log
        return str(found[1])

    def get(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError as error:  # it is about to end
            return 0, str(error)

    def status(self) -> dict[str, Any]:
        code, text = self.get("/status")
        if code != 200:
            return {}
        self._witness.status = text
        found: dict[str, Any] = json.loads(text)
        return found

    def until(
        self, condition: Callable[[dict[str, Any]], Any], seconds: float = 90.0
    ) -> dict[str, Any]:
        """The status once it is as wanted."""
        last: dict[str, Any] = {}

        def found() -> dict[str, Any]:
            nonlocal last
            assert self.process.poll() is None, self.log
            last = self.status()
            return last if last and condition(last) else {}

        good: dict[str, Any] = wait_for(found, seconds, lambda: f"the last status was {last}")
        return good

    def learned(self, count: int, seconds: float = 90.0) -> dict[str, Any]:
        # of one that is about to lead, the status is that of standing by
        return self.until(lambda status: status.get("learned", -1) >= count, seconds)

    def end(self, number: int = signal.SIGTERM, seconds: float = 40.0) -> int:
        """Let it stop; the exit code."""
        self.process.send_signal(number)
        return self.process.wait(seconds)


@pytest.fixture
def topic(kafka: Broker) -> Topic:
    return Topic(kafka)
