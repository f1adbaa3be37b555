"""Numbers against time."""

from collections.abc import Mapping
from enum import Enum

from grafana_foundation_sdk.builders import common, dashboard, timeseries
from grafana_foundation_sdk.models import common as shape
from grafana_foundation_sdk.models.dashboard import (
    DynamicConfigValue,
    FieldColorModeId,
    Threshold,
    ThresholdsMode,
)

from dashboards.panels.parts import LEVEL, Panel, described, query

__all__ = ["Scale", "lines"]


class Scale(Enum):
    """What the vertical axis of lines shows."""

    FROM_ZERO = "all that there is, and 0"
    WHOLE = "shares of a whole, all of it"
    DECADES = "each ten times the last"
    """For times: a start takes a minute, an event a few microseconds."""
    TIGHT = "what there is"


def _legend(many: bool) -> common.VizLegendOptions:
    legend = common.VizLegendOptions().placement(shape.LegendPlacement.BOTTOM).show_legend(True)
    if many:
        return legend.display_mode(shape.LegendDisplayMode.TABLE).calcs(["lastNotNull", "mean"])
    return legend.display_mode(shape.LegendDisplayMode.LIST)


def lines(
    title: str,
    meaning: str,
    unit: str,
    expressions: Mapping[str, str],
    width: int = 8,
    height: int = 8,
    stacked: bool = False,
    steps: bool = False,
    scale: Scale = Scale.FROM_ZERO,
    level: float | None = None,
    nothing: str | None = None,
    about: float | None = None,
    many: bool = False,
    colours: Mapping[str, str] | None = None,
) -> Panel:
    """Series against time, by their legends; `level` is a height that means something, and is drawn, always in sight.

    `about` is what the axis shows at least: else next to nothing would fill it. Where there may be `many` series, the legend is a table
    with their last numbers and their means. `colours` are of legends that stand for outcomes, and the same everywhere; a learner has
    the one that follows from its name.

    What is stacked has no outlines: that of a series which is 0 would lie on the one below, in its own colour. A single sample is
    not drawn: a point would say that there was something at one moment and nothing around it.
    """
    panel = (
        timeseries.Panel()
        .line_width(0 if stacked else 1.5)
        .fill_opacity(70 if stacked else 6)
        .show_points(shape.VisibilityMode.NEVER)
        .color_scheme(dashboard.FieldColor().mode(FieldColorModeId.PALETTE_CLASSIC_BY_NAME))
        .legend(_legend(many))
        .tooltip(
            common.VizTooltipOptions()
            .mode(shape.TooltipDisplayMode.MULTI)
            .sort(shape.SortOrder.DESCENDING)
        )
    )
    if stacked:
        panel = panel.stacking(common.StackingConfig().mode(shape.StackingMode.NORMAL).group("A"))
    if steps:
        panel = panel.line_interpolation(shape.LineInterpolation.STEP_AFTER)
    if scale is Scale.FROM_ZERO:
        panel = panel.axis_soft_min(0)
    elif scale is Scale.WHOLE:
        panel = panel.min(0).max(1)
    elif scale is Scale.DECADES:
        decades = common.ScaleDistributionConfig().type(shape.ScaleDistribution.LOG).log(10)
        panel = panel.scale_distribution(decades)
    if about is not None:
        panel = panel.axis_soft_max(about)
    for legend, colour in (colours or {}).items():
        fixed = DynamicConfigValue(id_val="color", value={"mode": "fixed", "fixedColor": colour})
        panel = panel.override_by_name(legend, [fixed])
    if level is not None:
        steps_at = [Threshold(value=None, color="transparent"), Threshold(value=level, color=LEVEL)]
        style = common.GraphThresholdsStyleConfig().mode(shape.GraphThresholdsStyleMode.DASHED)
        panel = panel.thresholds(
            dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps_at)
        ).thresholds_style(style)
        # soft bounds give way to what there is beyond them
        panel = panel.axis_soft_min(min(level, 0) if scale is Scale.FROM_ZERO else level)
        panel = panel.axis_soft_max(level)
    for letter, (legend, expression) in zip("ABCDEFGH", expressions.items(), strict=False):
        panel = panel.with_target(query(expression, legend, False, letter))
    return described(panel, title, meaning, unit, width, height, nothing)
