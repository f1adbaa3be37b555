"""The rules as files: what promtool says of them, and where they lead whoever is on call."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from dashboards.links import LEADS
from dashboards.links import RUNBOOK as RUNBOOK_URL
from stream_rank.ingest.kafka.port import LONGEST_SILENCE_SECONDS
from tests.dashboards.expressions import names
from tests.dashboards.test_dashboards import BOARDS, RULES, is_counter

TESTS = RULES.with_name("stream-rank_test.yml")
GROUPS = yaml.safe_load(RULES.read_text())["groups"]
ALERTS = [rule for group in GROUPS for rule in group["rules"] if "alert" in rule]
RECORDED = {rule["record"]: rule["expr"] for g in GROUPS for rule in g["rules"] if "record" in rule}
RUNBOOK = Path("deploy/RUNBOOK.md")


def promtool(*arguments: Any, given: str = "") -> str:
    if shutil.which("promtool") is None:
        pytest.skip("there is no promtool; Debian's package prometheus has it")
    done = subprocess.run(
        ["promtool", *map(str, arguments)],
        input=given,
        capture_output=True,
        text=True,
        env={**os.environ, "GOGC": "800"},  # a sixth of its work is collecting what is soon over
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_promtool_finds_nothing_wrong() -> None:
    assert "SUCCESS" in promtool("check", "rules", RULES)
    assert "SUCCESS" in promtool("check", "config", "deploy/prometheus/prometheus.yml")
    promtool("test", "rules", TESTS)


def test_every_alert_is_tested_firing_and_not_firing() -> None:
    tested: dict[str, set[bool]] = {}
    for test in yaml.safe_load(TESTS.read_text())["tests"]:
        for case in test["alert_rule_test"]:
            tested.setdefault(case["alertname"], set()).add(bool(case["exp_alerts"]))
    assert tested == {alert["alert"]: {True, False} for alert in ALERTS}


@pytest.mark.parametrize("alert", ALERTS, ids=[alert["alert"] for alert in ALERTS])
def test_an_alert_says_what_to_do(alert: dict[str, Any]) -> None:
    assert alert["alert"].startswith("StreamRank")
    assert alert["labels"]["severity"] in ("critical", "warning", "info")
    said = alert["annotations"]
    assert said["summary"]
    assert said["description"]
    place, _, anchor = said["runbook_url"].partition("#")
    assert place == RUNBOOK_URL
    assert urlsplit(place).scheme
    headings = re.findall(r"^## (.*)$", RUNBOOK.read_text(), re.MULTILINE)
    assert anchor in [heading.lower() for heading in headings]


@pytest.mark.parametrize("alert", ALERTS, ids=[alert["alert"] for alert in ALERTS])
def test_an_alert_leads_to_a_panel_about_it(alert: dict[str, Any]) -> None:
    link = urlsplit(alert["annotations"]["dashboard"])
    (board,) = (board for board in BOARDS if link.path == f"/d/{board['uid']}")
    (number,) = parse_qs(link.query)["viewPanel"]
    (panel,) = (panel for panel in board["panels"] if panel["id"] == int(number))
    assert panel["type"] in ("timeseries", "state-timeline"), "it has a time axis"
    said = alert["annotations"]
    assert (said["__dashboardUid__"], said["__panelId__"]) == (board["uid"], number)
    shown = {name for target in panel["targets"] for name in origins(target["expr"])}
    assert shown & origins(alert["expr"]), (panel["title"], shown)


def origins(expression: str) -> set[str]:
    """The metrics that an expression is about in the end, behind recording rules."""
    found = set()
    for name in names(expression):
        found |= origins(RECORDED[name]) if name in RECORDED else {name}
    return found - {"stream_rank_learner_info"}


def test_all_mean_the_same_silence() -> None:
    """`/readyz`, the alerts and the tiles."""
    texts = [RULES.read_text(), *(json.dumps(board) for board in BOARDS)]
    held = re.compile(r"kafka_silence_seconds(?:\{[^}]*\})?\)? (?:>|<=) (?:bool )?([\d.]+)")
    found = {float(number) for text in texts for number in held.findall(text)}
    assert found == {LONGEST_SILENCE_SECONDS}


def test_every_alert_leads_somewhere() -> None:
    assert LEADS.keys() == {alert["alert"] for alert in ALERTS}


def test_counters_are_asked_for_how_fast_they_grow() -> None:
    for group in GROUPS:
        for rule in group["rules"]:
            for name in filter(is_counter, names(rule["expr"])):
                assert re.search(rf"(rate|increase|changes)\({name}[\[{{]", rule["expr"]), rule


def test_the_runbook_is_about_alerts_that_there_are() -> None:
    headings = re.findall(r"^## (StreamRank\w+)$", RUNBOOK.read_text(), re.MULTILINE)
    assert headings == [alert["alert"] for alert in ALERTS]
