"""The words of the first rows, for daemons that are well and that are not: each expression asked of made-up series, by promtool."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.dashboards.expressions import with_values
from tests.dashboards.test_dashboards import BOARDS, RULES
from tests.dashboards.test_rules import promtool

A, B = 'job="ours", instance="a:1"', 'job="ours", instance="b:1"'
OTHER = 'job="node", instance="n:1"'
_VALUES = {
    "job": ".+",
    "instance": ".+",
    "learner": ".+",
    "__rate_interval": "1m",
    "__range": "10m",
}

Series = dict[str, str]


def daemon(own: str = A, rate: float = 600, lag: str = "0x30", **more: str) -> Series:
    """The series of one; `rate` is in records a minute."""
    gauges = {"snapshot_age_seconds": "1x30", "snapshot_interval_seconds": "15x30"}
    gauges |= {"assigned_partitions": "4x30", "kafka_silence_seconds": "0.2x30", "ready": "1x30"}
    gauges |= {"record_age_seconds": "0.1x30", "usual_gap_seconds": "0.05x30"}
    gauges |= {
        "tick_age_seconds": "0.1x30",
        "missing_partitions": "0x30",
        "leading": "1x30",
        **more,
    }
    failing = {what: more.pop(what, "0x30") for what in ("kafka", "snapshots") if what in more}
    for what in failing:
        del gauges[what]
    return {
        f"up{{{own}}}": "1x30",
        f'stream_rank_build_info{{{own}, version="1", client="c"}}': "1x30",
        f'stream_rank_records_total{{{own}, outcome="learned"}}': f"0+{rate}x30",
        f'stream_rank_lag{{{own}, topic="t", partition="0"}}': lag,
        f"stream_rank_unsaved_records{{{own}}}": "5x30",
        f'stream_rank_rejects_total{{{own}, reason="schema"}}': "0x30",
        f'stream_rank_failures_total{{{own}, what="kafka"}}': "0x30",
        f'stream_rank_failing{{{own}, what="kafka"}}': failing.get("kafka", "0x30"),
        f'stream_rank_failing{{{own}, what="snapshots"}}': failing.get("snapshots", "0x30"),
        f"stream_rank_rebalances_total{{{own}}}": "1x30",
        f"process_start_time_seconds{{{own}}}": "7x30",
        **{f"stream_rank_{name}{{{own}}}": values for name, values in gauges.items()},
    }


def learner(name: str, role: str, recent: str, loss: str = "rank", drifts: str = "0x30") -> Series:
    own = f'{A}, learner="{name}"'
    return {
        f'stream_rank_learner_info{{{own}, role="{role}", loss="{loss}"}}': "1x30",
        f'stream_rank_recent_loss{{{own}, loss="{loss}"}}': recent,
        f'stream_rank_drifts_total{{{own}, loss="{loss}"}}': drifts,
    }


def prefers(name: str, role: str, recent: str, drifts: str = "0x30") -> Series:
    """A learner of ranks that has met preferences only: of ranks there is nothing but counters that stand at 0."""
    own = f'{A}, learner="{name}"'
    return {
        f'stream_rank_learner_info{{{own}, role="{role}", loss="rank"}}': "1x30",
        f'stream_rank_recent_loss{{{own}, loss="preference"}}': recent,
        f'stream_rank_drifts_total{{{own}, loss="rank"}}': "0x30",
        f'stream_rank_drifts_total{{{own}, loss="preference"}}': drifts,
    }


def errs(loss: str, errors: str) -> Series:
    """A champion's losses, as they are summed; a hundred of its predictions a minute are scored."""
    own = f'{A}, learner="a"'
    return {
        f'stream_rank_learner_info{{{own}, role="champion", loss="rank"}}': "1x30",
        f'stream_rank_loss_total{{{own}, loss="{loss}"}}': errors,
        f'stream_rank_loss_terms_total{{{own}, loss="{loss}"}}': "0+100x30",
    }


def alert(name: str, severity: str = "warning", own: str = A, state: str = "firing") -> Series:
    labels = f'alertname="{name}", alertstate="{state}", severity="{severity}", {own}'
    return {f"ALERTS{{{labels}}}": "1x30"}


