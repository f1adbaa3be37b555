"""The board of one learner: its losses, drifts and learning curve."""

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.products import product
from stream_rank.engine.scoring.tally import (
    BLOCK_COUNT,
    COUNT,
    LOSS,
    PAIRS,
    SPREAD,
    SUMS,
    WRONG,
    tally,
)
from stream_rank.evaluation.baseline import Baseline, best_of, counted
from stream_rank.evaluation.drift import BLOCK, DriftDetector
from stream_rank.evaluation.finding_board import FindingBoard
from stream_rank.evaluation.group_losses import GroupLosses
from stream_rank.evaluation.group_numbers import MOST_GROUPS
from stream_rank.evaluation.loss_history import LossHistory
from stream_rank.evaluation.preference_board import PreferenceBoard
from stream_rank.evaluation.set_board import SetBoard
from stream_rank.evaluation.standing import Standing
from stream_rank.learners.base.capabilities import Insight, as_named
from stream_rank.learners.base.serialization import count_in, entries
from stream_rank.metrics.pairs.misranked import Misranked
from stream_rank.metrics.pairs.part import mean_of

__all__ = ["Board"]

Array = npt.NDArray[Any]

_MOST_CONFUSED = 100
"""With more ranks there is no confusion matrix, and a point of the curve has this many thresholds."""
_LARGEST = 1e100
"""A learner with predictions beyond this has diverged, and their order means nothing."""
_DRIFTS_KEPT = 100
_WEIGHTS_KEPT = 24
"""A point of the curve has this many weights, the largest."""


