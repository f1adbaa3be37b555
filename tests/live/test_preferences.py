"""Daemons of preferences, of both, of ranks and of scores alone, with one learner and with three: no panel is empty without a word, and
the alert is for who turns around.

Prometheus's time runs sixty times as fast as in the rules.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import pytest

from simulators.drifting import drifting
from simulators.prometheus import Prometheus
from simulators.tiles import said_by
from stream_rank.ingest.kafka.clients import producer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import ProducerRecord
from tests.daemon.conftest import Broker, Daemon, Topic, kafka, wait_for
from tests.dashboards.expressions import targets, with_values
from tests.dashboards.test_dashboards import BOARDS
from tests.live.test_alerts import prometheus_for

__all__ = ["kafka"]

pytestmark = pytest.mark.long(75)

_FASTER = 60
_SHARES = {"preferences": 1.0, "both": 0.5, "ranks": 0.0, "scores": 0.0}
"""Of the events of each daemon, those that are preferences."""
_LEARNERS = {
    "preferences": ["averaged-prank", "oap-bpm:n_members=10", "online-mprank"],
    "both": ["averaged-prank", "oap-bpm:n_members=10", "online-mprank", "ordinal-logit"],
    "ranks": ["averaged-prank"],
    "scores": ["online-mprank"],
}
"""The champion forgets nothing: where the stream turns around it stays wrong for longer than the alert takes."""
_BEFORE = 8_000
"""Events that are learned before Prometheus comes: there is no drift to be found in fewer, and the rule is good by then."""
_SETS = ("Labels within their prediction sets", "Ranks in a prediction set")
"""Of learners that give probabilities of ranks, of which one daemon has one."""
_USERS = ("Rank loss of users", "What users liked next")
"""Of learners of users, of which no daemon has one."""
_ALL = "|".join(_SHARES)
"""All at once: what one of them has is shown."""
_WORDS_ALONE = {
    (_ALL, "stream-rank-learning"): {*_USERS},
    ("preferences", "stream-rank-learning"): {
        *("Recent rank loss", "Recent magnitude loss", "What the champion takes for what"),
        *("Thresholds of the champion", "Members that disagree", "Margin"),
        *(*_SETS, *_USERS),
    },
    ("both", "stream-rank-learning"): {*_USERS},
    ("preferences", "stream-rank-fleet"): {"Recent rank loss", "Recent magnitude loss"},
    ("both", "stream-rank-fleet"): {"Recent magnitude loss"},
    ("ranks", "stream-rank-fleet"): {"Recent magnitude loss", "Recent preference error"},
    ("scores", "stream-rank-fleet"): {"Recent rank loss", "Recent preference error"},
    ("ranks", "stream-rank-learning"): {
        *("Recent magnitude loss", "Recent preference error", "Log-loss of preferences"),
        *("Brier score of preferences", "Against challengers", "Members that disagree"),
        *(*_SETS, *_USERS),
    },
    ("scores", "stream-rank-learning"): {
        *("Recent rank loss", "Recent preference error", "Log-loss of preferences"),
        *("Brier score of preferences", "Against challengers", "Members that disagree"),
        *("What the champion takes for what", "Thresholds of the champion", "Margin"),
        *("Mistakes of members an event", *_SETS, *_USERS),
    },
}
"""The panels that have nothing to show, by daemon and dashboard: those of what it does not learn, and of challengers that it does not have."""


class Feeder(threading.Thread):
    """Many events to every topic at once, and then some sixty a second until it is stopped; a stream may be turned around."""

    def __init__(self, topics: dict[str, Topic]) -> None:
        super().__init__()
        self._topics, self._stopping = topics, threading.Event()
        self.turned: set[str] = set()
        self._streams = {name: self._stream(name) for name in topics}
        for name, topic in topics.items():
            topic.send(islice(self._streams[name], _BEFORE))

    def _stream(self, name: str) -> Iterator[bytes]:
        return drifting(1, lambda: name in self.turned, 10**9, _SHARES[name])

    def run(self) -> None:
        address = next(iter(self._topics.values())).address
        producer = producer_of("confluent", Connection((address,)))
        while not self._stopping.wait(0.05):
            for name, topic in self._topics.items():
                for value in islice(self._streams[name], 3):
                    producer.send(ProducerRecord(topic.name, value, partition=0))
            producer.flush(60)
        producer.close()

    def __enter__(self) -> "Feeder":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self.join()


class Fed(NamedTuple):
    """What all tests look at."""

    feeder: Feeder
    prometheus: Prometheus

    def known(self, name: str) -> dict[str, str]:
        """What Grafana puts in for one of the daemons."""
        return {
            "job": ".+",
            "instance": name,
            "learner": ".+",
            "__rate_interval": "10s",
            "__range": "5m",
            "__interval": "1s",
        }

    def words(self, name: str, board: dict[str, Any]) -> dict[str, str]:
        """What the first row of a dashboard says of a daemon."""
        read = {}
        for panel in (each for each in board["panels"] if each["type"] == "stat"):
            asked = with_values(panel["targets"][0]["expr"], self.known(name))
            read[panel["title"]] = said_by(panel, self.prometheus.query(asked)).word
        return read

    def says(self, name: str, board: dict[str, Any], wanted: dict[str, str]) -> bool:
        """Whether the first row says what is wanted of it."""
        return wanted.items() <= self.words(name, board).items()


@pytest.fixture(scope="module")
def fed(kafka: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fed]:
    folder = tmp_path_factory.mktemp("preferences")
    topics = {name: Topic(kafka) for name in _SHARES}
    with ExitStack() as stack:
        feeder = Feeder(topics)
        daemons = {}
        for name, topic in topics.items():  # one after the other: the first compiles for both
            daemon = Daemon(
                *(folder / name, [topic.name], topic.address),
                learners=_LEARNERS[name],
                snapshot_seconds=1,
            )
            daemons[name] = stack.enter_context(daemon)
            daemon.until(lambda status: status["learned"] == _BEFORE and status["snapshot"])
        prometheus = stack.enter_context(prometheus_for(folder, daemons, _FASTER))
        stack.enter_context(feeder)
        wait_for(lambda: _there_is_a_past(prometheus))
        yield Fed(feeder, prometheus)


def _there_is_a_past(prometheus: Prometheus) -> bool:
    """Whether there is something for both to be worse than, of every kind of loss."""
    kinds = [("preferences", "preference"), ("both", "preference")]
    kinds += [("both", "rank"), ("both", "magnitude"), ("ranks", "rank"), ("scores", "magnitude")]
    wanted = 'count_over_time(learner:stream_rank_loss:mean1w{instance="%s", loss="%s"}[1h]) > 20'
    return all(prometheus.query(wanted % each) for each in kinds)


@pytest.mark.parametrize("name", [*_SHARES, _ALL])
@pytest.mark.parametrize("board", BOARDS, ids=[board["uid"] for board in BOARDS])
def test_no_panel_is_empty_without_a_word(fed: Fed, name: str, board: dict[str, Any]) -> None:
    panels = {panel["title"]: panel for panel in board["panels"] if panel["type"] != "row"}
    wanted = _WORDS_ALONE.get((name, board["uid"]), set())

    def empty() -> set[str]:
        shown = set()
        for title, target in targets(board):
            found = fed.prometheus.query(with_values(target["expr"], fed.known(name)))
            if any(each["value"][1] != "NaN" for each in found):
                shown.add(title)
        return panels.keys() - shown

    # on a busy machine five minutes of Prometheus's, which are five seconds, may pass without an event
    wait_for(lambda: empty() == wanted, otherwise=lambda: f"{empty()} are empty, not {wanted}")
    for title in wanted:
        assert panels[title]["fieldConfig"]["defaults"]["noValue"], title


@pytest.mark.parametrize("name", _SHARES)
def test_axes_and_bars_are_of_one_kind_of_loss(fed: Fed, name: str) -> None:
    """But those of ratios, which have no unit."""
    ratios = {"Against its week", "Against challengers", "Skill"}
    for board in BOARDS:
        for panel in board["panels"]:
            if panel["type"] != "timeseries" or panel["title"] in ratios:
                continue
            kinds = {
                each["metric"].get("loss")
                for target in panel["targets"]
                for each in fed.prometheus.query(with_values(target["expr"], fed.known(name)))
            }
            assert len(kinds) <= 1, panel["title"]


def test_the_alert_is_for_the_stream_that_turns_around(fed: Fed) -> None:
    """The last test: what it does cannot be undone."""
    (board,) = (board for board in BOARDS if board["uid"] == "stream-rank-learning")
    well = {"Learning": "Learning", "Loss": "As usual", "Drift": "None", "Numbers": "Finite"}
    for name in ("preferences", "both"):
        wait_for(partial(fed.says, name, board, well))
        assert fed.words(name, board)["Lead"] != "No comparison"
    alert = "StreamRankPreferenceLossHigh"
    assert alert not in {firing for firing, _ in fed.prometheus.firing()}

    fed.feeder.turned.add("preferences")
    wait_for(lambda: (alert, "preferences") in fed.prometheus.firing(), 120)
    wait_for(
        partial(fed.says, "preferences", board, {"Loss": "Much worse", "Drift": "Within the hour"})
    )
    firing = fed.prometheus.firing()
    assert (alert, "both") not in firing, "whose stream is what it was"
    assert ("StreamRankLossHigh", "preferences") not in firing, "which has no ratings"