DOWN = dict.fromkeys(daemon(B), "1x9 stale") | {
    f"up{{{B}}}": "1x9 0x21",
    f'stream_rank_build_info{{{B}, version="1", client="c"}}': "1x9 stale",
}
ALL_DOWN = {name.replace(B, A): values for name, values in DOWN.items()}
STANDING_BY = {
    f"up{{{B}}}": "1x30",
    f'stream_rank_build_info{{{B}, version="1", client="c"}}': "1x30",
    f"stream_rank_leading{{{B}}}": "0x30",
}
RESTARTING = {f"process_start_time_seconds{{{OTHER}}}": "0+60x30"}
SILENT: dict[str, Any] = {"kafka_silence_seconds": "0x9 10+60x21"}
REJECTS = f'stream_rank_rejects_total{{{A}, reason="schema"}}'
FAILURES = f'stream_rank_failures_total{{{A}, what="kafka"}}'

BOTH_A = learner("a", "champion", "0.5x30") | prefers("a", "champion", "0.3x30")
BOTH_B = learner("b", "challenger", "0.6x30") | prefers("b", "challenger", "0.2x30")
CHAMPION = learner("a", "champion", "0.5x30")

SAID: list[tuple[str, Series, str | None]] = [
    ("Up", daemon() | {f"up{{{OTHER}}}": "0x30"}, "Up"),
    ("Up", daemon() | DOWN, "One is down"),
    ("Up", ALL_DOWN, "Down"),
    ("Up", {f"up{{{OTHER}}}": "1x30"}, None),
    ("Kafka", daemon(), "Answers"),
    ("Kafka", daemon(**SILENT), "Kafka unreachable"),
    ("Kafka", daemon() | daemon(B, **SILENT), "Kafka unreachable"),
    ("Kafka", daemon() | DOWN, "Not known"),
    ("Kafka", ALL_DOWN, "Not known"),
    ("Kafka", daemon() | {FAILURES: "0x18 3x12"}, "Was away"),
    ("Kafka", daemon() | {FAILURES: "0+30x30"}, "Trouble"),
    ("Kafka", daemon(kafka="1x30"), "Trouble"),
    ("Kafka", daemon(missing_partitions="0x10 2x20"), "Shared"),
    ("Kafka", daemon(assigned_partitions="0x30"), "No partitions"),
    ("Kafka", daemon() | {f"stream_rank_rebalances_total{{{A}}}": "0+1x30"}, "Rebalance storm"),
    ("Learning", daemon(), "Learning"),
    ("Learning", daemon(rate=1, record_age_seconds="59x30", usual_gap_seconds="60x30"), "Learning"),
    ("Learning", daemon(lag="60000x30"), "Learning"),
    ("Learning", daemon(record_age_seconds="9x30"), "Learning"),
    ("Learning", daemon(record_age_seconds="11x30"), "Nothing comes"),
    ("Learning", daemon(record_age_seconds="130x30", usual_gap_seconds="60x30"), "Nothing comes"),
    ("Learning", daemon(record_age_seconds="40x30", lag="5x30"), "Stuck"),
    ("Learning", daemon(tick_age_seconds="40x30"), "Stuck"),
    ("Learning", daemon(leading="0x30", tick_age_seconds="40x30"), "No lease"),
    ("Learning", daemon() | STANDING_BY, "Learning"),
    ("Learning", daemon() | daemon(B, record_age_seconds="40x30", lag="5x30"), "Stuck"),
    ("Learning", daemon(record_age_seconds="40x30", lag="5x30", **SILENT), "Not known"),
    ("Learning", daemon(record_age_seconds="40x30") | DOWN, "Nothing comes"),
    ("Learning", daemon() | DOWN, "Not known"),
    ("Learning", ALL_DOWN, "Not known"),
    ("Learning", {}, None),
    ("Keeps up", daemon(), "Up to date"),
    ("Keeps up", daemon(lag="300x30"), "Near the end"),
    ("Keeps up", daemon(rate=1, lag="9x30"), "Behind"),
    ("Keeps up", daemon() | daemon(B, lag="60000x30"), "Behind"),
    ("Keeps up", daemon(lag="60000x30", **SILENT), "Not known"),
    ("Rejects", daemon(), "None"),
    ("Rejects", daemon() | {REJECTS: "0+6x30"}, "Few"),
    ("Rejects", daemon() | {REJECTS: "0+60x30"}, "Many"),
    ("Rejects", daemon(rate=0), "Nothing comes"),
    ("Rejects", ALL_DOWN, "Nothing comes"),
    ("Rejects", daemon(kafka_silence_seconds="0.1x15 stale"), None),  # this moment
    ("Saved", daemon(), "Saved"),
    ("Saved", daemon(snapshot_age_seconds="60x30"), "Saved"),
    ("Saved", daemon(snapshot_age_seconds="600x30"), "Too old"),
    ("Saved", daemon(snapshot_age_seconds="600x30", unsaved_records="0x30"), "Saved"),
    ("Saved", daemon(snapshots="1x30"), "Cannot save"),
    ("Saved", daemon(snapshot_age_seconds="600x30", **SILENT), "Not known"),
    ("Saved", daemon(snapshot_interval_seconds="_x30"), "Saved"),
    ("Restarts", daemon() | RESTARTING, "None"),
    ("Restarts", daemon() | {f"process_start_time_seconds{{{A}}}": "7x10 90x20"}, "Restarted"),
    ("Restarts", daemon() | {f"process_start_time_seconds{{{A}}}": "7x5 _x5 90x20"}, "Restarted"),
    ("Restarts", daemon() | {f"process_start_time_seconds{{{A}}}": "0+60x30"}, "Many"),
    ("Restarts", ALL_DOWN, "Not known"),
    ("Numbers", daemon(finite="1x30"), "Finite"),
    ("Numbers", daemon(finite="1x10 0x20"), "Diverged"),
    ("Numbers", daemon(finite="1x30") | DOWN, "Not known"),
    ("Lead", daemon() | CHAMPION | learner("b", "challenger", "0.6x30"), "Champion leads"),
    ("Lead", daemon() | CHAMPION | learner("b", "challenger", "0.5x30"), "Level"),
    ("Lead", daemon() | CHAMPION | learner("b", "challenger", "0.4x30"), "Challenger leads"),
    ("Lead", daemon() | CHAMPION | learner("b", "challenger", "0x30"), "Challenger leads"),
    ("Lead", daemon() | CHAMPION | learner("b", "challenger", "0.1x30", "magnitude"), "No comparison"),
    ("Lead", daemon() | prefers("a", "champion", "0x30") | prefers("b", "challenger", "0x30"), "Level"),
    ("Lead", daemon() | prefers("a", "champion", "0.3x30") | prefers("b", "challenger", "0.2x30"), "Challenger leads"),
    ("Lead", daemon() | prefers("a", "champion", "0.2x30") | learner("b", "challenger", "0.1x30"), "No comparison"),
    ("Lead", daemon() | BOTH_A | BOTH_B, "Challenger leads"),  # with preferences
    ("Loss", daemon() | errs("preference", "0+10x30"), "As usual"),
    ("Loss", daemon(**SILENT) | errs("preference", "0+10x30"), "Not known"),
    ("Loss", daemon() | errs("preference", "0+1x15 17+2x15"), "As usual"),  # next to nothing, before and after
    ("Loss", daemon() | errs("preference", "0x15 10+10x15"), "Much worse"),
    ("Loss", daemon() | errs("preference", "0+10x15 162+12x15"), "As usual"),
    ("Loss", daemon() | errs("rank", "0+10x30") | errs("preference", "0+10x15 220+70x15"), "Much worse"),
    ("Loss", daemon() | errs("rank", "0+100x15 1700+200x15"), "Much worse"),
    ("Loss", daemon() | prefers("a", "champion", "_x18 0.3x12"), "Not known"),  # too soon
    ("Drift", daemon() | prefers("a", "champion", "0.1x30"), "None"),
    ("Drift", daemon() | prefers("a", "champion", "0.1x30", drifts="0x15 1x15"), "Within the hour"),
    ("Drift", daemon() | CHAMPION | learner("b", "challenger", "1x30", drifts="0x15 1x15"), "None"),
    ("Drift", daemon() | learner("a", "champion", "1x30", drifts="0x15 1x15"), "Within the hour"),
    ("Drift", daemon(), "Not known"),
]  # fmt: skip

