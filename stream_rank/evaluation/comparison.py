"""Learners that had the same events, side by side: which is the best, how sure that is, and which to take."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stream_rank.evaluation.board import Board
from stream_rank.evaluation.loss_history import LossHistory
from stream_rank.evaluation.resampling import FEWEST, Interval, Resampled
from stream_rank.evaluation.standing import ANSWERING, Standing

__all__ = ["Compared", "as_row", "compared", "costs", "recommendation"]

_CHEAPER = 2.0
"""A learner that is as good as the best is recommended instead if it costs so many times less: a small difference of costs is chance."""
_UNITS = {
    "rank": "steps off, on average",
    "magnitude": "is the magnitude loss of neighbouring events",
    "preference": "of the preferences in the wrong order",
}


class Compared(NamedTuple):
    """How a learner did on the last half of a stream, beside the others that have the same loss."""

    name: str
    standing: Standing
    loss: str
    """What the loss is: of ranks the rank loss, of scores the magnitude loss of neighbouring events, of preferences their error."""
    late: float | None
    """The loss on the last half; None as long as that is too short to say anything of."""
    likely: Interval | None
    """Where the loss lies on streams like that half."""
    behind: Interval | None
    """By how much more the learner loses than the one that lost least."""
    chance: float | None
    """How often it would lose least on streams like that half."""
    microseconds: float
    """Of the learner and its stages, an event; stages that several share are counted with the first of them."""

    @property
    def level(self) -> bool:
        """Whether the stream does not tell it from the best."""
        return self.behind is not None and self.behind.low <= 0


def as_row(each: Compared) -> dict[str, Any]:
    """What is known of a learner beside others, as JSON has it."""
    found = {**each._asdict(), "level": each.level, "skill": each.standing.recent_skill}
    del found["standing"]  # which the summary has
    return found


def costs(microseconds: float) -> str:
    """Microseconds with two digits or all that are whole.

    >>> costs(0.7234), costs(128.2)
    ('0.72', '128')
    """
    return f"{microseconds:.0f}" if microseconds >= 10 else f"{microseconds:.2g}"


def compared(boards: Mapping[str, Board], microseconds: Mapping[str, float]) -> list[Compared]:
    """All learners by the losses that they have, for each loss the best first."""
    found = []
    for kind in ("rank", "magnitude", "preference"):
        some = {name: board for name, board in boards.items() if _has(board, kind)}
        if some:
            found += _of_kind(kind, some, microseconds)
    return found


def _has(board: Board, kind: str) -> bool:
    if kind == "preference":
        return board.preferences.events > 0
    if (
        kind == "magnitude" and board.grouped
    ):  # neighbours are of many groups, and only pairs within one count
        return False
    return board.events > 0 and board.ranks == (kind == "rank")


def _of_kind(
    kind: str, boards: Mapping[str, Board], microseconds: Mapping[str, float]
) -> list[Compared]:
    of_preferences = kind == "preference"
    histories: dict[str, LossHistory] = {
        name: board.preferences.history if of_preferences else board.history
        for name, board in boards.items()
    }
    standings = {
        name: board.preferences.standing if of_preferences else board.standing
        for name, board in boards.items()
    }
    n = min(len(each.losses) for each in histories.values())
    late = {name: each.losses[n // 2 : n] for name, each in histories.items()}
    if n - n // 2 < FEWEST:
        return [
            Compared(name, standings[name], kind, None, None, None, None, microseconds[name])
            for name in boards
        ]
    draws, names = Resampled([*late.values()]), list(late)
    means = {name: sum(losses) / len(losses) for name, losses in late.items()}
    best = min(names, key=lambda name: means[name])
    found = [
        Compared(
            *(name, standings[name], kind, means[name], draws.interval(place)),
            draws.difference(place, names.index(best)),
            float(draws.chances[place]),
            microseconds[name],
        )
        for place, name in enumerate(names)
    ]
    return sorted(found, key=lambda each: means[each.name])


def recommendation(some: Sequence[Compared]) -> list[str]:
    """Which learner to take, in sentences."""
    found = []
    for kind in dict.fromkeys(each.loss for each in some):
        found += _of_one_loss([each for each in some if each.loss == kind])
    return found


def _of_one_loss(some: Sequence[Compared]) -> list[str]:
    best = some[0]
    if best.late is None or best.likely is None:
        few = FEWEST * 100
        return [
            f"The stream is too short to tell the learners apart: that takes some {few:,} events."
        ]
    standing = best.standing
    if all(each.standing.beaten for each in some):
        return [f"None of them is better than {ANSWERING[standing.baseline]}: take none."]
    level = [each for each in some if each.level]
    cheapest = min(level, key=lambda each: each.microseconds)
    taken = cheapest if cheapest.microseconds * _CHEAPER <= best.microseconds else best
    assert taken.late is not None  # as of all of them
    assert taken.likely is not None
    words = f"Take {taken.name}: {taken.late:.4f} {_UNITS[taken.loss]}, on the last half"
    words += f" ({taken.likely.low:.4f} to {taken.likely.high:.4f} with 90 % confidence)"
    words += f", at {costs(taken.microseconds)} µs an event."
    sentences = [words]
    if taken is not best:
        sentences.append(
            f"It is as good as {best.name}, as far as this stream tells, and costs "
            f"{best.microseconds / taken.microseconds:.1f} times less."
        )
    others = [each.name for each in level if each is not taken and each is not best]
    if others:
        verb = "is" if len(others) == 1 else "are"
        sentences.append(f"As far as this stream tells, {_listed(others)} {verb} as good.")
    return sentences


def _listed(names: Sequence[str]) -> str:
    """Names as a sentence has them.

    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
