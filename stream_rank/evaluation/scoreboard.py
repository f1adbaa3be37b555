"""The running losses of all learners on a stream, and when points of the learning curves are set."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from stream_rank.contestants.contestant import Contestant
from stream_rank.evaluation.baseline import Baseline
from stream_rank.evaluation.board import Board
from stream_rank.evaluation.finding_board import Watched
from stream_rank.evaluation.group_numbers import GroupNumbers
from stream_rank.evaluation.rank_baseline import RankBaseline
from stream_rank.evaluation.score_baseline import ScoreBaseline
from stream_rank.evaluation.standing import Standing
from stream_rank.learners.base.serialization import count_in
from stream_rank.learners.base.state import State

__all__ = ["Scoreboard"]

Array = npt.NDArray[Any]

_BASELINE = "baseline of "
"""What the names of a baseline's arrays begin with; no learner can be called so."""
_FIRST_MARK, _MARKS_A_DECADE = 10, 30
"""Curves are drawn over a logarithmic axis: this many points a decade are as many as a screen shows."""


def _mark_after(events: int) -> int:
    """The first count of events beyond `events` at which points are set: powers of `10**(1/30)`, rounded up."""
    if events < _FIRST_MARK:
        return _FIRST_MARK
    step = int(_MARKS_A_DECADE * math.log10(events))  # at most one below
    while True:
        mark = math.ceil(math.pow(10.0, step / _MARKS_A_DECADE))
        if mark > events:
            return mark
        step += 1


def _baseline(kind: str, n_ranks: int | None, window: int) -> Baseline:
    return RankBaseline(n_ranks, window) if kind == "ranks" else ScoreBaseline(window)


