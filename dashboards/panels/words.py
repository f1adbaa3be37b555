"""A number said in a word."""

from collections.abc import Sequence
from typing import NamedTuple

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

from dashboards.panels.parts import NEUTRAL, Panel, described, one_colour, query

__all__ = ["Word", "words"]

_BEYOND = 1e15
"""More than what is said in words can be."""


class Word(NamedTuple):
    """What a number means, up to (and without) a bound."""

    below: float | None
    text: str
    colour: str


def words(
    title: str, meaning: str, expression: str, said: Sequence[Word], nothing: str, width: int = 4
) -> Panel:
    """One number, said in a word on its colour; `nothing` is said where there is none."""
    mappings: list[ValueMapping] = []
    low = -_BEYOND
    for index, word in enumerate(said):
        result = ValueMappingResult(text=word.text, color=word.colour, index=index)
        # bounds are inclusive in Grafana, and the first that fits is taken
        high = _BEYOND if word.below is None else word.below
        options = DashboardRangeMapOptions(from_val=low, to=high, result=result)
        mappings.append(RangeMap(options=options))
        low = high
    none = ValueMappingResult(text=nothing, color=NEUTRAL, index=len(said))
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
        .thresholds(one_colour(NEUTRAL))
        .graph_mode(shape.BigValueGraphMode.NONE)
        .color_mode(shape.BigValueColorMode.BACKGROUND)
        .justify_mode(shape.BigValueJustifyMode.CENTER)
        .text_mode(shape.BigValueTextMode.VALUE)
        .text(common.VizTextDisplayOptions().value_size(18))
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
        .with_target(query(expression, "", True, "A"))
    )
    return described(panel, title, meaning, "none", width, 3, nothing)
