"""The names of the alerts that fire."""

from grafana_foundation_sdk.builders import common, dashboard, stat
from grafana_foundation_sdk.models import common as shape
from grafana_foundation_sdk.models.dashboard import Threshold, ThresholdsMode

from dashboards.panels.parts import BAD, FAIR, GOOD, Panel, described, query

__all__ = ["firing"]

_RULES = "/alerting/list?search=${__field.labels.alertname}"


def firing(title: str, meaning: str, expression: str, nothing: str, width: int = 24) -> Panel:
    """A tile for each series, with its label `name`, that leads to the alert: 0 is well, 1 is about to fire, 2 fires."""
    steps = [Threshold(value=None, color=GOOD), Threshold(value=1, color=FAIR)]
    steps.append(Threshold(value=2, color=BAD))
    panel = (
        stat.Panel()
        .thresholds(dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps))
        .graph_mode(shape.BigValueGraphMode.NONE)
        .color_mode(shape.BigValueColorMode.BACKGROUND_SOLID)
        .justify_mode(shape.BigValueJustifyMode.CENTER)
        .text_mode(shape.BigValueTextMode.NAME)
        .text(common.VizTextDisplayOptions().title_size(18))
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
        .data_links([dashboard.DashboardLink("The alert").url(_RULES)])
        .with_target(query(expression, "{{name}}", True, "A"))
    )
    return described(panel, title, meaning, "none", width, 3, nothing)