class Scoreboard:
    """A board for every learner, and a baseline for all learners of ranks, and another for those of scores.

    The board of a learner that joins a run that has begun counts from there on, and so does its baseline.

    A label that comes late is predicted by its baseline when it comes, by what came before it: learners had to
    predict when the features came.

    The counts depend on the events and their order alone, not on how they are cut into batches: the loop asks for `room`,
    the number of events until the next point of the curves, and learns no further before that point is set.
    """

    key = "scoreboard"

    def __init__(self, contestants: Sequence[Contestant], n_ranks: int | None, window: int) -> None:
        self._contestants, self.n_ranks, self._window = contestants, n_ranks, window
        self.baselines: dict[str, Baseline] = {}
        self.boards: dict[str, Board] = {}
        self._seat(dict.fromkeys((each.name for each in contestants), 0))
        self._group_numbers = GroupNumbers()
        self.learned = 0
        self._next_mark = _mark_after(0)

    def _seat(self, since: Mapping[str, int]) -> None:
        """Make the boards, and the baselines that count since the same event as they do."""
        self.baselines.clear()
        self.boards.clear()
        for each in self._contestants:
            began = since[each.name]
            key = f"{each.predicts} since {began}" if began else each.predicts
            if key not in self.baselines:
                self.baselines[key] = _baseline(each.predicts, self.n_ranks, self._window)
            ranks, baseline = each.predicts == "ranks", self.baselines[key]
            given = ranks, self.n_ranks, self._window, baseline, began
            more = each.gives_probabilities, each.has_users, each.finds_items
            self.boards[each.name] = Board(*given, *more)

    def join(self, contestants: Sequence[Contestant]) -> None:
        """Go on with these; the boards of those that are new count from here on."""
        other = Scoreboard(contestants, self.n_ranks, self._window)
        other.load(self.dump())
        vars(self).update(vars(other))

    def leave(self, names: Sequence[str]) -> None:
        """Go on without these."""
        self._contestants = [each for each in self._contestants if each.name not in names]
        for name in names:
            del self.boards[name]

    @property
    def longest_baselines(self) -> dict[str, Baseline]:
        """Of learners of ranks, and of those of scores, the baseline that has counted longest."""
        found: dict[str, tuple[int, Baseline]] = {}
        for key, baseline in self.baselines.items():
            kind, _, began = key.partition(" since ")
            mine = int(began or 0), baseline
            if kind not in found or mine[0] < found[kind][0]:
                found[kind] = mine
        return {kind: baseline for kind, (_, baseline) in found.items()}

    @property
    def probable(self) -> list[str]:
        """The learners whose probabilities are wanted by `count`."""
        return [name for name, board in self.boards.items() if board.sets is not None]

    def watched(self, name: str, asking: Array) -> Watched | None:
        """What a learner that orders items counts in, while it learns; None for others."""
        finding = self.boards[name].finding
        return None if finding is None else finding.watched(asking)

    def count(
        self,
        labels: Array,
        found: Mapping[str, Array],
        groups: Array | None,
        shares: Mapping[str, Array] | None = None,
    ) -> None:
        """Count what every learner predicted of some events, and what the `probable` ones held for how likely."""
        numbers = self._group_numbers.numbers(groups, len(labels))
        for baseline in self.baselines.values():
            baseline.count(labels, numbers, self._group_numbers.met)
        for name, predictions in found.items():
            self.boards[name].count(labels, predictions, numbers, self._group_numbers.met)
        for name, each in (shares or {}).items():
            sets = self.boards[name].sets
            if sets is not None:
                sets.count(each, labels)

    def count_preferences(
        self, magnitudes: Array, found: Mapping[str, tuple[Array, Array]]
    ) -> None:
        """Count what every learner predicted of some preferences: by how much the preferred was ahead, and how surely."""
        for name, (leads, proba) in found.items():
            self.boards[name].preferences.count(leads, proba, magnitudes)

    @property
    def standings(self) -> list[tuple[str, Standing]]:
        """How the learners stand, by every loss that they have, and by that of ratings if they have none yet."""
        found = []
        for name, board in self.boards.items():
            if board.events or not board.preferences.events:
                found.append((name, board.standing))
            if board.preferences.events:
                found.append((name, board.preferences.standing))
        return found

    @property
    def room(self) -> int:
        """How many events may be learned before points are due."""
        return self._next_mark - self.learned

    def advance(self, events: int, time: int | None) -> None:
        """Note that events were learned, and set points if they are due."""
        self.learned += events
        if self.learned >= self._next_mark:
            self.mark(time)
            self._next_mark = _mark_after(self.learned)

    def mark(self, time: int | None) -> None:
        """Set points now, unless this number of events has points already."""
        for each in self._contestants:
            board = self.boards[each.name]
            if not board.points or board.points[-1]["events"] < self.learned:
                board.mark(self.learned, time, each.insight(None))

    def dump(self) -> State:
        """All that was counted."""
        metadata = {
            "learned": self.learned,
            "groups": self._group_numbers.state,
            "boards": {name: board.described() for name, board in self.boards.items()},
            "baselines": list(self.baselines),
        }
        arrays = {
            f"{name}/{key}": array
            for name, board in self.boards.items()
            for key, array in board.arrays().items()
        }
        arrays |= {
            f"{_BASELINE}{kind}/{key}": array
            for kind, baseline in self.baselines.items()
            for key, array in baseline.arrays().items()
        }
        return State(metadata, arrays)

    def load(self, state: State) -> None:
        """Continue from another scoreboard's counts."""
        stored: Mapping[str, Any] = state.metadata
        if "baselines" not in stored:
            raise ValueError(
                "it has no baselines: learn the stream again into another folder, or go on with the version that wrote it"
            )
        self.learned = count_in(stored, "learned")
        boards = stored["boards"]
        self._seat(
            {
                each.name: boards.get(each.name, {"since": self.learned}).get("since", 0)
                for each in self._contestants
            }
        )
        self._group_numbers.state = stored["groups"]
        self._next_mark = _mark_after(self.learned)
        for name, board in self.boards.items():
            if name in boards:
                board.restore(boards[name], _below(f"{name}/", state.arrays))
        for key, baseline in self.baselines.items():
            if key in stored["baselines"]:
                baseline.restore(_below(f"{_BASELINE}{key}/", state.arrays))


def _below(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays whose names begin so, by the rest of their names."""
    return {
        key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)
    }
