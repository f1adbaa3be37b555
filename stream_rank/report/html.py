"""`report.html`: one self-contained page."""

from collections.abc import Mapping
from html import escape
from typing import Any

from stream_rank.evaluation.board import Board
from stream_rank.evaluation.scoreboard import Scoreboard
from stream_rank.report.charts import CLIP, heat_map, line_chart

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
svg.key{width:22px;height:10px;margin-right:6px;vertical-align:middle}svg.heat{max-width:100%}
.legend span{margin-right:20px;white-space:nowrap}.row{display:flex;flex-wrap:wrap;gap:28px}.row>div{flex:1 1 420px;min-width:0}
details{margin-top:28px}code{font-size:13px;overflow-wrap:anywhere}.note{color:#5a6472;max-width:720px}
"""


def report(summary: Mapping[str, Any], scoreboard: Scoreboard) -> str:
    """The page of a run."""
    boards = scoreboard.boards
    ranked = {name: board for name, board in boards.items() if board.ranks}
    scored = {name: board for name, board in boards.items() if not board.ranks}
    parts = [_head(summary, boards)]
    ranked, scored = (
        {name: board for name, board in some.items() if board.events} for some in (ranked, scored)
    )
    if ranked:
        parts.append(_curves(ranked, "rank loss", "steps off, on average", summary))
    if scored:
        parts.append(_curves(scored, "magnitude loss", "squared error of differences", summary))
    parts.append(_confusion(ranked))
    parts.append(_rules(boards))
    parts.append(_details(summary))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>stream-rank: a replay</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>{CLIP}'
        + "".join(parts)
        + "</body></html>\n"
    )


def _number(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def _best(boards: Mapping[str, Board]) -> str | None:
    """The learner with the least recent loss; None if some predict ranks and others scores, which cannot be compared."""
    known = {
        name: board.recent_loss for name, board in boards.items() if board.recent_loss is not None
    }
    if not known or len({boards[name].ranks for name in known}) > 1:
        return None
    return min(known, key=lambda name: known[name] or 0.0)


def _head(summary: Mapping[str, Any], boards: Mapping[str, Board]) -> str:
    best = _best(boards)
    lead = ""
    if best is not None:
        board = boards[best]
        what = "steps off a prediction" if board.ranks else "magnitude loss"
        lead = f"<b>{escape(best)}</b> ended best: {_number(board.recent_loss)} {what}, lately."
    tiles = [
        (_number(summary["learned"]), "events learned"),
        (_number(summary["requests"]), "without a label"),
        (_number(summary["rejects"]), "rejects"),
        (_number(summary["features"]), "features"),
        (_number(summary["events_per_second"]), "events a second"),
    ]
    shown = "".join(f"<div><b>{value}</b><span>{name}</span></div>" for value, name in tiles)
    rows = []
    for name, board in boards.items():
        found = summary["learners"][name]
        pairs = found["preferences_misordered"]
        cells = [
            escape(name),
            "ranks" if board.ranks else "scores",
            _number(board.loss),
            _number(board.recent_loss),
            _number(pairs),
            _number(len(board.drifts)),
        ]
        mark = ' class="best"' if name == best else ""
        rows.append(f"<tr{mark}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    titles = ("learner", "predicts", "loss", "recent loss", "preferences misordered", "drifts")
    head = "".join(f"<th>{title}</th>" for title in titles)
    return (
        f'<h1>Replay of {escape(", ".join(summary["settings"]["inputs"]))}</h1><p class="lead">{lead}</p><div class="tiles">{shown}</div>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        '<p class="note">Every event was predicted before it was learned; these are the losses of those predictions, '
        "of all of them and of the last ones. The magnitude loss is over the pairs of events within a group.</p>"
    )


def _curves(boards: Mapping[str, Board], loss: str, unit: str, summary: Mapping[str, Any]) -> str:
    window = summary["settings"]["window"]
    so_far = {name: [(p["events"], p["loss"]) for p in b.points] for name, b in boards.items()}
    recent = {name: [(p["events"], p["recent"]) for p in b.points] for name, b in boards.items()}
    drifts = {name: board.drifts for name, board in boards.items()}
    return (
        f'<h2>Learning curves: {loss}</h2><div class="row"><div><h3>So far</h3>'
        + line_chart(so_far, "events", f"{loss} ({unit})")
        + f"</div><div><h3>Of the last {window:,} predictions</h3>"
        + line_chart(recent, "events", f"recent {loss}", drifts)
        + "</div></div>"
    )


def _confusion(boards: Mapping[str, Board]) -> str:
    shown = {name: board.confusion for name, board in boards.items() if board.confusion}
    if not shown:
        return ""
    maps = "".join(
        f"<div><h3>{escape(name)}</h3>{heat_map(rows, 'true rank', 'predicted rank')}</div>"
        for name, rows in shown.items()
    )
    return f'<h2>Which rank was taken for which</h2><div class="row">{maps}</div>'


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
