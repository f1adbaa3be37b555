"""Shares in a square."""

from grafana_foundation_sdk.builders import dashboard, table
from grafana_foundation_sdk.models import common as shape
from grafana_foundation_sdk.models.dashboard import (
    DataTransformerConfig,
    DynamicConfigValue,
    FieldColorModeId,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from dashboards.panels.parts import NARROW, Panel, described, query

__all__ = ["matrix"]


def matrix(
    title: str,
    meaning: str,
    expression: str,
    row: str,
    column: str,
    nothing: str,
    width: int = 8,
) -> Panel:
    """Shares in a square, by two labels, the larger the bluer."""
    numbers = DataTransformerConfig(  # labels are text, and 10 comes before 2
        id_val="convertFieldType",
        options={
            "fields": {},
            "conversions": [
                {"targetField": field, "destinationType": "number"} for field in (row, column)
            ],
        },
    )
    sorts = [
        DataTransformerConfig(id_val="sortBy", options={"fields": {}, "sort": [{"field": field}]})
        for field in (column, row)
    ]
    turned = DataTransformerConfig(
        id_val="groupingToMatrix",
        options={"rowField": row, "columnField": column, "valueField": "Value"},
    )
    asked = query(expression, "", True, "A").format(PromQueryFormat.TABLE)
    panel = (
        table.Panel()
        .min(0)
        .max(1)
        .decimals(0)
        .color_scheme(dashboard.FieldColor().mode(FieldColorModeId.CONTINUOUS_BLUES))
        .cell_options(
            shape.TableColoredBackgroundCellOptions(mode=shape.TableCellBackgroundDisplayMode.BASIC)
        )
        .align(shape.FieldTextAlignment.CENTER)
        .min_width(NARROW)
        .filterable(False)
        .show_header(True)
        .with_target(asked)
        .override_by_name(
            f"{row}\\{column}",
            [
                DynamicConfigValue(id_val="displayName", value=row),
                DynamicConfigValue(id_val="custom.cellOptions", value={"type": "auto"}),
                DynamicConfigValue(id_val="unit", value="none"),
            ],
        )
    )
    for each in (numbers, *sorts, turned):
        panel = panel.with_transformation(each)
    return described(panel, title, meaning, "percentunit", width, 8, nothing)
