"""Shares in a square."""

from grafana_foundation_sdk.builders import dashboard, table
from grafana_foundation_sdk.models import common as shape
from grafana_foundation_sdk.models.dashboard import (
    DataTransformerConfig,
    DynamicConfigValue,
    FieldColorModeId,
    Threshold,
    ThresholdsMode,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from dashboards.panels.parts import NARROW, Panel, described, query

__all__ = ["matrix"]

_BLUES = [
    Threshold(value=None, color="transparent"),
    Threshold(value=0.1, color="#3B6FBE"),
    Threshold(value=0.3, color="#1F60C4"),
    Threshold(value=0.6, color="#123F8C"),
]


def matrix(
    title: str,
    meaning: str,
    expression: str,
    row: str,
    column: str,
    nothing: str,
    width: int = 8,
    height: int = 8,
) -> Panel:
    """Shares in a square, by two labels, the larger the bluer.

    In steps and not smoothly: of all blues between Grafana's lightest and its darkest, many are too dark for dark letters and too light
    for light ones.
    """
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
        .color_scheme(dashboard.FieldColor().mode(FieldColorModeId.THRESHOLDS))
        .thresholds(dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(_BLUES))
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
                DynamicConfigValue(id_val="displayName", value=f"{row} \\ {column}"),
                DynamicConfigValue(id_val="custom.cellOptions", value={"type": "auto"}),
                DynamicConfigValue(id_val="unit", value="none"),
            ],
        )
    )
    for each in (numbers, *sorts, turned):
        panel = panel.with_transformation(each)
    return described(panel, title, meaning, "percentunit", width, height, nothing)