SAID += [(title, STANDING_BY, "Stands by") for title in {title for title, _, _ in SAID} - {"Up"}]

NAMED: list[tuple[Series, set[tuple[str, int]]]] = [
    (daemon() | alert("DiskFull", "critical", OTHER), {("None", 0)}),
    (daemon() | alert("StreamRankChallengerBetter", "info"), {("None", 0)}),
    (daemon() | alert("StreamRankStuck"), {("Stuck", 2)}),
    (daemon() | alert("StreamRankStuck") | alert("StreamRankStuck", own=B), {("Stuck", 2)}),
    (
        daemon() | alert("StreamRankStuck") | alert("StreamRankRejects", state="pending"),
        {("Stuck", 2), ("Rejects", 1)},
    ),
    # of the rules themselves
    ({f"up{{{OTHER}}}": "1x30"}, {("Absent", 2)}),
]
"""What the tile of alerts names, and how: 1 waits, 2 fires."""


def panels(title: str) -> list[dict[str, Any]]:
    """Those of a title on all dashboards, each expression once."""
    found = [p for board in BOARDS for p in board["panels"] if p["title"] == title]
    tiles = [panel for panel in found if panel["type"] == "stat"]
    return list({panel["targets"][0]["expr"]: panel for panel in tiles}.values())


