"""Numbers side by side."""

from grafana_foundation_sdk.builders import table
from grafana_foundation_sdk.models import common as shape
from grafana_foundation_sdk.models.dashboard import DataTransformerConfig, DynamicConfigValue

from dashboards.panels.parts import Panel, described, query

__all__ = ["numbers"]

_NAME, _VALUE = "Field", "Last *"
"""The columns that Grafana makes of series: their legends, and their last numbers."""
_ROOM = 66
"""The width of a column of numbers."""


def numbers(
    title: str,
    meaning: str,
    unit: str,
    expression: str,
    legend: str,
    nothing: str,
    width: int = 8,
    height: int = 8,
) -> Panel:
    """A line for every series, with its legend and its last number.

    Not bars: the longest would be full whatever it is, a single one has no name, and words for nothing do not wrap.
    """
    turned = DataTransformerConfig(id_val="reduce", options={"reducers": ["lastNotNull"]})
    sort = DataTransformerConfig(
        id_val="sortBy", options={"fields": {}, "sort": [{"field": _NAME}]}
    )
    panel = (
        table.Panel()
        .show_header(False)
        .filterable(False)
        .cell_options(shape.TableAutoCellOptions(wrap_text=True))
        .with_target(query(expression, legend, True, "A"))
        .with_transformation(turned)
        .with_transformation(sort)
        .override_by_name(_VALUE, [DynamicConfigValue(id_val="custom.width", value=_ROOM)])
    )
    return described(panel, title, meaning, unit, width, height, nothing)
