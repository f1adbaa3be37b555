"""Nothing is cut off on a screen of 1366 pixels with the menu beside it, nor on a phone of 420, by the widths that Grafana 12.4 has there."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.dashboards.letters import width
from tests.dashboards.test_dashboards import BOARDS, each_panel
from tests.dashboards.test_rules import ALERTS

_GRID, _GAP = 1366 - 300 - 32, 8
"""The width of all panels beside the menu and within the margins; and what is between two of them."""
_PHONE = 420 - 32
"""The width of each panel on a phone, where they stand below each other."""
_BESIDE_A_TITLE = 98
"""What a panel needs in its first line beside its title: the sign that has the description, and the menu's place."""
_BESIDE_A_WORD, _BESIDE_A_LEGEND = 16, 48
_BESIDE_A_TABLE, _BESIDE_A_CELL = 18, 13
_CALC = 68
"""What each of the numbers takes in a legend that is a table."""
_TITLE, _WORD, _LEGEND, _CELL = 14, 18, 12, 14
"""Sizes of fonts."""
_TIME = "23 hours"
"""A long number in a cell."""


def learners() -> list[str]:
    """The learners that are shown in Grafana by `make live` and compose."""
    named: list[str] = tomllib.loads(Path("deploy/stream-rank.toml").read_text())["learners"]
    return named


_LONGEST = {
    "learner": max(learners(), key=lambda name: width(name, _LEGEND)),
    "loss": "preference",
    "instance": "255.255.255.255:65535",
    "partition": "999",
    "topic": "ratings",
    "threshold": "19",
    "outcome": "requested",
    "reason": "unreadable",
    "stage": "snapshotting",
    "what": "snapshots",
}


def room(panel: dict[str, Any]) -> float:
    """The width of a panel, where it is least."""
    return min(beside_the_menu(panel), _PHONE)


def beside_the_menu(panel: dict[str, Any]) -> float:
    """The width of a panel at 1366 pixels."""
    share: float = panel["gridPos"]["w"] / 24
    return (_GRID + _GAP) * share - _GAP


@pytest.mark.parametrize(("board", "panel"), [*each_panel()])
def test_a_title_is_whole(board: dict[str, Any], panel: dict[str, Any]) -> None:
    assert width(panel["title"], _TITLE) <= room(panel) - _BESIDE_A_TITLE


@pytest.mark.parametrize(("board", "panel"), [*each_panel()])
def test_a_word_is_whole(board: dict[str, Any], panel: dict[str, Any]) -> None:
    if panel["type"] == "stat":
        for each in panel["fieldConfig"]["defaults"].get("mappings", ()):
            word = each["options"]["result"]["text"]
            assert width(word, _WORD) <= room(panel) - _BESIDE_A_WORD, word


@pytest.mark.parametrize(("board", "panel"), [*each_panel()])
def test_a_legend_is_whole_where_there_is_one_daemon(
    board: dict[str, Any], panel: dict[str, Any]
) -> None:
    """The address is in a legend only by `$at`, or as all that it says. One that is a table is pushed aside on a phone."""
    if panel["type"] == "timeseries":
        for target in panel["targets"]:
            asked = target["legendFormat"]
            assert asked == "{{instance}}" or "{{instance}}" not in asked
            legend = re.sub(r"\{\{(\w+)\}\}", lambda found: _LONGEST[found[1]], asked)
            calcs = len(panel["options"]["legend"]["calcs"])
            wide = beside_the_menu(panel) if calcs else room(panel)
            left = wide - _BESIDE_A_LEGEND - calcs * _CALC
            assert width(legend.replace("$at", "").strip(), _LEGEND) <= left, legend


def test_the_names_of_alerts_are_whole() -> None:
    """Of as many as fire at once in the worst case that was seen."""
    together, longest = 4, max((alert["alert"] for alert in ALERTS), key=len)
    name = longest.removeprefix("StreamRank")
    for board in BOARDS:
        (panel,) = (p for p in board["panels"] if p["title"] == "Alerts")
        wide = beside_the_menu(panel)
        assert width(name, _WORD) <= wide / together - _BESIDE_A_WORD
        assert width(name, _WORD) <= _PHONE - _BESIDE_A_WORD


def test_an_overview_has_room_for_its_columns() -> None:
    (panel,) = (p for board in BOARDS for p in board["panels"] if p["title"] == "Daemons")
    renamed = panel["transformations"][-1]["options"]["renameByName"].values()
    looks: dict[str, dict[str, Any]] = {name: {} for name in renamed}
    for each in panel["fieldConfig"]["overrides"]:
        of = {found["id"]: found["value"] for found in each["properties"]}
        looks[each["matcher"]["options"]].update(of)
    least = panel["fieldConfig"]["defaults"]["custom"]["minWidth"]
    fixed = {
        name: of.get("custom.width") or of.get("custom.minWidth") for name, of in looks.items()
    }
    left = _PHONE - _BESIDE_A_TABLE - sum(each for each in fixed.values() if each)
    left /= len([each for each in fixed.values() if not each])
    assert left >= least
    for name, of in looks.items():
        said = [each["options"] for each in of.get("mappings", ()) if each["type"] == "value"]
        words = [result["text"] for options in said for result in options.values()]
        words += [
            m["options"]["result"]["text"] for m in of.get("mappings", ()) if m["type"] == "range"
        ]
        longest = {"behind": _TIME, "rejects": "0.123%", "daemon": "127.0.0.1:65535"}.get(name, "")
        here = (fixed[name] or left) - _BESIDE_A_CELL
        for text in (name, longest, *words):
            assert width(text, _CELL) <= here, text


def test_the_widths_are_those_of_a_browser() -> None:
    """What a browser was seen to cut, and what it was seen to leave."""
    quarter = {"gridPos": {"w": 6}}
    assert width("Recent magnitude loss", _TITLE) > room(quarter) - _BESIDE_A_TITLE
    assert width("Rank loss of the run", _TITLE) < room(quarter) - _BESIDE_A_TITLE
    assert width("Champion", _TITLE) > room({"gridPos": {"w": 4}}) - _BESIDE_A_TITLE
    assert width("Learning", _TITLE) < room({"gridPos": {"w": 4}}) - _BESIDE_A_TITLE
