"""Everything at once, from the files that are deployed: every expression has something to show."""

import re
import urllib.request
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from simulators.broker import NoKafkaError, free_ports
from simulators.live import Live, Ports
from simulators.prometheus import NoPrometheusError
from simulators.tiles import said_by
from stream_rank.monitoring.catalogue import CATALOGUE, PROCESS
from tests.daemon.conftest import wait_for
from tests.dashboards.expressions import as_truth, targets, with_values
from tests.dashboards.test_dashboards import BOARDS, RULES
from tests.dashboards.test_rules import promtool
from tests.witness import Witness

pytestmark = pytest.mark.long(75)

_VALUES = {"__rate_interval": "20s", "__range": "5m", "__interval": "15s"}
"""What Grafana puts in for half an hour of samples that come every 5 seconds."""
_DRIFT_SECONDS = 60
_OF_OTHERS = {
    ("stream-rank-fleet", "Recent magnitude loss", "{{instance}}"),
    ("stream-rank-learning", "Recent magnitude loss", "week's mean: {{learner}} $at"),
    ("stream-rank-learning", "Rank loss of users", "{{learner}} $at"),
    ("stream-rank-learning", "What users liked next", "{{learner}} $at"),
    ("stream-rank-learning", "What users liked next", "popularity: {{learner}} $at"),
}
"""Lines of champions that predict scores, and of learners of users, of which there are none here."""
_NOT_HERE = {
    *("predictions_total", "rank_loss_by_group"),
    *("recall_at_10", "ndcg_at_10", "recall_questions"),
}
"""This daemon sends no predictions, and has no learner of users."""
_FIRST = (
    'count(learner:stream_rank_loss:ratio_to_week{loss!="preference"}) == count(stream_rank_learner_info)',
    'count(learner:stream_rank_loss:ratio_to_week{loss="preference"}) == count(stream_rank_learner_info)',
    'sum(increase(stream_rank_drifts_total[1h]) and on (learner) stream_rank_learner_info{role="champion"}) > 0.5',
)
"""What takes longest to come. Of rank losses a week's mean may come a minute after that of magnitude losses:
rates want two scrapes, means of a gauge one."""


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("live")
    ports = Ports(*free_ports(len(Ports())))
    try:
        with Live(folder, ports, 1_000, _DRIFT_SECONDS) as running:
            Witness(running.log("daemon"), running.daemon, f"http://127.0.0.1:{ports.daemon}")
            for each in _FIRST:
                wait_for(partial(running.prometheus.query, each), 240)
            yield running
    except (NoKafkaError, NoPrometheusError) as missing:
        pytest.skip(str(missing))


def values(live: Live, board: dict[str, Any]) -> dict[str, str]:
    """What Grafana has for the variables, as regular expressions of all that there is."""
    found = dict(_VALUES)
    for variable in board["templating"]["list"]:
        if variable["type"] != "query" or variable["name"] == "at":
            continue
        asked = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"])
        assert asked, variable
        selector = with_values(asked[1], found)
        series = live.prometheus.ask("series", **{"match[]": selector})
        names = sorted({each[asked[2]] for each in series})
        assert names, f"variable {variable['name']} would be empty"
        found[variable["name"]] = "|".join(map(re.escape, names)).replace("\\", "\\\\")
    return found


@pytest.mark.parametrize("board", BOARDS, ids=[board["uid"] for board in BOARDS])
def test_every_panel_has_something_to_show(live: Live, board: dict[str, Any]) -> None:
    known = values(live, board)

    def empty() -> list[tuple[str, str]]:
        without = []
        for title, target in targets(board):
            if (board["uid"], title, target.get("legendFormat")) in _OF_OTHERS:
                continue
            found = live.prometheus.query(with_values(target["expr"], known))
            if not any(each["value"][1] != "NaN" for each in found):
                without.append((title, target["expr"]))
            legend = target.get("legendFormat", "").replace("$at", "{{instance}}")
            for label in re.findall(r"\{\{(\w+)\}\}", legend):
                assert all(label in each["metric"] for each in found), (title, label)
        return without

    # a busy machine may evaluate a rule late, or scrape nothing for a moment
    wait_for(lambda: not empty(), otherwise=lambda: f"{empty()} show nothing")


@pytest.mark.parametrize("board", BOARDS, ids=[board["uid"] for board in BOARDS])
def test_every_mark_can_be_asked_for(live: Live, board: dict[str, Any]) -> None:
    known = values(live, board)
    for mark in board["annotations"]["list"]:
        # against a minute ago, of which there may be nothing yet
        asked = with_values(as_truth(mark["expr"]), known)
        if mark["name"] == "Alerts":  # none fires
            live.prometheus.query(asked)
            continue
        wait_for(partial(live.prometheus.query, asked), 90)


def test_every_rule_has_something_to_say(live: Live) -> None:
    """Conditions say 0 where they do not hold; only what is absent has nothing to say while it is there."""
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        for rule in group["rules"]:
            if rule.get("alert") != "StreamRankAbsent":
                asked = partial(live.prometheus.query, as_truth(rule["expr"]))
                wait_for(asked, otherwise=partial(str, rule))
    healths = [
        rule["health"]
        for group in live.prometheus.ask("rules")["groups"]
        for rule in group["rules"]
    ]
    assert healths
    assert set(healths) == {"ok"}


def test_promtool_finds_nothing_wrong_with_the_metrics(live: Live) -> None:
    with urllib.request.urlopen(
        f"http://127.0.0.1:{live.ports.daemon}/metrics", timeout=10
    ) as answer:
        text = answer.read().decode()
    promtool("check", "metrics", given=text)
    said = {family.name: family for family in text_string_to_metric_families(text)}
    wanted = {
        name.removesuffix("_total"): metric
        for name, metric in (CATALOGUE | PROCESS).items()
        if name.removeprefix("stream_rank_") not in _NOT_HERE
    }
    assert said.keys() == wanted.keys()
    for name, metric in wanted.items():
        assert said[name].type == metric.kind, name
        assert metric.name in PROCESS or said[name].documentation == metric.meaning
        labels = {label for sample in said[name].samples for label in sample.labels} - {"le"}
        assert labels == set(metric.labels), name


def test_no_alert_fires_while_all_is_well(live: Live) -> None:
    assert {name for name, _ in live.prometheus.firing()} <= {"StreamRankChallengerBetter"}


def _words(live: Live) -> dict[str, str]:
    """Of the first rows: what somebody would read on the dashboards now."""
    read: dict[str, str] = {}
    for board in BOARDS:
        known = values(live, board)
        for panel in (each for each in board["panels"] if each["type"] == "stat"):
            found = live.prometheus.query(with_values(panel["targets"][0]["expr"], known))
            read[panel["title"]] = said_by(panel, found).word
    return read


def test_the_words_are_the_right_ones(live: Live) -> None:
    right = {
        "Up": "Up",
        "Learning": "Learning",
        "Keeps up": "Up to date",
        "Drift": "Within the hour",
        "Numbers": "Finite",
        "Rejects": "Few",
        "Saved": "Saved",
        "Kafka": "Answers",
        "Restarts": "None",
        "Alerts": "None",
    }
    # what follows a start, or a moment in which the machine was elsewhere, passes
    wait_for(
        lambda: right.items() <= _words(live).items(),
        240,
        lambda: f"the dashboards say {_words(live)}",
    )
