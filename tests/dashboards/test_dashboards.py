"""The dashboards as files: Grafana's schema, the rules of its linter, and the catalogue's names."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.__main__ import FOLDER, rules, written
from dashboards.frame import in_sight
from dashboards.panels.parts import LEVEL, UNKNOWN
from stream_rank.monitoring.catalogue import CATALOGUE, PROCESS
from tests.dashboards.expressions import names, targets

FILES = sorted(FOLDER.glob("*.json"))
RULES = Path("dashboards/rules/stream-rank.yml")
BOARDS = [json.loads(path.read_text()) for path in FILES]
register_default_plugins()

_SUFFIXES = ("_bucket", "_sum", "_count")
_UNITS = {"none", "short", "s", "recps", "bytes", "percentunit"}


def recorded() -> set[str]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return {rule["record"] for group in groups for rule in group["rules"] if "record" in rule}


def known(name: str) -> bool:
    """Whether a series is in the catalogue, is recorded by our rules, or is Prometheus's own."""
    histogram = next((name.removesuffix(s) for s in _SUFFIXES if name.endswith(s)), "")
    return (
        name in recorded() | {"up", "ALERTS"}
        or name in CATALOGUE.keys() | PROCESS.keys()
        or (histogram in CATALOGUE and CATALOGUE[histogram].kind == "histogram")
    )


def each_panel() -> Iterator[Any]:
    for board in BOARDS:
        for panel in board["panels"]:
            if panel["type"] != "row":
                yield pytest.param(board, panel, id=f"{board['uid']}-{panel['title']}")


def test_the_files_are_what_the_code_writes() -> None:
    assert {path.name: path.read_text() for path in FILES} == written(), "run `make dashboards`"
    for file, content in rules().items():
        assert file.read_text() == content, "run `make dashboards`"


@pytest.mark.parametrize("board", BOARDS, ids=[board["uid"] for board in BOARDS])
def test_grafana_knows_every_key(board: dict[str, Any]) -> None:
    """What the schema's classes do not know is lost on the way through them."""
    assert through_the_schema(board) == board


def through_the_schema(board: dict[str, Any]) -> Any:
    return json.loads(JSONEncoder().encode(in_sight(Dashboard.from_json(board))))


@pytest.mark.parametrize(
    "path",
    [
        ("titel",),
        ("panels", 1, "descripton"),
        ("panels", 1, "options", "graphmode"),
        ("panels", 1, "fieldConfig", "defaults", "unti"),
        ("panels", 1, "targets", 0, "exprr"),
        ("panels", 12, "fieldConfig", "defaults", "custom", "linewidth"),
        ("templating", "list", 1, "includeall"),
    ],
)
def test_a_misspelt_key_would_be_found(path: tuple[Any, ...]) -> None:
    (board,) = (json.loads(json.dumps(each)) for each in BOARDS if "learning" in each["uid"])
    place = board
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = "value"
    assert through_the_schema(board) != board


@pytest.mark.parametrize("board", BOARDS, ids=[board["uid"] for board in BOARDS])
def test_a_dashboard_keeps_to_the_linters_rules(board: dict[str, Any]) -> None:
    assert board["editable"] is False
    assert board["uid"]
    assert board["title"]
    assert board["description"]
    assert "id" not in board
    variables = {each["name"]: each for each in board["templating"]["list"]}
    source = variables.pop("datasource")
    assert (source["type"], source["query"], source["label"]) == (
        "datasource",
        "prometheus",
        "Data source",
    )
    assert {"job", "instance"} <= variables.keys()
    at = variables.pop("at")
    assert (at["hide"], at["multi"], at["includeAll"]) == (2, False, False)
    assert at["query"]["query"] == at["definition"]
    assert at["datasource"]["uid"] == "${datasource}"
    for name, each in variables.items():
        assert each["type"] == "query"
        assert each["datasource"]["uid"] == "${datasource}"
        assert each["label"] == name.capitalize()
        assert each["multi"]
        assert each["includeAll"]
        assert each["allValue"] == ".+"
        assert each["query"]["query"] == each["definition"]
    assert [link["tags"] for link in board["links"]] == [["stream-rank"]]
    assert board["tags"] == ["stream-rank"]
    assert {each["name"] for each in board["annotations"]["list"]} >= {
        "Restarts",
        "Rebalances",
        "Drifts",
        "Alerts",
    }
    colours = [each["iconColor"] for each in board["annotations"]["list"]]
    assert len({*colours, LEVEL}) == len(colours) + 1


