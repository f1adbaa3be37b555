"""Words against time."""

from collections.abc import Mapping, Sequence

from grafana_foundation_sdk.builders import common, dashboard, statetimeline
from grafana_foundation_sdk.models import common as shape
from grafana_foundation_sdk.models.dashboard import (
    DynamicConfigValue,
    FieldColorModeId,
    MatcherConfig,
)

from dashboards.panels.parts import UNKNOWN, Panel, described, one_colour, query
from dashboards.panels.words import Word, as_mappings

__all__ = ["timeline"]


def timeline(
    title: str,
    meaning: str,
    expressions: Mapping[str, tuple[str, Sequence[Word]]],
    width: int,
    height: int,
    nothing: str,
) -> Panel:
    """A line for each series, by its legend, coloured by the words for its numbers; of times of which nothing is known it is empty."""
    panel = (
        statetimeline.Panel()
        .thresholds(one_colour(UNKNOWN))
        .color_scheme(dashboard.FieldColor().mode(FieldColorModeId.THRESHOLDS))
        .merge_values(True)
        .show_value(shape.VisibilityMode.NEVER)  # letters would be cut off wherever it was short
        .row_height(0.8)
        .fill_opacity(90)
        .line_width(0)
        .legend(
            common.VizLegendOptions()
            .display_mode(shape.LegendDisplayMode.LIST)
            .placement(shape.LegendPlacement.BOTTOM)
            .show_legend(False)
        )
        .tooltip(common.VizTooltipOptions().mode(shape.TooltipDisplayMode.SINGLE))
    )
    for letter, (legend, (expression, said)) in zip("ABCDEFGH", expressions.items(), strict=False):
        panel = panel.with_target(query(expression, legend, False, letter))
        panel = panel.with_override(
            MatcherConfig(id_val="byFrameRefID", options=letter),
            [DynamicConfigValue(id_val="mappings", value=as_mappings(said))],
        )
    return described(panel, title, meaning, "none", width, height, nothing)
