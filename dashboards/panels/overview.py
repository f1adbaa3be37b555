"""A line for each daemon."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from grafana_foundation_sdk.builders import table
from grafana_foundation_sdk.models import common as shape
from grafana_foundation_sdk.models.dashboard import (
    DataTransformerConfig,
    DynamicConfigValue,
    MatcherConfig,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from dashboards.panels.parts import BAD, NARROW, Panel, described, one_colour, query
from dashboards.panels.words import Word, as_mappings

__all__ = ["Column", "overview"]

_ADDRESS = 124
"""The width of a column of addresses; what is longer is whole on a wider screen, and when it is pointed at."""
_ALL_ABOUT_IT = "/d/stream-rank-pipeline?var-datasource=${datasource}&var-instance=${__value.raw}&${__url_time_range}"
_NOTHING = -1
"""What stands for a number that a daemon does not have; none of them is ever below 0."""


class Column(NamedTuple):
    """A column of an overview."""

    name: str
    unit: str
    expression: str
    bad: float | None = None
    """From here on it is coloured."""
    nothing: str | None = None
    """What is said of a daemon that has no such number, but can be asked."""
    said: Sequence[Word] = ()
    """What is said instead of a number."""
    width: int | None = None


def overview(
    title: str, meaning: str, columns: Sequence[Column], asked: str, width: int = 24
) -> Panel:
    """A line for each daemon, with a few numbers in columns, so that they have room on a phone; what is not well is coloured.

    `asked` has a series for each daemon that answers, of which the others leave their cells empty.
    """
    panel = (
        table.Panel()
        .thresholds(one_colour("transparent"))
        .align(shape.FieldTextAlignment.AUTO)
        .min_width(NARROW)
        .filterable(False)
        .show_header(True)
        .override_by_name("daemon", _address())
    )
    names = {"instance": "daemon"}
    for letter, column in zip("ABCDEFGHIJKLMN", columns, strict=False):
        expression = column.expression
        if column.nothing is not None:
            expression = f"{expression} or {asked} * 0 - {-_NOTHING}"
        target = query(expression, "", True, letter).format(PromQueryFormat.TABLE)
        panel = panel.with_target(target)
        names[f"Value #{letter}"] = column.name
        panel = panel.with_override(
            MatcherConfig(id_val="byName", options=column.name), _look(column)
        )
    panel = panel.with_transformation(DataTransformerConfig(id_val="merge", options={}))
    panel = panel.with_transformation(
        DataTransformerConfig(
            id_val="organize",
            options={
                "excludeByName": {"Time": True, "job": True},
                "indexByName": {},
                "renameByName": names,
            },
        )
    )
    return described(panel, title, meaning, "short", width, 9)


def _address() -> list[DynamicConfigValue]:
    link = {"title": "All about it", "url": _ALL_ABOUT_IT}
    return [
        DynamicConfigValue(id_val="custom.minWidth", value=_ADDRESS),
        DynamicConfigValue(id_val="links", value=[link]),
    ]


def _look(column: Column) -> list[DynamicConfigValue]:
    found = [DynamicConfigValue(id_val="unit", value=column.unit)]
    if column.unit == "s":
        found.append(DynamicConfigValue(id_val="decimals", value=0))
    if column.width is not None:
        found.append(DynamicConfigValue(id_val="custom.width", value=column.width))
    said: list[dict[str, Any]] = as_mappings(column.said)
    if column.nothing is not None:
        result = {"text": column.nothing, "color": "transparent", "index": 0}
        said.append({"type": "value", "options": {str(_NOTHING): result}})
    if column.bad is not None or column.said:
        steps: list[dict[str, Any]] = [{"color": "transparent", "value": None}]
        steps += [{"color": BAD, "value": column.bad}] if column.bad is not None else []
        unknown = {"match": "null+nan", "result": {"text": "", "color": "transparent", "index": 9}}
        said.append({"type": "special", "options": unknown})
        found += [
            DynamicConfigValue(id_val="thresholds", value={"mode": "absolute", "steps": steps}),
            DynamicConfigValue(
                id_val="custom.cellOptions", value={"type": "color-background", "mode": "basic"}
            ),
        ]
    if said:
        found.append(DynamicConfigValue(id_val="mappings", value=said))
    return found
