"""Numbers side by side."""

from grafana_foundation_sdk.builders import bargauge, common, dashboard
from grafana_foundation_sdk.models import common as shape
from grafana_foundation_sdk.models.dashboard import FieldColorModeId, Threshold, ThresholdsMode

from dashboards.panels.parts import BAD, GOOD, Panel, described, query

__all__ = ["bars"]


def bars(
    title: str,
    meaning: str,
    unit: str,
    expression: str,
    legend: str,
    width: int = 8,
    nothing: str | None = None,
    limit: float | None = None,
) -> Panel:
    """A bar for every series, as long as its last number; bad from a `limit` on, which is drawn, of shares that are at most 1."""
    panel = (
        bargauge.Panel()
        .min(0)
        .orientation(shape.VizOrientation.HORIZONTAL)
        .display_mode(shape.BarGaugeDisplayMode.BASIC)
        .text(common.VizTextDisplayOptions().title_size(14).value_size(18))
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
        .with_target(query(expression, legend, True, "A"))
    )
    mode = FieldColorModeId.PALETTE_CLASSIC
    if limit is not None:
        mode = FieldColorModeId.THRESHOLDS
        steps = [Threshold(value=None, color=GOOD), Threshold(value=limit, color=BAD)]
        panel = panel.max(1).thresholds(
            dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps)
        )
    panel = panel.color_scheme(dashboard.FieldColor().mode(mode))
    return described(panel, title, meaning, unit, width, 8, nothing)