@pytest.mark.parametrize(("board", "panel"), [*each_panel()])
def test_a_panel_keeps_to_the_linters_rules(board: dict[str, Any], panel: dict[str, Any]) -> None:
    assert panel["title"]
    assert len(panel["description"]) > 20
    assert panel["fieldConfig"]["defaults"]["unit"] in _UNITS
    assert panel["type"] in {"stat", "timeseries", "table", "state-timeline"}  # core ones
    assert "pluginVersion" not in panel
    assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    assert panel["targets"]
    letters = [target["refId"] for target in panel["targets"]]
    assert len(set(letters)) == len(letters)
    for target in panel["targets"]:
        assert target["datasource"]["uid"] == "${datasource}"
        expression = target["expr"]
        for selector in re.findall(r"[\w:]+\{([^}]*)\}", expression):
            assert 'job=~"$job"' in selector
            assert 'instance=~"$instance"' in selector
        bare = set(re.findall(r"(?<![\w:$\"])(?:stream_rank|process)_\w+(?![\w{(])", expression))
        assert not bare, "a series without job and instance"
        for window in re.findall(r"\[([^\]]*)\]", expression):
            assert window in ("$__rate_interval", "$__range", "5m", "15m", "1h", "1d")
        for window in re.findall(r"rate\([^)]*\[([^\]]*)\]", expression):
            assert window == "$__rate_interval"
        counters = [name for name in names(expression) if is_counter(name)]
        for name in counters:
            assert re.search(rf"(rate|increase)\({name}\{{", expression), name


def is_counter(name: str) -> bool:
    return name.endswith(("_total", "_bucket", "_count", "_sum"))


def test_every_name_is_in_the_catalogue() -> None:
    asked = {
        name for board in BOARDS for _, target in targets(board) for name in names(target["expr"])
    }
    for board in BOARDS:
        asked |= {n for each in board["annotations"]["list"] for n in names(each["expr"])}
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        asked |= {name for rule in group["rules"] for name in names(rule["expr"])}
    assert len(asked) > 40
    assert {name for name in asked if not known(name)} == set()


@pytest.mark.parametrize("board", BOARDS, ids=[board["uid"] for board in BOARDS])
def test_panels_do_not_overlap_and_fill_their_rows(board: dict[str, Any]) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not taken & cells, panel["title"]
        taken |= cells
    bottom = max(y for _, y in taken) + 1
    assert len(taken) == 24 * bottom, "there is a hole"


def test_the_first_row_says_it_in_words() -> None:
    for board in BOARDS:
        second = [p["gridPos"]["y"] for p in board["panels"] if p["type"] == "row"][1]
        first = [p for p in board["panels"] if 0 < p["gridPos"]["y"] < second]
        tiles = [panel for panel in first if panel["type"] == "stat"]
        titles = [panel["title"] for panel in tiles]
        assert titles[:3] == ["Up", "Kafka", "Learning"]
        assert {"Rejects", "Alerts"} <= set(titles)
        assert len(set(titles)) == len(titles) >= 8
        assert {panel["type"] for panel in first} <= {"stat", "state-timeline"}
        for panel in tiles:
            said = panel["fieldConfig"]["defaults"].get("mappings", ())
            assert all(each["options"]["result"]["text"] for each in said)
            assert panel["options"]["colorMode"] == "background_solid"
            unknown = [e["options"]["result"] for e in said if e["type"] == "special"]
            assert {each["color"] for each in unknown} <= {UNKNOWN}


def test_axes_and_colours_say_what_there_is() -> None:
    for board in BOARDS:
        for panel in board["panels"]:
            if panel["type"] == "timeseries":
                custom = panel["fieldConfig"]["defaults"]["custom"]
                assert custom["showPoints"] == "never", "a lone point"
                color = panel["fieldConfig"]["defaults"]["color"]["mode"]
                assert color == "palette-classic-by-name", "one that changes with the others"
                if panel["fieldConfig"]["defaults"]["unit"] == "recps":
                    assert custom["axisSoftMax"] >= 1, "next to nothing fills the axis"
