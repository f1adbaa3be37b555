"""The part of a report that compares learners: which to take, how sure that is, and who led when."""

from collections.abc import Mapping, Sequence
from html import escape

from stream_rank.evaluation.board import Board
from stream_rank.evaluation.comparison import Compared, costs, recommendation
from stream_rank.report.charts import Line, line_chart
from stream_rank.report.interval_chart import interval_chart
from stream_rank.report.verdict import number

__all__ = ["comparison"]

_LOSSES = {
    "rank": ("rank loss", "recent"),
    "magnitude": ("magnitude loss of neighbouring events", "recent"),
    "preference": ("preference error", "recent_preference_error"),
}
"""What a loss is called, and where a point of the curves has it."""
_TITLES = (
    *("learner", "on the last half", "90 %", "behind the best", "best in", "skill lately"),
    "µs an event",
)


def comparison(some: Sequence[Compared], boards: Mapping[str, Board]) -> str:
    """The section; nothing if there is nothing to compare."""
    parts = []
    for kind, (called, point) in _LOSSES.items():
        alike = [each for each in some if each.loss == kind]
        if len(alike) > 1:
            words = " ".join(recommendation(alike))
            parts.append(
                f'<h2>Which to take: {called}</h2><p class="lead">{escape(words)}</p>{_table(alike)}'
            )
            parts.append(_pictures(alike, boards, called, point))
    if parts:
        parts.append(
            '<p class="note">The last half of the stream is what learners are compared on, since all of them have to learn first. The '
            "intervals have the loss in them with a confidence of 90 %: they are of draws of runs of neighbouring events with their "
            "losses (circular block bootstrap). All learners have the same draws, so how far one is <b>behind the best</b> is surer than "
            "its loss is. <b>Best in</b> says in how many of the draws it lost least.</p>"
        )
    return "".join(parts)


def _table(some: Sequence[Compared]) -> str:
    rows = []
    for each in some:
        likely = "–" if each.likely is None else " to ".join(map(number, each.likely))
        behind = "–" if each.behind is None else " to ".join(map(number, each.behind))
        chance = "–" if each.chance is None else f"{each.chance:.0%}"
        skill = number(each.standing.recent_skill)
        cells = (number(each.late), likely, behind, chance, skill, costs(each.microseconds))
        shown = "".join(f"<td>{cell}</td>" for cell in (escape(each.name), *cells))
        mark = ' class="best"' if each.level and not each.standing.beaten else ""
        rows.append(f"<tr{mark}>{shown}</tr>")
    head = "".join(f"<th>{title}</th>" for title in _TITLES)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _pictures(
    some: Sequence[Compared], boards: Mapping[str, Board], called: str, point: str
) -> str:
    means = {
        each.name: (each.late, *each.likely)
        for each in some
        if each.late is not None and each.likely is not None
    }
    if not means:
        return ""
    places = line_chart(
        _places([each.name for each in some], boards, point),
        *("events", "place"),
        from_zero=False,
        whole=True,
    )
    return (
        f'<div class="row"><div><h3>On the last half</h3>{interval_chart(means, called)}</div>'
        f"<div><h3>Who led when: 1 lost least lately</h3>{places}</div></div>"
    )


def _places(names: Sequence[str], boards: Mapping[str, Board], key: str) -> dict[str, Line]:
    """At each point of the curves, the place of each learner by what it lost lately."""
    recent = {
        name: {point["events"]: point[key] for point in boards[name].points} for name in names
    }
    found: dict[str, list[tuple[float, float | None]]] = {name: [] for name in names}
    for events in sorted(set[int]().union(*recent.values())):
        known = {name: losses.get(events) for name, losses in recent.items()}
        order = sorted(
            (loss, name) for name, loss in known.items() if isinstance(loss, int | float)
        )
        for place, (_, name) in enumerate(order, 1):
            found[name].append((events, place))
    return dict(found)
