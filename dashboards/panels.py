"""The few kinds of panels that the dashboards are made of; core ones, which every Grafana has."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from grafana_foundation_sdk.builders import (
    bargauge,
    common,
    dashboard,
    prometheus,
    stat,
    table,
    timeseries,
)
from grafana_foundation_sdk.models import common as shape
from grafana_foundation_sdk.models.dashboard import (
    DashboardRangeMapOptions,
    DashboardSpecialValueMapOptions,
    DataTransformerConfig,
    DynamicConfigValue,
    FieldColorModeId,
    MatcherConfig,
    RangeMap,
    SpecialValueMap,
    SpecialValueMatch,
    Threshold,
    ThresholdsMode,
    ValueMapping,
    ValueMappingResult,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

__all__ = [
    *("BAD", "FAIR", "GOOD", "NEUTRAL", "SOURCE"),
    *("Column", "Panel", "Scale", "Word", "bars", "lines", "matrix", "overview", "words"),
]

SOURCE = shape.DataSourceRef(type_val="prometheus", uid="${datasource}")
GOOD, FAIR, BAD, NEUTRAL = "green", "orange", "red", "blue"

_NARROW = 50
"""The least width of a column: else Grafana gives each 150, and hides those that have no room."""
_BEYOND = 1e15
"""More than what is said in words can be."""

Panel = Any
"""A builder of a panel."""


class Word(NamedTuple):
    """What a number means, up to (and without) a bound."""

    below: float | None
    text: str
    colour: str


class Scale(Enum):
    """What the vertical axis of lines shows."""

    FROM_ZERO = "all that there is, and 0"
    WHOLE = "shares of a whole, all of it"
    DECADES = "each ten times the last"
    """For times: a start takes a minute, an event a few microseconds."""
    TIGHT = "what there is"


def _query(expression: str, legend: str, instant: bool, letter: str) -> prometheus.Dataquery:
    query = prometheus.Dataquery().expr(expression).legend_format(legend).ref_id(letter)
    query = query.datasource(SOURCE)
    return query.instant() if instant else query.range()


def _common(panel: Panel, title: str, meaning: str, unit: str, width: int, height: int) -> Panel:
    return (
        panel.title(title)
        .description(meaning)
        .datasource(SOURCE)
        .unit(unit)
        .span(width)
        .height(height)
    )


def _one_colour(colour: str) -> dashboard.ThresholdsConfig:
    steps = [Threshold(value=None, color=colour)]
    return dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps)


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
        .thresholds(_one_colour(NEUTRAL))
        .no_value(nothing)
        .graph_mode(shape.BigValueGraphMode.NONE)
        .color_mode(shape.BigValueColorMode.BACKGROUND)
        .justify_mode(shape.BigValueJustifyMode.CENTER)
        .text_mode(shape.BigValueTextMode.VALUE)
        .text(common.VizTextDisplayOptions().value_size(18))
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
        .with_target(_query(expression, "", True, "A"))
    )
    return _common(panel, title, meaning, "none", width, 4)


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
) -> Panel:
    """Series against time, by their legends; `level` is a height that means something, and is drawn.

    What is stacked has no outlines: that of a series which is 0 would lie on the one below, in its own colour.
    """
    panel = (
        timeseries.Panel()
        .line_width(0 if stacked else 1.5)
        .fill_opacity(70 if stacked else 6)
        .show_points(shape.VisibilityMode.AUTO)
        .color_scheme(dashboard.FieldColor().mode(FieldColorModeId.PALETTE_CLASSIC))
        .legend(
            common.VizLegendOptions()
            .display_mode(shape.LegendDisplayMode.LIST)
            .placement(shape.LegendPlacement.BOTTOM)
            .show_legend(True)
        )
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
    if level is not None:
        steps_at = [Threshold(value=None, color="transparent"), Threshold(value=level, color=FAIR)]
        style = common.GraphThresholdsStyleConfig().mode(shape.GraphThresholdsStyleMode.LINE)
        panel = panel.thresholds(
            dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps_at)
        ).thresholds_style(style)
    for letter, (legend, expression) in zip("ABCDEFGH", expressions.items(), strict=False):
        panel = panel.with_target(_query(expression, legend, False, letter))
    return _common(panel, title, meaning, unit, width, height)


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
        .with_target(_query(expression, legend, True, "A"))
    )
    return _common(panel, title, meaning, unit, width, 8)


def matrix(
    title: str, meaning: str, expression: str, row: str, column: str, width: int = 8
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
    query = _query(expression, "", True, "A").format(PromQueryFormat.TABLE)
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
        .min_width(_NARROW)
        .filterable(False)
        .show_header(True)
        .with_target(query)
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
    return _common(panel, title, meaning, "percentunit", width, 8)


class Column(NamedTuple):
    """A column of an overview."""

    name: str
    unit: str
    expression: str
    fair: float | None = None
    """From here on it is coloured fair."""
    bad: float | None = None
    least: float | None = None
    """Below, it is coloured bad."""


def overview(title: str, meaning: str, columns: Sequence[Column], width: int = 24) -> Panel:
    """A line for each daemon, with numbers in columns; what is not well is coloured."""
    panel = (
        table.Panel()
        .thresholds(_one_colour("transparent"))
        .align(shape.FieldTextAlignment.AUTO)
        .min_width(_NARROW)
        .filterable(False)
        .show_header(True)
    )
    names = {"instance": "daemon"}
    for letter, column in zip("ABCDEFGHIJKL", columns, strict=False):
        query = _query(column.expression, "", True, letter).format(PromQueryFormat.TABLE)
        panel = panel.with_target(query)
        names[f"Value #{letter}"] = column.name
        panel = panel.with_override(
            MatcherConfig(id_val="byName", options=column.name), _look(column)
        )
    panel = panel.with_transformation(DataTransformerConfig(id_val="merge", options={}))
    panel = panel.with_transformation(
        DataTransformerConfig(
            id_val="organize",
            options={
                "excludeByName": {"Time": True, "job": True},
                "indexByName": {},
                "renameByName": names,
            },
        )
    )
    return _common(panel, title, meaning, "short", width, 9)


def _look(column: Column) -> list[DynamicConfigValue]:
    found = [DynamicConfigValue(id_val="unit", value=column.unit)]
    first = GOOD if column.least is None else BAD
    steps: list[dict[str, Any]] = [{"color": first, "value": None}]
    for colour, value in ((GOOD, column.least), (FAIR, column.fair), (BAD, column.bad)):
        steps += [{"color": colour, "value": value}] if value is not None else []
    if len(steps) > 1:
        unknown = {"match": "null+nan", "result": {"text": "", "color": "transparent", "index": 0}}
        found.append(
            DynamicConfigValue(id_val="mappings", value=[{"type": "special", "options": unknown}])
        )
        found += [
            DynamicConfigValue(id_val="thresholds", value={"mode": "absolute", "steps": steps}),
            DynamicConfigValue(
                id_val="custom.cellOptions", value={"type": "color-background", "mode": "basic"}
            ),
        ]
    return found
