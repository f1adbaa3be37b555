"""What a report says first: which learner ended best, and whether it is any good."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from stream_rank.evaluation.board import Board
from stream_rank.evaluation.standing import ANSWERING, Standing, complaint

__all__ = ["Verdict", "number", "verdict_of"]

_LOSSES = {
    "rank": "steps off a prediction",
    "magnitude": "magnitude loss",
    "preference": "of the preferences in the wrong order",
}


class Verdict(NamedTuple):
    """The learner that ended best, if any is better than a constant, and sentences about it and the others, as HTML."""

    best: str | None
    lead: str
    complaints: str


def number(value: Any) -> str:
    """A number as a report shows it."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def verdict_of(boards: Mapping[str, Board]) -> Verdict:
    """The verdict on all learners.

    Losses of ranks and of scores cannot be compared, so of both none is best; preferences decide where there are no ratings. No
    learner is best that a constant beats.
    """
    ratings = {name: board.standing for name, board in boards.items() if board.events}
    compared = {name: board.preferences.standing for name, board in boards.items()}
    compared = {name: each for name, each in compared.items() if each.events}
    kinds: dict[str, dict[str, Standing]] = {}
    for name, each in (ratings or compared).items():
        kinds.setdefault(each.kind, {})[name] = each
    best, sentences = None, []
    for some in kinds.values():
        if all(each.beaten for each in some.values()):
            sentences.append(_none_is_better([*some.values()]))
        elif len(kinds) == 1:
            best, sentence = _crowned(some)
            sentences.append(sentence)
    worse = [(name, each) for some in (ratings, compared) for name, each in some.items()]
    complaints = "<br>".join(f"{escape(complaint(*each))}." for each in worse if each[1].worse)
    return Verdict(best, " ".join(sentences), complaints)


def _crowned(some: Mapping[str, Standing]) -> tuple[str, str]:
    """The learner with the least recent loss, and a sentence about it."""
    best = min(some, key=lambda name: _least(some[name]))
    standing = some[best]
    sentence = f"<b>{escape(best)}</b> ended best: {number(standing.recent_loss)} {_LOSSES[standing.kind]}, lately"
    if standing.recent_skill is not None:
        sentence += (
            f", {standing.recent_skill:.1%} less than the {number(standing.recent_baseline_loss)} "
            f"of {ANSWERING[standing.baseline]}"
        )
    return best, f"{sentence}."


def _least(standing: Standing) -> float:
    """The recent loss; one that is no number is as bad as can be."""
    loss = standing.recent_loss
    return float("inf") if loss is None or loss != loss else loss


def _none_is_better(some: Sequence[Standing]) -> str:
    """A sentence about learners that are all no better than a constant."""
    answering = ANSWERING[some[0].baseline]
    loss = number(some[0].recent_baseline_loss)
    return f"<b>No learner is better than {answering}</b>, which lately had {loss} {_LOSSES[some[0].kind]}."
