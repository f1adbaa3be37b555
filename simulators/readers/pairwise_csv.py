"""Results of two at a time by CSV: `winner` and `loser` with a `draw` if there may be any, or two sides and their scores.

Columns are known by their names: `winner,loser[,draw]`, or `home_team,away_team,home_score,away_score`, or `a,b,score_a,score_b`; with a `date`
they come in its order. By how much a side was ahead is the magnitude.
"""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from simulators.readers.shipped import Lines, lines_of

__all__ = ["FLAGS", "events"]

FLAGS = "--learner pairwise-ranker"
_SCORED = (("home_team", "away_team", "home_score", "away_score"), ("a", "b", "score_a", "score_b"))
_EXPECTED = (
    "winner,loser[,draw] or home_team,away_team,home_score,away_score or a,b,score_a,score_b"
)
_DRAWN = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False, "": False}


def _result(row: dict[str, str], columns: tuple[str, ...]) -> dict[str, object] | None:
    """What happened; None where it is not known."""
    first, second, *scores = columns
    one, other = ({"name": row[side]} for side in (first, second))
    if not scores:
        event: dict[str, object] = {"preferred": one, "other": other}
        return {**event, "tie": True} if _DRAWN[row.get("draw", "").lower()] else event
    if row[scores[0]] in ("", "NA") or row[scores[1]] in ("", "NA"):
        return None
    lead = float(row[scores[0]]) - float(row[scores[1]])
    if lead == 0:
        return {"preferred": one, "other": other, "tie": True}
    if lead < 0:
        one, other = other, one
    return {"preferred": one, "other": other, "magnitude": abs(lead)}


def _results(lines: Lines) -> Iterator[tuple[str, str]]:
    reader = csv.DictReader(lines, restval="")
    with lines.checked():
        names = set(reader.fieldnames or ())
        columns = next(
            (each for each in (("winner", "loser"), *_SCORED) if names.issuperset(each)), None
        )
        if columns is None:
            raise ValueError
    for row in reader:
        with lines.checked():
            event = _result(row, columns)
        if event is not None:
            date = row.get("date") or ""
            yield (
                date,
                json.dumps({**event, "ts": f"{date}T00:00:00Z"} if len(date) == 10 else event),
            )


def events(path: Path) -> Iterator[str]:
    """Results by date, or in the order of the file."""
    with lines_of(path, "results.csv", _EXPECTED) as lines:
        found = sorted(_results(lines), key=lambda each: each[0])
    return (line for _, line in found)
