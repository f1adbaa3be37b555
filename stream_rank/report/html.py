"""`report.html`: one self-contained page."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from stream_rank.evaluation.baseline import COIN, COIN_LOSS
from stream_rank.evaluation.board import Board
from stream_rank.evaluation.comparison import Compared
from stream_rank.evaluation.scoreboard import Scoreboard
from stream_rank.evaluation.set_board import COVERAGE
from stream_rank.evaluation.standing import Standing
from stream_rank.report.charts import CLIP, Line, heat_map, line_chart
from stream_rank.report.comparison import comparison
from stream_rank.report.hindsight import hindsight
from stream_rank.report.searches import searches
from stream_rank.report.verdict import Verdict, number, verdict_of

__all__ = ["report"]

_WEIGHTS_SHOWN = 8
_THRESHOLDS_SHOWN = 12

_STYLE = """
:root{color-scheme:light;font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;color:#1d2430;background:#fff}
body{max-width:1180px;margin:0 auto;padding:24px}
h1{font-size:26px;margin:0 0 4px}h2{font-size:19px;margin:36px 0 8px}h3{font-size:15px;margin:16px 0 4px}
p.lead{font-size:18px;margin:6px 0 18px}
.tiles{display:flex;flex-wrap:wrap;gap:12px;margin:12px 0}
.tiles div{border:1px solid #d9dee6;border-radius:8px;padding:8px 16px;min-width:110px}
.tiles b{display:block;font-size:20px}.tiles span{color:#5a6472;font-size:13px}
table{border-collapse:collapse;margin:8px 0}th,td{padding:4px 14px 4px 0;text-align:right;border-bottom:1px solid #e6e9ef}
th:first-child,td:first-child{text-align:left}tr.best td{font-weight:600}
svg{width:100%;max-width:720px;height:auto;font-size:12px}svg text{fill:#444}svg .grid{stroke:#e4e7ec}
p.bad{color:#a32020;max-width:900px}svg.key{width:22px;height:10px;margin-right:6px;vertical-align:middle}svg.heat{max-width:100%}
.legend span{margin-right:20px;display:inline-block;max-width:100%;overflow-wrap:anywhere}.row{display:flex;flex-wrap:wrap;gap:28px}.row>div{flex:1 1 420px;min-width:0}
details{margin-top:28px}code{font-size:13px;overflow-wrap:anywhere}.note{color:#5a6472;max-width:720px}
"""


def report(
    summary: Mapping[str, Any], scoreboard: Scoreboard, beside: Sequence[Compared] = ()
) -> str:
    """The page of a run; `beside` is how its learners compare."""
    boards = scoreboard.boards
    rated = {name: board for name, board in boards.items() if board.events}
    ranked = {name: board for name, board in rated.items() if board.ranks}
    scored = {name: board for name, board in rated.items() if not board.ranks}
    compared = {name: board for name, board in boards.items() if board.preferences.events}
    parts = [_head(summary, boards, verdict_of(boards)), comparison(beside, boards)]
    parts.append(searches(summary.get("searches", [])))
    if compared:
        parts.append(_preferences(summary, compared))
        drifts = {name: board.preferences.drifts for name, board in compared.items()}
        parts.append(_curves(compared, _PREFERENCES, drifts, summary))
    for some, curves in ((ranked, _RANKS), (scored, _MAGNITUDES)):
        if some:
            drifts = {name: board.drifts for name, board in some.items()}
            parts.append(_curves(some, curves, drifts, summary))
    parts.append(hindsight(summary.get("hindsight", {})))
    parts.append(_sets(ranked))
    parts.append(_found(ranked))
    parts.append(_confusion(ranked, summary["settings"].get("labels")))
    parts.append(_rules(boards))
    parts.append(_details(summary))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>stream-rank: a replay</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>{CLIP}'
        + "".join(parts)
        + "</body></html>\n"
    )


def _head(summary: Mapping[str, Any], boards: Mapping[str, Board], verdict: Verdict) -> str:
    tiles = [
        (number(summary["learned"]), "events learned"),
        (number(summary["requests"]), "without a label"),
        (number(summary["rejects"]), "rejects"),
        (number(summary["features"]), "features"),
        (number(summary["events_per_second"]), "events a second"),
    ]
    shown = "".join(f"<div><b>{value}</b><span>{name}</span></div>" for value, name in tiles)
    grouped = any(board.loss_by_group is not None for board in boards.values())
    rows = {
        name: [
            escape(summary["preparation"][name]),
            "ranks" if board.ranks else "scores",
            *_beside_baseline(board.standing),
            number(len(board.drifts)),
            *([number(board.loss_by_group)] if grouped else []),
        ]
        for name, board in boards.items()
    }
    titles = ["learner", "prepared by", "predicts", *_BESIDE_BASELINE, "drifts"]
    titles += ["mean loss of groups"] if grouped else []
    table = _table(titles, rows, verdict.best)
    complaints = verdict.complaints and f'<p class="bad">{verdict.complaints}</p>'
    rated = any(board.events for board in boards.values())
    note = "The magnitude loss is over the pairs of events within a group." if rated else ""
    return (
        f'<h1>Replay of {escape(", ".join(summary["settings"]["inputs"]))}</h1><p class="lead">{verdict.lead}</p><div class="tiles">{shown}</div>'
        f"{table if rated else ''}{complaints}"
        '<p class="note">Every event was predicted before it was learned; these are the losses of those predictions, '
        f"of all of them and of the last ones. {note} The skill is what a learner saves of the loss of its baseline, an answer "
        "that costs nothing: 1 is perfect, 0 is no better. Of ranks that is the median of the labels so far, of all events or of "
        "the event's group, whichever lost less; of scores it is any constant. What an event goes through before a learner is "
        "<b>prepared by</b> stages: <i>scale</i> takes numbers in deviations from their running mean, <i>normalize</i> divides by the "
        "running length of events; <i>raw</i> is nothing. Text is a feature <i>name=value</i> that is 1. Weights below are of prepared "
        "features.</p>"
    )


_BESIDE_BASELINE = ("loss", "recent loss", "baseline", "its loss", "skill", "recent skill")


def _beside_baseline(standing: Standing) -> list[str]:
    """The cells of `_BESIDE_BASELINE`."""
    return [
        number(standing.loss),
        number(standing.recent_loss),
        standing.baseline,
        number(standing.baseline_loss),
        number(standing.skill),
        number(standing.recent_skill),
    ]


def _table(titles: Sequence[str], rows: Mapping[str, Sequence[str]], best: str | None) -> str:
    """A table with a row for each learner."""
    head = "".join(f"<th>{title}</th>" for title in titles)
    lines = []
    for name, cells in rows.items():
        mark = ' class="best"' if name == best else ""
        shown = "".join(f"<td>{cell}</td>" for cell in (escape(name), *cells))
        lines.append(f"<tr{mark}>{shown}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _preferences(summary: Mapping[str, Any], boards: Mapping[str, Board]) -> str:
    """The losses of preferences."""
    columns = {
        "preferences": "preferences",
        "ties": "preference_ties",
        "error": "preference_error",
        "recent error": "recent_preference_error",
        "of the decided": "decided_preference_error",
        "skill": "preference_skill",
        "recent skill": "recent_preference_skill",
        "log-loss": "preference_log_loss",
        "recent log-loss": "recent_preference_log_loss",
        "Brier score": "preference_brier_score",
        "magnitude loss": "preference_magnitude_loss",
        "drifts": "preference_drifts",
    }
    rows = {}
    for name in boards:
        found = summary["learners"][name]
        values = (found.get(key) for key in columns.values())
        rows[name] = [number(len(v) if isinstance(v, list) else v) for v in values]
    known = {name: board.preferences.standing for name, board in boards.items()}
    errors = {n: each.recent_loss or 0.0 for n, each in known.items() if not each.beaten}
    best = min(errors, key=errors.__getitem__, default=None)
    return (
        f"<h2>Preferences</h2>{_table(('learner', *columns), rows, best)}"
        '<p class="note">A pair in the wrong order is an error, and half an error where a tie was predicted, or where one came '
        "and an order was predicted. The log-loss, in nats, and the Brier score are of the probabilities that the first was "
        "preferred, neither, or the second. The magnitude loss is the squared error of a difference of scores. The skill is what is saved of "
        "the error of a coin, which is a half.</p>"
    )


class _Curves(NamedTuple):
    """A loss, its unit, and where a point has what it is drawn against, and its values of all predictions and of the last."""

    loss: str
    unit: str
    against: str
    so_far: str
    recent: str
    highest: float | None = None
    """What the loss cannot exceed."""
    baselines: tuple[str, str] | None = None
    """Where a point has the same of the baseline; None of a coin."""


_BASELINES = "baseline", "recent_baseline"
_RANKS = _Curves(
    *("rank loss", "steps off, on average", "events", "loss", "recent"), baselines=_BASELINES
)
_MAGNITUDES = _Curves(
    *("magnitude loss", "squared error of differences", "events", "loss", "recent"),
    baselines=_BASELINES,
)
_PREFERENCES = _Curves(
    *("preference error", "share in the wrong order", "preferences"),
    *("preference_error", "recent_preference_error", 1.0),
)


def _curves(
    boards: Mapping[str, Board],
    curves: _Curves,
    drifts: Mapping[str, Sequence[float]],
    summary: Mapping[str, Any],
) -> str:
    window, against = summary["settings"]["window"], curves.against
    so_far, recent = (
        {name: [(p[against], p[key]) for p in b.points if p[against]] for name, b in boards.items()}
        for key in (curves.so_far, curves.recent)
    )
    first, recently = _of_baseline(next(iter(boards.values())), curves)
    return (
        f'<h2>Learning curves: {curves.loss}</h2><div class="row"><div><h3>So far</h3>'
        + line_chart(
            *(so_far, against, f"{curves.loss} ({curves.unit})"),
            highest=curves.highest,
            beside=first,
        )
        + f"</div><div><h3>Of the last {window:,} predictions</h3>"
        + line_chart(
            *(recent, against, f"recent {curves.loss}", drifts),
            highest=curves.highest,
            beside=recently,
        )
        + "</div></div>"
    )


def _of_baseline(board: Board, curves: _Curves) -> list[dict[str, Line]]:
    """The lines of the baseline, which is the same for all boards of a kind: so far, and lately."""
    if curves.baselines is None:
        points = [point[curves.against] for point in board.points if point[curves.against]]
        coin: Line = [(at, COIN_LOSS) for at in points]
        return 2 * [{f"a {COIN}": coin}]
    name = f"always the {board.standing.baseline}"
    return [{name: [(p["events"], p[key]) for p in board.points]} for key in curves.baselines]


def _sets(boards: Mapping[str, Board]) -> str:
    """How often labels were within prediction sets, and how large those were."""
    columns = {
        "coverage": "coverage",
        "recent coverage": "recent_coverage",
        "ranks in a set": "set_size",
        "lately": "recent_set_size",
    }
    sure = {name: b.sets.summary() for name, b in boards.items() if b.sets is not None}
    rows = {
        name: [number(each[key]) for key in columns.values()] for name, each in sure.items() if each
    }
    if not rows:
        return ""
    return (
        f"<h2>Prediction sets</h2>{_table(('learner', *columns), rows, None)}"
        f'<p class="note">Neighbouring ranks that were given for each event before it was learned, so many that {COVERAGE:.0%} of the '
        "labels are among them: how many are needed says how sure a learner can be. It learns from what it missed, and so covers as "
        "many after a drift, by larger sets.</p>"
    )


def _found(boards: Mapping[str, Board]) -> str:
    """What users liked next, among items that they had not rated."""
    columns = {
        "questions": "recall_questions",
        "recall@10": "recall_at_10",
        "NDCG@10": "ndcg_at_10",
        "recall@10 of popularity": "popularity_recall_at_10",
        "NDCG@10 of popularity": "popularity_ndcg_at_10",
    }
    known = {name: b.finding.summary() for name, b in boards.items() if b.finding is not None}
    rows = {
        name: [number(each[key]) for key in columns.values()]
        for name, each in known.items()
        if each
    }
    if not rows:
        return ""
    return (
        f"<h2>What users liked next</h2>{_table(('learner', *columns), rows, None)}"
        '<p class="note">Of one like in 32, the item was hidden among a hundred others that the user had not rated: how often it was among '
        "the first ten of them. By chance one in ten is. Items are ordered by the rank that is expected of them, which is not how likely "
        "they are to be rated at all: popularity knows that.</p>"
    )


def _confusion(boards: Mapping[str, Board], labels: Sequence[Any] | None) -> str:
    shown = {name: board.confusion for name, board in boards.items() if board.confusion}
    if not shown:
        return ""
    maps = "".join(
        f"<div><h3>{escape(name)}</h3>{heat_map(rows, 'true rank', 'predicted rank')}</div>"
        for name, rows in shown.items()
    )
    known = ", ".join(str(label) for label in labels or ())
    legend = f"<p>The ranks from 1 on are the labels {escape(known)}.</p>" if known else ""
    return f'<h2>Which rank was taken for which</h2>{legend}<div class="row">{maps}</div>'


def _rules(boards: Mapping[str, Board]) -> str:
    parts = []
    for name, board in boards.items():
        if not board.points:
            continue
        last = board.points[-1]
        charts = []
        if last["thresholds"]:
            count = len(last["thresholds"])
            shown = range(1, count + 1, -(-count // _THRESHOLDS_SHOWN))
            edges = {
                f"between {rank} and {rank + 1}": [
                    (p["events"], p["thresholds"][rank - 1])
                    for p in board.points
                    if len(p["thresholds"]) >= rank
                ]
                for rank in shown
            }
            chart = line_chart(edges, "events", "threshold", from_zero=False)
            charts.append(f"<div><h3>Thresholds</h3>{chart}</div>")
        if last["weights"]:
            names = list(last["weights"])[:_WEIGHTS_SHOWN]
            lines = {
                key: [(p["events"], p["weights"][key]) for p in board.points if key in p["weights"]]
                for key in names
            }
            chart = line_chart(lines, "events", "weight", from_zero=False)
            charts.append(f"<div><h3>The largest weights</h3>{chart}</div>")
        if charts:
            parts.append(
                f'<h2>What {escape(name)} learned</h2><div class="row">{"".join(charts)}</div>'
            )
    return "".join(parts)


def _details(summary: Mapping[str, Any]) -> str:
    rows = "".join(
        f"<tr><td>{escape(str(name))}</td><td><code>{escape(str(value))}</code></td></tr>"
        for name, value in summary["settings"].items()
    )
    digests = "".join(
        f"<tr><td>{escape(name)}</td><td><code>{found['state_sha256'] or 'not ours'}</code></td></tr>"
        for name, found in summary["learners"].items()
    )
    return (
        f"<details><summary>Settings, and digests of the learners' states</summary><table>{rows}</table>"
        f"<table>{digests}</table></details>"
    )