def test_every_word_is_said_here() -> None:
    said = {(title, word) for title, _, word in SAID if word is not None}
    for board in BOARDS:
        for panel in board["panels"]:
            if panel["type"] == "stat" and panel["title"] != "Alerts":
                mappings = panel["fieldConfig"]["defaults"]["mappings"]
                for each in (each for each in mappings if each["type"] == "range"):
                    assert (panel["title"], each["options"]["result"]["text"]) in said


def test_none_of_them_says_two_things() -> None:
    for title in {title for title, _, _ in SAID}:
        assert len(panels(title)) == 1


@pytest.mark.parametrize("title", sorted({title for title, _, _ in SAID}))
def test_the_word_is_the_right_one(title: str, tmp_path: Path) -> None:
    """The test file says which numbers the word may stand for; promtool whether it is one of these."""
    tests: list[dict[str, Any]] = []
    for panel in panels(title):
        mappings = panel["fieldConfig"]["defaults"]["mappings"]
        asked = with_values(panel["targets"][0]["expr"], _VALUES)
        for _, series, word in (each for each in SAID if each[0] == title):
            case: dict[str, Any] = {"expr": f"({asked}) * 0", "eval_time": "20m"}
            if word is not None:
                # bounds are inclusive in Grafana, and the first that fits is taken
                at = next(
                    each["options"]
                    for each in mappings
                    if each["options"]["result"]["text"] == word
                )
                case["expr"] = (
                    f"({asked}) > bool {at['from']} == bool (({asked}) <= bool {at['to']})"
                )
                case["exp_samples"] = [{"labels": "{}", "value": 1}]
            tests.append(_test(f"{panel['id']} {word}", series, case))
    _run(tests, tmp_path)


def test_alerts_are_named(tmp_path: Path) -> None:
    (panel,) = panels("Alerts")
    asked = with_values(panel["targets"][0]["expr"], _VALUES)
    tests = []
    for series, wanted in NAMED:
        expected = [
            {
                "labels": f'{{alertname="StreamRank{name}", name="{name}"}}'
                if value
                else f'{{name="{name}"}}',
                "value": value,
            }
            for name, value in wanted
        ]
        case = {"expr": asked, "eval_time": "20m", "exp_samples": expected}
        tests.append(_test(str(wanted), series, case))
    _run(tests, tmp_path)


def _test(name: str, series: Series, case: dict[str, Any]) -> dict[str, Any]:
    first = {f"one{{{OTHER}}}": "1x30"}
    return {
        "name": name,
        "interval": "1m",
        "input_series": [
            {"series": name, "values": values} for name, values in (first | series).items()
        ],
        "promql_expr_test": [case],
    }


def _run(tests: list[dict[str, Any]], folder: Path) -> None:
    file = folder / "words.yml"
    rules = [str(RULES.resolve())]
    content = {"rule_files": rules, "evaluation_interval": "1m", "tests": tests}
    file.write_text(yaml.safe_dump(content))
    promtool("test", "rules", file)
