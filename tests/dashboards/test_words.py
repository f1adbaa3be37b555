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
    gauges |= {"assigned_partitions": "4x30", **more}
    return {
        f"up{{{own}}}": "1x30",
        f'stream_rank_build_info{{{own}, version="1", client="c"}}': "1x30",
        f'stream_rank_records_total{{{own}, outcome="learned"}}': f"0+{rate}x30",
        f'stream_rank_lag{{{own}, topic="t", partition="0"}}': lag,
        f"stream_rank_unsaved_records{{{own}}}": "5x30",
        f'stream_rank_rejects_total{{{own}, reason="schema"}}': "0x30",
        f'stream_rank_failures_total{{{own}, what="kafka"}}': "0x30",
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


def alert(name: str, severity: str = "warning", own: str = A) -> Series:
    labels = f'alertname="{name}", alertstate="firing", severity="{severity}", {own}'
    return {f"ALERTS{{{labels}}}": "1x30"}


DOWN = daemon(B) | {f"up{{{B}}}": "1x9 0x21", f'stream_rank_build_info{{{B}, version="1", client="c"}}': "1x9 stale"}  # fmt: skip
RESTARTING = {f"process_start_time_seconds{{{OTHER}}}": "0+60x30"}

BOTH_A = learner("a", "champion", "0.5x30") | prefers("a", "champion", "0.3x30")
BOTH_B = learner("b", "challenger", "0.6x30") | prefers("b", "challenger", "0.2x30")

SAID: list[tuple[str, Series, str | None]] = [
    ("Up", daemon() | {f"up{{{OTHER}}}": "0x30"}, "Up"),
    ("Up", daemon() | DOWN, "One is down"),
    ("Up", {f"up{{{OTHER}}}": "1x30"}, None),
    ("Learning", daemon(), "Learning"),
    ("Learning", daemon(rate=1), "Learning"),
    ("Learning", daemon(lag="50x30"), "Learning"),
    ("Learning", daemon(lag="60000x30"), "Catching up"),
    ("Learning", daemon(rate=0), "Nothing comes"),
    ("Learning", daemon(rate=0, lag="5x30"), "Stuck"),
    ("Learning", daemon() | daemon(B, rate=0, lag="5x30"), "Stuck"),
    ("Learning", {}, None),
    ("Keeps up", daemon(), "Up to date"),
    ("Keeps up", daemon(lag="300x30"), "A bit behind"),
    ("Keeps up", daemon(rate=1, lag="9x30"), "Behind"),
    ("Keeps up", daemon() | daemon(B, lag="60000x30"), "Behind"),
    ("Rejects", daemon(), "None"),
    ("Rejects", daemon() | {f'stream_rank_rejects_total{{{A}, reason="schema"}}': "0+6x30"}, "Some"),
    ("Rejects", daemon() | {f'stream_rank_rejects_total{{{A}, reason="schema"}}': "0+60x30"}, "Many"),
    ("Rejects", daemon(rate=0), None),
    ("Saved", daemon(), "Fresh"),
    ("Saved", daemon(snapshot_age_seconds="60x30"), "Late"),
    ("Saved", daemon(snapshot_age_seconds="600x30"), "Too old"),
    ("Saved", daemon(snapshot_age_seconds="600x30", unsaved_records="0x30"), "Fresh"),
    ("Kafka", daemon(), "Well"),
    ("Kafka", daemon() | {f'stream_rank_failures_total{{{A}, what="kafka"}}': "0x18 3x12"}, "Was away"),
    ("Kafka", daemon() | {f'stream_rank_failures_total{{{A}, what="kafka"}}': "0+30x30"}, "In trouble"),
    ("Kafka", daemon() | {f'stream_rank_failures_total{{{A}, what="snapshots"}}': "0+30x30"}, "Well"),
    ("Restarts", daemon() | RESTARTING, "None"),
    ("Restarts", daemon() | {f"process_start_time_seconds{{{A}}}": "7x10 90x20"}, "Restarted"),
    ("Restarts", daemon() | {f"process_start_time_seconds{{{A}}}": "0+60x30"}, "Many"),
    ("Alerts", daemon() | alert("DiskFull", "critical", OTHER), "None"),
    ("Alerts", daemon() | alert("StreamRankChallengerBetter", "info"), "None"),
    ("Alerts", daemon() | alert("StreamRankStuck"), "One fires"),
    ("Alerts", daemon() | alert("StreamRankStuck") | alert("StreamRankRejects"), "Several fire"),
    ("Alerts", {f"up{{{OTHER}}}": "1x30"}, "One fires"),  # StreamRankAbsent, of the rules themselves
    ("Numbers", daemon(finite="1x30"), "Finite"),
    ("Numbers", daemon(finite="1x10 0x20"), "Diverged"),
    ("Lead", learner("a", "champion", "0.5x30") | learner("b", "challenger", "0.6x30"), "Champion leads"),
    ("Lead", learner("a", "champion", "0.5x30") | learner("b", "challenger", "0.5x30"), "Level"),
    ("Lead", learner("a", "champion", "0.5x30") | learner("b", "challenger", "0.4x30"), "Challenger leads"),
    ("Lead", learner("a", "champion", "0.5x30") | learner("b", "challenger", "0x30"), "Challenger leads"),
    ("Lead", learner("a", "champion", "0.5x30") | learner("b", "challenger", "0.1x30", "magnitude"), None),
    ("Lead", prefers("a", "champion", "0.2x30") | prefers("b", "challenger", "0.3x30"), "Champion leads"),
    ("Lead", prefers("a", "champion", "0x30") | prefers("b", "challenger", "0x30"), "Level"),
    ("Lead", prefers("a", "champion", "0.3x30") | prefers("b", "challenger", "0.2x30"), "Challenger leads"),
    ("Lead", prefers("a", "champion", "0.2x30") | learner("b", "challenger", "0.1x30"), None),
    ("Lead", BOTH_A | BOTH_B, "Challenger leads"),  # with preferences
    ("Loss", errs("preference", "0+10x30"), "As usual"),
    ("Loss", errs("preference", "0+1x15 17+2x15"), "As usual"),  # next to nothing, before and after
    ("Loss", errs("preference", "0x15 10+10x15"), "Much worse"),
    ("Loss", errs("preference", "0+10x15 162+12x15"), "Worse"),
    ("Loss", errs("rank", "0+10x30") | errs("preference", "0+10x15 220+70x15"), "Much worse"),
    ("Loss", errs("rank", "0+100x15 1700+200x15"), "Much worse"),
    ("Loss", errs("rank", "0+10x30") | prefers("a", "champion", "_x18 0.3x12"), "As usual"),
    ("Loss", prefers("a", "champion", "_x18 0.3x12"), "Too soon"),
    ("Loss", prefers("a", "champion", "0x30"), None),  # there is a loss, but nothing came for long
    ("Loss", prefers("b", "challenger", "_x18 0.3x12"), None),
    ("Drift", prefers("a", "champion", "0.1x30"), "None"),
    ("Drift", prefers("a", "champion", "0.1x30", drifts="0x15 1x15"), "Within the hour"),
    ("Drift", learner("a", "champion", "1x30") | learner("b", "challenger", "1x30", drifts="0x15 1x15"), "None"),
    ("Drift", learner("a", "champion", "1x30", drifts="0x15 1x15"), "Within the hour"),
    ("Drift", {}, None),
]  # fmt: skip


def panels(title: str) -> list[dict[str, Any]]:
    found = [p for board in BOARDS for p in board["panels"] if p["title"] == title]
    return [panel for panel in found if panel["type"] == "stat"]


def test_every_word_is_said_here() -> None:
    said = {(title, word) for title, _, word in SAID if word is not None}
    for board in BOARDS:
        for panel in board["panels"]:
            if panel["type"] == "stat":
                mappings = panel["fieldConfig"]["defaults"]["mappings"]
                for each in (each for each in mappings if each["type"] == "range"):
                    assert (panel["title"], each["options"]["result"]["text"]) in said


@pytest.mark.parametrize("title", sorted({title for title, _, _ in SAID}))
def test_the_word_is_the_right_one(title: str, tmp_path: Path) -> None:
    """The test file says which numbers the word may stand for; promtool whether it is one of these."""
    tests: list[dict[str, Any]] = []
    for panel in panels(title):
        mappings = panel["fieldConfig"]["defaults"]["mappings"]
        asked = with_values(panel["targets"][0]["expr"], _VALUES)
        for _, series, word in (each for each in SAID if each[0] == title):
            first = {f"one{{{OTHER}}}": "1x30"}
            case: dict[str, Any] = {"expr": f"({asked}) * 0", "eval_time": "20m"}
            if word is not None:
                at = next(
                    each["options"]
                    for each in mappings
                    if each["options"]["result"]["text"] == word
                )
                case["expr"] = (
                    f"({asked}) >= bool {at['from']} == bool (({asked}) < bool {at['to']})"
                )
                case["exp_samples"] = [{"labels": "{}", "value": 1}]
            tests.append(
                {
                    "name": f"{panel['id']} {word}",
                    "interval": "1m",
                    "input_series": [
                        {"series": name, "values": values}
                        for name, values in (first | series).items()
                    ],
                    "promql_expr_test": [case],
                }
            )
    file = tmp_path / "words.yml"
    file.write_text(
        yaml.safe_dump(
            {"rule_files": [str(RULES.resolve())], "evaluation_interval": "15s", "tests": tests}
        )
    )
    promtool("test", "rules", file)
