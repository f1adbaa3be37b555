"""What every dashboard has: its variables, its marks on the time axis, its links, and rows."""

from collections.abc import Mapping, Sequence

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models.dashboard import (
    Dashboard,
    DashboardCursorSync,
    DashboardLinkType,
    VariableHide,
    VariableOption,
    VariableRefresh,
    VariableSort,
)

from dashboards.panels import SOURCE, Panel
from dashboards.queries import ONE_OF_SEVERAL, champion, grown, metric, ours, series

__all__ = ["framed", "in_sight"]

_TAG = "stream-rank"
_OLDEST_SCHEMA = 38
"""Of Grafana 10.0; newer ones bring it up to date when they read it."""

_STEP = "1m"
"""Marks are this far apart at least, and what grew between two of them is marked at the second, once."""
_DRIFTED = champion(f"{grown('drifts_total', _STEP)} > 0")
_FIRED = series("ALERTS", alertstate="firing")[:-1]
_MARKS = {
    # at the moment that is its value: what changed is not found where nothing was scraped for longer than the steps
    "Restarts": (
        "purple",
        ours(f"1000 * {series('process_start_time_seconds')}"),
        "start of {{instance}}",
        True,
    ),
    "Rebalances": (
        "blue",
        f"{grown('rebalances_total', _STEP)} > 0",
        "rebalance at {{instance}}",
        False,
    ),
    "Drifts": (
        "orange",
        f"sum by (job, instance, learner) ({_DRIFTED})",
        "drift of {{learner}} at {{instance}}",
        False,
    ),
    "Alerts": (
        "red",
        f'{_FIRED}, alertname=~"StreamRank.+", severity!="info"}}',
        "{{alertname}} at {{instance}}",
        False,
    ),
}
"""No two have a colour, nor that of level lines."""


def _variable(name: str, label: str, of: str, meaning: str) -> dashboard.QueryVariable:
    query = f"label_values({of}, {name})"
    return (
        dashboard.QueryVariable(name)
        .label(label)
        .description(meaning)
        .datasource(SOURCE)
        .query({"query": query, "refId": "StandardVariableQuery"})
        .definition(query)
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.ALPHABETICAL_ASC)
        .hide(VariableHide.DONT_HIDE)
        .multi(True)
        .include_all(True)
        .all_value(".+")
        .current(VariableOption(selected=True, text=["All"], value=["$__all"]))
    )


def _at() -> dashboard.QueryVariable:
    """What is put into legends for the instance. It is hidden, and nobody chooses it."""
    return (
        dashboard.QueryVariable("at")
        .description("The instance in legends, where there are several")
        .datasource(SOURCE)
        .query({"query": f"query_result({ONE_OF_SEVERAL})", "refId": "StandardVariableQuery"})
        .definition(f"query_result({ONE_OF_SEVERAL})")
        .regex('/at="([^"]*)"/')
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .hide(VariableHide.HIDE_VARIABLE)
        .multi(False)
        .include_all(False)
    )


def framed(
    uid: str,
    title: str,
    meaning: str,
    rows: Mapping[str, Sequence[Panel]],
    by_learner: bool = False,
) -> Dashboard:
    """A dashboard of rows of panels, which are numbered in their order."""
    board = (
        dashboard.Dashboard(title)
        .uid(uid)
        .description(meaning)
        .tags([_TAG])
        .readonly()
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .time("now-30m", "now")
        .refresh("10s")
        .timezone("browser")
        .with_variable(
            dashboard.DatasourceVariable("datasource")
            .label("Data source")
            .type("prometheus")
            .hide(VariableHide.DONT_HIDE)
        )
        .with_variable(
            _variable("job", "Job", "stream_rank_ready", "Prometheus's name for the daemons")
        )
        .with_variable(
            _variable(
                "instance", "Instance", 'stream_rank_ready{job=~"$job"}', "One daemon or several"
            )
        )
        .with_variable(_at())
        .link(
            dashboard.DashboardLink("stream-rank")
            .type(DashboardLinkType.DASHBOARDS)
            .tags([_TAG])
            .include_vars(True)
            .keep_time(True)
        )
    )
    if by_learner:
        of = metric("learner_info")  # which is there before anything was predicted
        board = board.with_variable(_variable("learner", "Learner", of, "Champion and challengers"))
    for name, (colour, expression, text, by_value) in _MARKS.items():
        board = board.annotation(
            dashboard.AnnotationQuery()
            .name(name)
            .datasource(SOURCE)
            .enable(True)
            .icon_color(colour)
            .expr(expression)
            .step(_STEP)
            .title_format(text)
            .text_format("")
            .tag_keys("")
            .use_value_for_time(by_value)
        )
    number = 0
    for row, panels in rows.items():
        number += 1
        board = board.with_row(dashboard.Row(row).id(number))
        for panel in panels:
            number += 1
            board = board.with_panel(panel.id(number))
    built = board.build()
    built.schema_version = _OLDEST_SCHEMA
    return in_sight(built)


def in_sight(board: Dashboard) -> Dashboard:
    """Leave links and marks where they are seen at once; the schema's classes put them into a menu that only Grafana 12 has."""
    for link in board.links or []:
        link.placement = None  # type: ignore[assignment]
    for mark in (board.annotations and board.annotations.list_val) or []:
        mark.placement = None  # type: ignore[assignment]
    return board
