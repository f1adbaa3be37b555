"""Learning many preferences at once, to the bit as `learn_pair` in a loop.

Cost: what the pairs' learning costs, and O(entries) to check them before the first is learned.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from stream_rank.engine.scoring.odds import (
    ENTRIES,
    FIRST,
    PAIRS,
    SCALE_INFORMATION,
    SECOND,
    TIE,
    TIES,
    calibrate,
    expect,
    new_odds,
)
from stream_rank.errors import EventError
from stream_rank.learners.base.labels import label_column
from stream_rank.learners.base.numbers import check_magnitude
from stream_rank.learners.models.model import Model
from stream_rank.learners.tables.pairs import PairBlock, Pairs
from stream_rank.learners.tables.table import Table
from stream_rank.learners.tables.vocabulary import Vocabulary

__all__ = ["PairLearner", "checked_odds", "magnitude_column", "merged_odds"]

Array = npt.NDArray[Any]

_NO_PROBA: Array = np.empty((0, 3))


def magnitude_column(magnitude: Any, n_pairs: int, bound: float) -> npt.NDArray[np.float64]:
    """The magnitudes of so many pairs, 1 each if there are none; an `EventError` names the first that is invalid."""
    if magnitude is None:
        return np.ones(n_pairs)
    if isinstance(magnitude, Mapping | Set):
        raise EventError(f"magnitudes must be one column, not a {type(magnitude).__name__}")
    try:
        column = label_column(magnitude, n_pairs)
    except ValueError as error:
        raise EventError(str(error).replace("label", "magnitude")) from None
    if isinstance(column, np.ndarray):
        numbers = column.astype(np.float64)
        if ((numbers >= 0) & (numbers <= bound)).all():
            return numbers + 0.0
        column = column.tolist()
    found = np.empty(n_pairs)
    for row, each in enumerate(column):
        try:
            found[row] = check_magnitude(each, bound)
        except EventError as error:
            raise EventError(f"pair {row}: {error}") from None
    return found


class PairLearner:
    """The part of a learner that takes many pairs. `Learner` implements the abstract methods."""

    has_votes: ClassVar[bool] = False
    """Whether members vote."""

    _model: Model
    _vocabulary: Vocabulary
    _odds: Array
    """How sure a lead makes (`engine.scoring.odds`)."""

    def _open(self, X: Any) -> Table:
        raise NotImplementedError

    def _grow(self, before: int) -> None:
        raise NotImplementedError

    def _difference(self, preferred: Any, other: Any) -> dict[Hashable, float]:
        raise NotImplementedError

    def _check_reach(self, largest: float, magnitude: float) -> None:
        raise NotImplementedError

    def utility_one(self, x: Any) -> float:
        """The score of an event."""
        raise NotImplementedError

    def _teach_pair(self, preferred: Any, other: Any, magnitude: float) -> None:
        raise NotImplementedError

    def learn_pair(self, preferred: Any, other: Any, magnitude: float = 1.0) -> None:
        """Learn that one item is preferred to another by a magnitude; with 0 they are a tie, and neither is to be ahead."""
        lead = np.empty(1)
        lead[0] = self._lead(preferred, other) if self._asks() else np.nan
        self._teach_pair(preferred, other, magnitude)
        self._calibrate(lead, np.array([magnitude], np.float64), _NO_PROBA)

    def learn_pairs(self, preferred: Any, other: Any, magnitude: Any = None) -> None:
        """Learn that row i of one table is preferred to row i of another; `learn_pair` in a loop, to the bit.

        A batch with a number that cannot be learned is refused whole.

        Parameters
        ----------
        preferred, other
            Each a data frame, an array or a CSR matrix.
        magnitude
            A column of numbers, 0 where the two are a tie; None is 1 for each.
        """
        self._take_pairs(preferred, other, magnitude, False, _NO_PROBA)

    def test_then_train_pairs(
        self, preferred: Any, other: Any, magnitude: Any = None, proba: Array | None = None
    ) -> npt.NDArray[np.float64]:
        """Learn pairs as `learn_pairs` does; for each, by how much the preferred was ahead before it was learned.

        That is the difference of what `utility_one` says of the two. `proba`, an array with three columns, gets what
        `prefer_proba_one` says of the two: that the preferred is, that neither is, and that the other is.
        """
        return self._take_pairs(
            preferred, other, magnitude, True, _NO_PROBA if proba is None else proba
        )

    def prefer_one(self, first: Any, second: Any) -> int:
        """Which of two items is ahead: 1 if the first is, -1 if the second is, 0 if neither."""
        lead = self._lead(first, second)
        return (lead > 0) - (lead < 0)

    def prefer_proba_one(self, first: Any, second: Any) -> dict[int, float]:
        """The probability that the first of two items is preferred (1), that the second is (-1), and, once ties were seen, a tie (0).

        How far apart the scores of two items must be for what probability is learned from the pairs, by Davidson's model;
        before any pair both are equal. Of ensembles, the probability of either is the members' share.
        """
        proba = np.empty((1, 3))
        expect(self._odds, np.array([self._lead(first, second)]), proba)
        share = self._share(first, second)
        if share is not None:
            _divide(proba, np.array([share]))
        (ahead, tie, behind) = proba[0].tolist()
        return {1: ahead, 0: tie, -1: behind} if self._odds[TIES] else {1: ahead, -1: behind}

    def _lead(self, first: Any, second: Any) -> float:
        """By how much the first is ahead."""
        return self.utility_one(first) - self.utility_one(second)

    def _share(self, first: Any, second: Any) -> float | None:
        """The share of members who have the first ahead; None where no members vote."""
        return None

    def _asks(self) -> bool:
        """Whether the next pair calibrates probabilities: where it is expensive to ask, only some do."""
        return bool(self._odds[PAIRS] % self._model.calibrated_every == 0)

    def _calibrate(self, leads: Array, magnitudes: Array, proba: Array) -> None:
        """Learn from pairs how sure a lead makes; `proba` gets what was expected of each, unless it is empty."""
        calibrate(self._odds, leads, magnitudes, proba, self._model.calibrated_every)

    def _take_pairs(
        self, preferred: Any, other: Any, magnitude: Any, asking: bool, proba: Array
    ) -> npt.NDArray[np.float64]:
        """Learn pairs, all checked before the first; the differences of scores before each, of all if `asking`."""
        first, second = self._open(preferred), self._open(other)
        magnitudes = magnitude_column(magnitude, len(first), self._model.bound)
        pairs = Pairs(first, second, magnitudes)
        ahead = np.zeros(len(pairs))
        if not len(pairs):
            return ahead
        if not asking and (every := self._model.calibrated_every) > 1:
            ahead[(np.arange(len(pairs)) + int(self._odds[PAIRS])) % every != 0] = np.nan
        shares = np.empty(len(pairs) if proba.size and self.has_votes else 0)
        self._check_pairs(pairs)
        come = pairs.newcomers(self._vocabulary, self._model.apart)
        if self._model.always_blocks:
            self._take_apart(pairs, come, ahead, shares)
        else:
            self._give_slots([name for _, name in come])
            self._teach(pairs, 0, len(pairs), ahead, shares)
        self._calibrate(ahead, magnitudes, proba)
        if shares.size:
            _divide(proba, shares)
        return ahead

    def _check_pairs(self, pairs: Pairs) -> None:
        """Raise an `EventError` unless weights may move by every difference times its magnitude.

        Pairs are checked one by one only if the largest entry and the largest magnitude do not rule it out.
        """
        if pairs.far_within(self._model.bound):
            return
        for row, (preferred, other, magnitude) in enumerate(pairs.dicts(0, len(pairs))):
            difference = self._difference(preferred, other)
            try:
                self._check_reach(max(map(abs, difference.values()), default=0.0), magnitude)
            except EventError as error:
                raise EventError(f"pair {row}: {error}") from None

    def _give_slots(self, names: list[Hashable]) -> None:
        """Give slots to names."""
        before = len(self._vocabulary)
        self._vocabulary.add(names)
        self._grow(before)

    def _teach(self, pairs: Pairs, first: int, end: int, ahead: Array, shares: Array) -> None:
        """Learn pairs `first` to `end`, whose features have slots."""
        model, vocabulary = self._model, self._vocabulary
        if model.always_blocks:
            blocks = pairs.all_features(vocabulary, model.dtype, first, end)
        else:
            blocks = pairs.blocks(vocabulary, model.n_slots, "float64", first, end)
        some = slice(first, end)
        self._teach_pairs(blocks, pairs.magnitudes[some], ahead[some], shares[some])

    def _teach_pairs(
        self, blocks: Iterator[PairBlock], magnitudes: Array, ahead: Array, shares: Array
    ) -> None:
        """Learn pairs whose features have slots; what was expected of each."""
        done = 0
        for block in blocks:
            some = slice(done, done + block.n_pairs)
            self._model.run_pairs(block, magnitudes[some], ahead[some], shares[some])
            done = some.stop

    def _take_apart(
        self, pairs: Pairs, come: list[tuple[int, Hashable]], ahead: Array, shares: Array
    ) -> None:
        """Learn pairs, those with new features one by one.

        A kernel value includes the squares of features without a slot, which are summed in an order of each item's own.
        So the prediction for such a pair may differ in its last bits from that once both items have slots.
        """
        done = 0
        for row, several in groupby(come, itemgetter(0)):
            self._teach(pairs, done, row, ahead, shares)
            (preferred, other, magnitude) = next(pairs.dicts(row, row + 1))
            ahead[row] = self._lead(preferred, other)
            if shares.size:
                shares[row] = self._share(preferred, other)
            self._give_slots([name for _, name in several])
            self._teach_pair(preferred, other, magnitude)
            done = row + 1
        self._teach(pairs, done, len(pairs), ahead, shares)


def _divide(proba: Array, shares: Array) -> None:
    """Divide what is left beside ties between the two items by the share of the members that the first has."""
    decided = 1.0 - proba[:, TIE]
    proba[:, FIRST] = decided * shares
    proba[:, SECOND] = decided - proba[:, FIRST]


def checked_odds(given: Any) -> Array:
    """The state of calibration, of a snapshot; a `ValueError` if it is none."""
    if not (isinstance(given, list) and len(given) == ENTRIES):
        raise ValueError("odds of another size")
    odds = np.array(given, np.float64)
    if not (np.isfinite(odds) & (odds >= 0)).all() or odds[SCALE_INFORMATION] == 0:
        raise ValueError("odds that are not numbers from 0 on")
    return odds


def merged_odds(many: Sequence[Array]) -> Array:
    """How sure a lead makes after the pairs of several streams: the mean by pairs, and as many pairs as all of them."""
    pairs, ties = sum(each[PAIRS] for each in many), sum(each[TIES] for each in many)
    if not pairs:
        return new_odds()  # type: ignore[no-any-return]
    found = np.zeros(ENTRIES)
    for each in many:
        found += each[PAIRS] / pairs * each
    found[PAIRS], found[TIES] = pairs, ties
    return found