class Board:
    """The test-then-train losses of one learner, over all predictions and over the last ones; of preferences, in `preferences`.

    Ranks have the rank loss: how many steps a prediction is off, on average. Scores have the magnitude loss: the mean
    over pairs of events of the squared difference between the predicted and the true difference, which
    is twice the variance of the residuals (Cortes, Mohri and Rastogi, 2007). Of events in groups, pairs within
    one group count.
    """

    def __init__(
        self,
        ranks: bool,
        n_ranks: int | None,
        window: int,
        baseline: Baseline | None = None,
        since: int = 0,
        probable: bool = False,
        users: bool = False,
        finds: bool = False,
    ) -> None:
        """`baseline` is that of all boards of ranks, or of scores, that count since the same event; without one, nothing is
        known of a skill. `since` is how many events the run had learned before the learner joined, `probable` whether it gives
        probabilities, `users` whether it learns of users, and its loss counts by group too,
        `finds` whether it counts what users liked next."""
        self.ranks, self._baseline, self.since = ranks, baseline, since
        n_rows = n_ranks if ranks and n_ranks and n_ranks <= _MOST_CONFUSED else 0
        self._arrays: dict[str, Array] = {
            "sums": np.zeros(SUMS),
            "recent": np.zeros((3, window)),
            "confusion": np.zeros((n_rows, n_rows), np.int64),
            "groups": np.zeros((4, 1)),
        }
        self._detector = DriftDetector()
        self.history = LossHistory()
        """Of ranks the rank loss; of scores the magnitude loss over the pairs of neighbouring events, whatever their groups."""
        self.preferences = PreferenceBoard(not ranks, window)
        self.sets = SetBoard(window) if probable and ranks and n_rows else None
        """None of a learner without probabilities, and of more ranks than there is a confusion matrix of."""
        self.finding = FindingBoard() if finds and self.sets is not None else None
        """None of a learner that orders no items."""
        self.by_group = GroupLosses() if ranks and users else None
        self.drifts: list[int] = []
        self.drifts_met = 0
        """The number of drifts since the board was made; it is not in snapshots."""
        self.points: list[dict[str, Any]] = []

    def count(self, labels: Array, predictions: Array, numbers: Array, n_groups: int = 1) -> None:
        """Count predictions in the order in which they were made; `numbers` are their groups, below `n_groups`."""
        arrays = self._arrays
        self._make_groups(n_groups)
        sums, means = arrays["sums"], np.empty(len(labels) // BLOCK + 1)
        spreads = np.empty(len(means))
        end = int(sums[COUNT]) // BLOCK * BLOCK
        ended = tally(
            *(labels, predictions, numbers, BLOCK, sums, arrays["recent"]),
            *(arrays["confusion"], arrays["groups"], means, spreads),
        )
        if self.by_group is not None:
            self.by_group.count(labels, predictions, numbers, n_groups)
        kept = means if self.ranks else spreads
        for mean, loss in zip(means[:ended].tolist(), kept[:ended].tolist(), strict=True):
            end += BLOCK
            self.history.add(loss)
            if self._detector.update(mean):
                self.drifts = [*self.drifts, end][-_DRIFTS_KEPT:]
                self.drifts_met += 1

    def _make_groups(self, n_groups: int) -> None:
        """Make columns for groups; their number depends on the groups alone, not on when they come."""
        groups, wanted = self._arrays["groups"], min(1 << (n_groups - 1).bit_length(), MOST_GROUPS)
        if wanted > groups.shape[1]:
            self._arrays["groups"] = np.full((4, wanted), [[-1.0], [0], [0], [0]])
            self._arrays["groups"][:, : groups.shape[1]] = groups

    def mark(self, events: int, time: int | None, seen: Insight) -> None:
        """Append a point to the learning curve."""
        weights = _candidates(seen.weights)
        largest = sorted(weights, key=lambda name: (-abs(weights[name]), name))[:_WEIGHTS_KEPT]
        standing = self.standing
        self.points.append(
            {
                "events": events,
                "time": time,
                "loss": _finite(standing.loss),
                "recent": _finite(standing.recent_loss),
                "baseline": _finite(standing.baseline_loss),
                "recent_baseline": _finite(standing.recent_baseline_loss),
                "preferences": self.preferences.events,
                "preference_error": self.preferences.error,
                "recent_preference_error": self.preferences.recent_error,
                "thresholds": seen.thresholds[:_MOST_CONFUSED],
                "weights": {name: float(weights[name]) for name in largest},
            }
        )

    # What is known --------------------------------------------------------------------------

    @property
    def grouped(self) -> bool:
        """Whether events came in groups."""
        return bool(self._arrays["groups"].shape[1] > 1)

    @property
    def events(self) -> int:
        """Predictions counted."""
        return int(self._arrays["sums"][COUNT])

    @property
    def loss(self) -> float | None:
        """The rank loss or the magnitude loss of all predictions; None without any."""
        total, terms = self.loss_sum
        return total / terms if terms else None

    @property
    def loss_sum(self) -> tuple[float, float]:
        """The loss is the quotient of these: a sum over predictions or pairs, and their number. Neither decreases."""
        sums = self._arrays["sums"]
        if self.ranks:
            return float(sums[LOSS]), float(sums[COUNT])
        _, counts, _, spreads = self._arrays["groups"]
        with np.errstate(over="ignore", invalid="ignore"):  # a learner may diverge
            total = 2 * (sums[SPREAD] + product(counts, spreads))
        return float(total), float(sums[PAIRS] + product(counts, counts))

    @property
    def loss_by_group(self) -> float | None:
        """Of ranks, the mean over groups of each one's mean loss; None without any."""
        return None if self.by_group is None else self.by_group.mean

    @property
    def recent_loss(self) -> float | None:
        """The loss of the last predictions."""
        if self.events == 0:
            return None
        if self.ranks:  # whole steps: their sum does not depend on the order
            labels, predictions, _ = self._arrays["recent"][:, : self.events]
            return float(np.abs(labels - predictions).mean())
        labels, predictions, numbers = self._window()
        _, group = np.unique(numbers, return_inverse=True)
        counts = np.bincount(group)
        with np.errstate(over="ignore", invalid="ignore"):
            residuals = labels - predictions
            distances = residuals - (np.bincount(group, residuals) / counts)[group]
            spreads = np.bincount(group, distances * distances)
            return 2 * product(counts, spreads) / product(counts, counts)

    @property
    def standing(self) -> Standing:
        """The losses beside those of the best answer that could always be given. Which one that is, all predictions decide."""
        name, loss, recent = "none", None, None
        if self._baseline is not None:
            best = best_of(self._baseline.answers())
            name, loss, recent = best.name, best.loss, best.recent_loss
        kind = "rank" if self.ranks else "magnitude"
        return Standing(kind, self.events, self.loss, self.recent_loss, name, loss, recent)

    @property
    def confusion(self) -> list[list[int]]:
        """How often a rank (row) was predicted as which (column)."""
        rows: list[list[int]] = self._arrays["confusion"].tolist()
        return rows

    def _mean(self, entry: int) -> float | None:
        sums = self._arrays["sums"]
        return float(sums[entry] / sums[COUNT]) if sums[COUNT] else None

    def _window(self) -> Array:
        """The last labels, predictions and numbers of groups, the oldest first."""
        recent, events = self._arrays["recent"], self.events
        size = recent.shape[1]
        if events > size:
            recent = np.roll(recent, -(events % size), axis=1)
        return recent[:, : min(events, size)]

    def summary(self) -> dict[str, Any]:
        """All losses, by name."""
        standing = self.standing
        found: dict[str, Any] = {
            "since": self.since,
            "events": self.events,
            f"{standing.kind}_loss": standing.loss,
            f"recent_{standing.kind}_loss": standing.recent_loss,
            "baseline": standing.baseline,
            "baseline_loss": standing.baseline_loss,
            "recent_baseline_loss": standing.recent_baseline_loss,
            "skill": standing.skill,
            "recent_skill": standing.recent_skill,
            "worse_than_constant": standing.worse,
            "mean_absolute_error": self._mean(LOSS),
        }
        if self.ranks:
            del found["mean_absolute_error"]  # it is the rank loss
            found["error_rate"] = self._mean(WRONG)
            if self.loss_by_group is not None:
                found["rank_loss_by_group"] = self.loss_by_group
        else:
            found["recent_misranking"] = self._misranking()
        found["drifts"] = self.drifts
        sets = {} if self.sets is None else self.sets.summary()
        liked = {} if self.finding is None else self.finding.summary()
        return {**found, **sets, **liked, **self.preferences.summary()}

    def _misranking(self) -> float | None:
        """The share of recent pairs, within groups, in the wrong order."""
        labels, predictions, _ = self._window()
        if not (np.abs(predictions) < _LARGEST).all():
            return None
        groups: defaultdict[float, Misranked] = defaultdict(Misranked)
        for label, prediction, number in zip(*self._window().tolist(), strict=True):
            groups[number].add(label, prediction, 1.0, 1)
        return mean_of(groups.values(), 0.0) if len(labels) > 1 else None

    # For snapshots --------------------------------------------------------------------------

    def described(self) -> dict[str, Any]:
        """Its state without the arrays, as JSON has it."""
        return {
            "since": self.since,
            "points": self.points,
            "drifts": self.drifts,
            "drift": self._detector.state,
            "history": self.history.described(),
            "preferences": self.preferences.described(),
        }

    def arrays(self) -> dict[str, Array]:
        """The arrays of its state."""
        sets = {} if self.sets is None else self.sets.arrays()
        history = {"history": self.history.array()}
        groups = {} if self.by_group is None else self.by_group.arrays()
        liked = {} if self.finding is None else self.finding.arrays()
        return {**self._arrays, **history, **sets, **groups, **liked, **self.preferences.arrays()}

    def restore(self, said: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Continue from another board's state; a `ValueError` if its arrays have other sizes."""
        self._make_groups(arrays["groups"].shape[1])
        for name, mine in self._arrays.items():
            if arrays[name].shape != mine.shape or arrays[name].dtype != mine.dtype:
                raise ValueError(f"the scoreboard's {name} have another size")
            self._arrays[name] = np.array(arrays[name])
        sums = self._arrays["sums"]
        if not (counted(sums[COUNT]) and counted(sums[BLOCK_COUNT]) and sums[BLOCK_COUNT] < BLOCK):
            raise ValueError("the scoreboard's sums have no counts")
        self.points = [dict(point) for point in entries(said, "points")]
        for point in self.points:
            count_in(point, "events")
        self.drifts = [int(each) for each in entries(said, "drifts")]
        self._detector.state = said["drift"]
        self.history.restore(said["history"], arrays["history"])
        self.preferences.restore(said["preferences"], arrays)
        if self.by_group is not None:
            self.by_group.restore(arrays)
        if self.sets is not None:
            self.sets.restore(arrays)
        if self.finding is not None:
            self.finding.restore(arrays)


def _candidates(weights: Mapping[Hashable, float]) -> dict[str, float]:
    """The weights that may be among the largest. Cost: O(weights), without sorting them all or looking at their names."""
    named = as_named(weights)
    names, numbers = named.names, named.numbers
    those = np.arange(len(numbers))
    if len(numbers) > _WEIGHTS_KEPT:
        sizes = np.abs(numbers)
        least = np.partition(sizes, -_WEIGHTS_KEPT)[-_WEIGHTS_KEPT]
        those = np.flatnonzero(~(sizes < least))
    found = zip(those.tolist(), numbers[those].tolist(), strict=True)
    return {str(names[place]): weight for place, weight in found}


def _finite(loss: float | None) -> float | None:
    """The loss, or None if it is not finite, as after divergence."""
    return loss if loss is not None and math.isfinite(loss) else None
