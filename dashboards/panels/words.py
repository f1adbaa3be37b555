"""A number said in a word."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from grafana_foundation_sdk.builders import common, stat
from grafana_foundation_sdk.models import common as shape
from grafana_foundation_sdk.models.dashboard import (
    DashboardRangeMapOptions,
    DashboardSpecialValueMapOptions,
    RangeMap,
    SpecialValueMap,
    SpecialValueMatch,
    ValueMapping,
    ValueMappingResult,
)

from dashboards.panels.parts import UNKNOWN, Panel, described, one_colour, query

__all__ = ["Word", "as_mappings", "words"]

_BEYOND = 1e15
"""More than what is said in words can be."""


class Word(NamedTuple):
    """What a number means, up to a bound. A number that is the bound means it too, so bounds are where no number is."""

    below: float | None
    text: str
    colour: str


def _bounds(said: Sequence[Word]) -> list[tuple[float, float]]:
    """Bounds are inclusive in Grafana, and the first that fits is taken."""
    highs = [_BEYOND if word.below is None else word.below for word in said]
    return list(zip([-_BEYOND, *highs], highs, strict=False))


def as_mappings(said: Sequence[Word]) -> list[dict[str, Any]]:
    """The words, as they are written where the schema has no classes for them."""
    return [
        {
            "type": "range",
            "options": {
                "from": low,
                "to": high,
                "result": {"text": word.text, "color": word.colour, "index": index},
            },
        }
        for index, (word, (low, high)) in enumerate(zip(said, _bounds(said), strict=True))
    ]


def words(
    title: str, meaning: str, expression: str, said: Sequence[Word], nothing: str, width: int
) -> Panel:
    """One number, said in a word on its colour; `nothing` is said, in grey, where there is none."""
    mappings: list[ValueMapping] = []
    for index, (word, (low, high)) in enumerate(zip(said, _bounds(said), strict=True)):
        result = ValueMappingResult(text=word.text, color=word.colour, index=index)
        options = DashboardRangeMapOptions(from_val=low, to=high, result=result)
        mappings.append(RangeMap(options=options))
    none = ValueMappingResult(text=nothing, color=UNKNOWN, index=len(said))
    mappings.append(
        SpecialValueMap(
            options=DashboardSpecialValueMapOptions(
                match=SpecialValueMatch.NULL_AND_NAN, result=none
            )
        )
    )
    panel = (
        stat.Panel()
        .mappings(mappings)
        .thresholds(one_colour(UNKNOWN))
        .graph_mode(shape.BigValueGraphMode.NONE)
        .color_mode(shape.BigValueColorMode.BACKGROUND_SOLID)
        .justify_mode(shape.BigValueJustifyMode.CENTER)
        .text_mode(shape.BigValueTextMode.VALUE)
        .text(common.VizTextDisplayOptions().value_size(18))
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
        .with_target(query(expression, "", True, "A"))
    )
    return described(panel, title, meaning, "none", width, 3, nothing)
