"""What panels of every kind are made of."""

from typing import Any

from grafana_foundation_sdk.builders import dashboard, prometheus
from grafana_foundation_sdk.models import common as shape
from grafana_foundation_sdk.models.dashboard import Threshold, ThresholdsMode

__all__ = [
    "BAD",
    "FAIR",
    "GOOD",
    "LEVEL",
    "NARROW",
    "NEUTRAL",
    "SOURCE",
    "UNKNOWN",
    "Panel",
    "described",
    "one_colour",
    "query",
]

SOURCE = shape.DataSourceRef(type_val="prometheus", uid="${datasource}")
GOOD, FAIR, BAD, NEUTRAL, UNKNOWN = "#1E7B34", "#B04A00", "#C4162A", "#1F60C4", "#5B616B"
"""Dark enough for Grafana's light letters, which it puts on all that is not very bright, in both themes; its own green is not."""
LEVEL = "#8E8E8E"
"""Of lines at a height that means something; no mark has it."""

NARROW = 50
"""The least width of a column: else Grafana gives each 150, and hides those that have no room."""

Panel = Any
"""A builder of a panel."""


def query(expression: str, legend: str, instant: bool, letter: str) -> prometheus.Dataquery:
    """What a panel asks Prometheus: of now, or of the time shown."""
    asked = prometheus.Dataquery().expr(expression).legend_format(legend).ref_id(letter)
    asked = asked.datasource(SOURCE)
    return asked.instant() if instant else asked.range()


def described(
    panel: Panel,
    title: str,
    meaning: str,
    unit: str,
    width: int,
    height: int,
    nothing: str | None = None,
) -> Panel:
    """A panel with what every one must have; `nothing` is said where there is nothing to show, instead of "No data"."""
    if nothing is not None:
        panel = panel.no_value(nothing)
    return (
        panel.title(title)
        .description(meaning)
        .datasource(SOURCE)
        .unit(unit)
        .span(width)
        .height(height)
    )


def one_colour(colour: str) -> dashboard.ThresholdsConfig:
    """Thresholds that colour everything alike."""
    steps = [Threshold(value=None, color=colour)]
    return dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps)
