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

from dashboards.panels.parts import BAD, FAIR, GOOD, NARROW, Panel, described, one_colour, query

__all__ = ["Column", "overview"]

_ADDRESS, _BIT = 140, 44
"""The widths of a column of addresses, and of one of 0 and 1."""
_NOTHING = -1
"""What stands for a number that a daemon does not have; none of them is ever below 0."""


class Column(NamedTuple):
    """A column of an overview."""

    name: str
    unit: str
    expression: str
    fair: float | None = None
    """From here on it is coloured fair."""
    bad: float | None = None
    least: float | None = None
    """Below, it is coloured bad."""
    nothing: str | None = None
    """What is said of a daemon that has no such number, but can be asked."""
    narrow: bool = False
    """Whether it is 0 or 1."""


def overview(
    title: str, meaning: str, columns: Sequence[Column], asked: str, width: int = 24
) -> Panel:
    """A line for each daemon, with numbers in columns; what is not well is coloured.

    `asked` has a series for each daemon that answers, of which the others leave their cells empty.
    """
    panel = (
        table.Panel()
        .thresholds(one_colour("transparent"))
        .align(shape.FieldTextAlignment.AUTO)
        .min_width(NARROW)
        .filterable(False)
        .show_header(True)
        .override_by_name("daemon", [DynamicConfigValue(id_val="custom.width", value=_ADDRESS)])
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


def _look(column: Column) -> list[DynamicConfigValue]:
    found = [DynamicConfigValue(id_val="unit", value=column.unit)]
    if column.narrow:
        found.append(DynamicConfigValue(id_val="custom.width", value=_BIT))
    first = GOOD if column.least is None else BAD
    steps: list[dict[str, Any]] = [{"color": first, "value": None}]
    for colour, value in ((GOOD, column.least), (FAIR, column.fair), (BAD, column.bad)):
        steps += [{"color": colour, "value": value}] if value is not None else []
    said: list[dict[str, Any]] = []
    if column.nothing is not None:
        result = {"text": column.nothing, "color": "transparent", "index": 0}
        said.append({"type": "value", "options": {str(_NOTHING): result}})
    if len(steps) > 1:
        unknown = {"match": "null+nan", "result": {"text": "", "color": "transparent", "index": 1}}
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
