"""Daemons that are killed, starved, fed garbage, and given a full disk; each fires the alert that is meant for it.

`make soak` waits as long as the rules say; CI has a Prometheus whose time runs ten times as fast.
"""

import os
import re
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulators.broker import free_ports
from simulators.prometheus import NoPrometheusError, Prometheus
from stream_rank.ingest.kafka.clients import producer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import ProducerRecord
from tests.daemon.conftest import Broker, Daemon, Topic, kafka, wait_for
from tests.dashboards.test_dashboards import RULES
from tests.disks import small_disk

__all__ = ["kafka"]

_FASTER = 1 if os.environ.get("SOAK") else 10
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_MEANT = {
    "killed": "StreamRankDown",
    "starved": "StreamRankStarved",
    "garbage": "StreamRankRejects",
    "full": "StreamRankSnapshotsFail",
}
_RATING = b'{"x": {"a": 1.5, "b": -0.5}, "y": %d}'


def shorter(duration: str, faster: int = _FASTER) -> str:
    """A duration of the rules, in the time that runs faster."""
    whole = sum(int(n) * _SECONDS[unit] for n, unit in re.findall(r"(\d+)([smhdw])", duration))
    return f"{max(1, round(whole / faster))}s"


def rules_in_our_time(faster: int = _FASTER) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(RULES.read_text())
    for group in content["groups"]:
        group["interval"] = shorter(group["interval"], faster)
        for rule in group["rules"]:
            rule["expr"] = re.sub(
                r"\[(\w+)\]", lambda m: f"[{shorter(m[1], faster)}]", rule["expr"]
            )
            if "for" in rule:
                rule["for"] = shorter(rule["for"], faster)
    return content


def prometheus_for(folder: Path, daemons: dict[str, Daemon], faster: int = _FASTER) -> Prometheus:
    """One that scrapes these daemons, each under its name."""
    (folder / "rules.yml").write_text(yaml.safe_dump(rules_in_our_time(faster)))
    targets = [
        {"targets": [daemon.url.removeprefix("http://")], "labels": {"instance": name}}
        for name, daemon in daemons.items()
    ]
    config = {
        "global": {"scrape_interval": shorter("5s", faster)},
        "rule_files": ["rules.yml"],
        "scrape_configs": [{"job_name": "stream-rank", "static_configs": targets}],
    }
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    try:
        return Prometheus(folder, folder / "prometheus.yml", free_ports(1)[0])
    except NoPrometheusError as missing:
        pytest.skip(str(missing))


class Feeder(threading.Thread):
    """Some twenty ratings a second to every topic, and garbage where it is wanted, until it is stopped."""

    def __init__(self, topics: dict[str, Topic]) -> None:
        super().__init__()
        self._topics, self._stopping = dict(topics), threading.Event()
        self._address = next(iter(topics.values())).address
        self.garbage: set[str] = set()

    def starve(self, name: str) -> None:
        del self._topics[name]

    def run(self) -> None:
        producer = producer_of("confluent", Connection((self._address,)))
        number = 0
        while not self._stopping.wait(0.05):
            number += 1
            for name, topic in list(self._topics.items()):
                bad = name in self.garbage and number % 2
                value = b"rubbish" if bad else _RATING % (number % 5 + 1)
                producer.send(ProducerRecord(topic.name, value, partition=0))
            producer.flush(60)
        producer.close()

    def __enter__(self) -> "Feeder":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self.join()


@pytest.mark.long(85)
def test_each_accident_fires_its_alert(kafka: Broker, tmp_path: Path) -> None:
    names = ["well", *_MEANT]
    topics = {name: Topic(kafka) for name in names}
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(tmp_path / "disk", "700k"))
        feeder = stack.enter_context(Feeder(topics))
        daemons = {}
        for name, topic in topics.items():  # one after the other: the first compiles for all
            daemons[name] = stack.enter_context(
                Daemon(
                    tmp_path / name,
                    [topic.name],
                    topic.address,
                    snapshots=str(disk) if name == "full" else None,
                    snapshot_seconds=1,
                    snapshots_kept=1,
                )
            )
            daemons[name].until(lambda status: status["learned"] > 20 and status["snapshot"])
        prometheus = stack.enter_context(prometheus_for(tmp_path, daemons))
        asked = "count(instance:stream_rank_records:rate5m > 0) == 5"
        wait_for(lambda: prometheus.query(asked), 600 / _FASTER + 20)
        time.sleep(60 / _FASTER)
        # a busy machine may bring somebody behind for a moment of the fast time; what is wrong for good fires on
        wait_for(lambda: not prometheus.firing(), otherwise=lambda: f"{prometheus.firing()} fire")

        daemons["killed"].process.kill()
        feeder.starve("starved")
        feeder.garbage.add("garbage")
        wait_for(lambda: _filled(disk) and daemons["full"].said("no snapshot could be written"))
        meant = {(alert, name) for name, alert in _MEANT.items()}
        wait_for(
            lambda: meant == prometheus.firing() - {("StreamRankSnapshotOld", "full")},
            1200 / _FASTER + 60,
            lambda: f"{prometheus.firing()} fire, not {meant}",
        )


def _filled(disk: Path) -> bool:
    found = os.statvfs(disk)
    with suppress(OSError), (disk / "ballast").open("ab") as ballast:  # a snapshot may come between
        ballast.write(bytes(found.f_bavail * found.f_frsize))
    return True
