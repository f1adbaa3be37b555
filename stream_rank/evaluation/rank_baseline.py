"""The baseline of learners of ranks: the running median rank, of all events and of the event's group."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.products import mean
from stream_rank.engine.scoring.medians import (
    ABSOLUTE,
    BELOW,
    COUNT,
    GROUP_ABSOLUTE,
    GROUPED,
    NUMBER,
    PLACE,
    ROW,
    SUMS,
    TOTAL,
    tally_medians,
)
from stream_rank.evaluation.baseline import Answer, counted
from stream_rank.evaluation.group_numbers import MOST_GROUPS

__all__ = ["RankBaseline"]

Array = npt.NDArray[Any]

_NONE: Array = np.empty(0, np.int64)
_MOST_VALUES = 128
"""Without `n_ranks`, so many labels are told apart; one that comes later counts as the nearest of them."""
_MOST_COUNTS = 1 << 19
"""The most counts of labels by group: 4 MB, which is 65,536 groups of up to 8 ranks, or 52 of 10,000."""


class RankBaseline:
    """What the running median rank would have lost: of all events, and of the event's group where events have groups.

    Every event is predicted from those that came before it. Medians are exact, by counts of every rank. Where there are more groups
    than counts, a group that was forgotten begins anew.

    Cost: O(1) an event; `min(groups, 65536) * ranks` counts of memory, at most 4 MB.

    >>> baseline = RankBaseline(n_ranks=5, window=100)
    >>> baseline.count(np.array([3.0, 3.0, 5.0, 1.0]), np.zeros(4, np.int64), 1)
    >>> [answer.name for answer in baseline.answers()], baseline.answers()[0].total
    (['median'], 4.0)
    """

    def __init__(self, n_ranks: int | None, window: int) -> None:
        self._fixed = n_ranks is not None
        n_values = n_ranks or 0
        self._most_groups = min(MOST_GROUPS, max(2, _MOST_COUNTS // (n_values or _MOST_VALUES)))
        self._arrays: dict[str, Array] = {
            "values": np.arange(1.0, n_values + 1.0),
            "counts": np.zeros((1, n_values), np.int64),
            "rows": np.zeros((1, ROW), np.int64),
            "sums": np.zeros(SUMS),
            "recent": np.zeros((2, window)),
        }

    def count(self, labels: Array, numbers: Array, n_groups: int) -> None:
        """Predict labels, each from those before it, and count them; `numbers` are their groups, below `n_groups`."""
        if not len(labels):
            return
        places = _NONE if self._fixed else self._places(labels)
        self._make_rows(n_groups)
        arrays = self._arrays
        tally_medians(
            *(labels, places, arrays["values"], numbers),
            *(arrays["counts"], arrays["rows"], arrays["sums"], arrays["recent"]),
        )

    def _make_rows(self, n_groups: int) -> None:
        """Make rows for groups; their number depends on the groups alone, not on when they come."""
        counts, rows = self._arrays["counts"], self._arrays["rows"]
        if n_groups <= len(rows):
            return
        wanted = min(1 << (n_groups - 1).bit_length(), self._most_groups)
        if wanted > len(rows):
            self._arrays["counts"] = np.zeros((wanted, counts.shape[1]), np.int64)
            self._arrays["counts"][: len(rows)] = counts
            self._arrays["rows"] = np.zeros((wanted, ROW), np.int64)
            self._arrays["rows"][:, NUMBER] = -1
            self._arrays["rows"][: len(rows)] = rows

    def _places(self, labels: Array) -> Array:
        """Where labels stand among the known ones, to which new ones are added as they come. Cost: O(log ranks) a label."""
        known = self._arrays["values"]
        if len(known) < _MOST_VALUES:
            seen = set(known.tolist())
            new = [each for each in dict.fromkeys(labels.tolist()) if each not in seen]
            if new:
                known = self._added(new[: _MOST_VALUES - len(known)])
        above = np.searchsorted(known, labels).clip(0, len(known) - 1)
        below = np.maximum(above - 1, 0)
        nearer = np.abs(labels - known[below]) < np.abs(known[above] - labels)
        places: Array = np.where(nearer, below, above)
        return places

    def _added(self, new: list[float]) -> Array:
        """Make columns for labels, between those there are."""
        known, counts, rows = (self._arrays[name] for name in ("values", "counts", "rows"))
        values = np.sort(np.array([*known.tolist(), *new]))
        columns = np.searchsorted(values, known)
        self._arrays["values"] = values
        self._arrays["counts"] = np.zeros((len(rows), len(values)), np.int64)
        self._arrays["counts"][:, columns] = counts
        if len(known):
            rows[:, PLACE] = columns[rows[:, PLACE]]
        return values

    def answers(self) -> list[Answer]:
        """The median, and the median of the group if any event had one."""
        sums, recent = self._arrays["sums"], self._arrays["recent"]
        last = recent[:, : int(sums[COUNT])]
        found = [Answer("median", float(sums[ABSOLUTE]), float(sums[COUNT]), _mean(last[0]))]
        if sums[GROUPED]:
            total = float(sums[GROUP_ABSOLUTE])
            found.append(Answer("group median", total, float(sums[COUNT]), _mean(last[1])))
        return found

    def arrays(self) -> dict[str, Array]:
        """The arrays of its state."""
        return dict(self._arrays)

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Continue from another baseline's state; a `ValueError` if its arrays have other sizes."""
        n_values, n_rows = len(arrays["values"]), len(arrays["rows"])
        most = len(self._arrays["values"]) if self._fixed else _MOST_VALUES
        shapes = {
            "values": (n_values,),
            "counts": (n_rows, n_values),
            "rows": (n_rows, ROW),
            "sums": (SUMS,),
            "recent": self._arrays["recent"].shape,
        }
        fits = n_values == most if self._fixed else n_values <= most
        for name, shape in shapes.items():
            if arrays[name].shape != shape or arrays[name].dtype != self._arrays[name].dtype:
                fits = False
        if not fits or n_rows > self._most_groups:
            raise ValueError("the scoreboard's baseline of ranks has another size")
        if not _sound(arrays):
            raise ValueError("the scoreboard's baseline of ranks does not fit together")
        self._arrays = {name: np.array(arrays[name]) for name in shapes}


def _sound(arrays: Mapping[str, Array]) -> bool:
    """Whether medians are where the counts say: compiled code goes on from there, and looks at nothing else."""
    values, counts, rows = arrays["values"], arrays["counts"], arrays["rows"]
    if not (np.isfinite(values).all() and (np.diff(values) > 0).all() and (counts >= 0).all()):
        return False
    totals, places = counts.sum(axis=1), rows[:, PLACE]
    if not ((places >= 0) & (places < max(1, len(values)))).all():
        return False
    until = np.concatenate([np.zeros((len(rows), 1), np.int64), np.cumsum(counts, axis=1)], axis=1)
    below = until[np.arange(len(rows)), places]
    upon = until[np.arange(len(rows)), np.minimum(places + 1, len(values))]
    middle = (2 * below < totals) & (2 * upon >= totals)
    sound = (rows[:, TOTAL] == totals) & (rows[:, BELOW] == below) & (middle | (totals == 0))
    return bool(sound.all()) and counted(arrays["sums"][COUNT])


def _mean(losses: Array) -> float | None:
    return mean(losses) if len(losses) else None
