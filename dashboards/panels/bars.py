"""Numbers side by side."""

from grafana_foundation_sdk.builders import bargauge, common, dashboard
from grafana_foundation_sdk.models import common as shape
from grafana_foundation_sdk.models.dashboard import FieldColorModeId

from dashboards.panels.parts import Panel, described, query

__all__ = ["bars"]


def bars(
    title: str, meaning: str, unit: str, expression: str, legend: str, width: int = 8
) -> Panel:
    """A bar for every series, as long as its last number."""
    panel = (
        bargauge.Panel()
        .min(0)
        .orientation(shape.VizOrientation.HORIZONTAL)
        .display_mode(shape.BarGaugeDisplayMode.BASIC)
        .text(common.VizTextDisplayOptions().title_size(14).value_size(18))
        .color_scheme(dashboard.FieldColor().mode(FieldColorModeId.PALETTE_CLASSIC))
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
        .with_target(query(expression, legend, True, "A"))
    )
    return described(panel, title, meaning, unit, width, 8)
