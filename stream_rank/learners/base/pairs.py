"""Learning many preferences at once, to the bit as `learn_pair` in a loop.

Cost: what the pairs' learning costs, and O(entries) to check them before the first is learned.
"""

from collections.abc import Hashable, Iterator, Mapping, Set
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.errors import EventError
from stream_rank.learners.base.labels import label_column
from stream_rank.learners.base.numbers import check_magnitude
from stream_rank.learners.models.model import Model
from stream_rank.learners.tables.pairs import PairBlock, Pairs
from stream_rank.learners.tables.table import Table
from stream_rank.learners.tables.vocabulary import Vocabulary

__all__ = ["PairLearner", "magnitude_column"]

Array = npt.NDArray[Any]


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
        if ((numbers > 0) & (numbers <= bound)).all():
            return numbers
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

    _model: Model
    _vocabulary: Vocabulary

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

    def learn_pair(self, preferred: Any, other: Any, magnitude: float = 1.0) -> None:
        """Learn that one item is preferred to another."""
        raise NotImplementedError

    def learn_pairs(self, preferred: Any, other: Any, magnitude: Any = None) -> None:
        """Learn that row i of one table is preferred to row i of another; `learn_pair` in a loop, to the bit.

        A batch with a number that cannot be learned is refused whole.

        Parameters
        ----------
        preferred, other
            Each a data frame, an array or a CSR matrix.
        magnitude
            A column of numbers above 0; None is 1 for each.
        """
        self._take_pairs(preferred, other, magnitude, False)

    def test_then_train_pairs(
        self, preferred: Any, other: Any, magnitude: Any = None
    ) -> npt.NDArray[np.float64]:
        """Learn pairs as `learn_pairs` does; for each, by how much the preferred was ahead before it was learned.

        That is the difference of what `utility_one` says of the two.
        """
        return self._take_pairs(preferred, other, magnitude, True)

    def _take_pairs(
        self, preferred: Any, other: Any, magnitude: Any, asking: bool
    ) -> npt.NDArray[np.float64]:
        """Learn pairs, all checked before the first; if `asking`, return the differences of scores before each."""
        first, second = self._open(preferred), self._open(other)
        magnitudes = magnitude_column(magnitude, len(first), self._model.bound)
        pairs = Pairs(first, second, magnitudes)
        ahead = np.empty(len(pairs) if asking else 0)
        if not len(pairs):
            return ahead
        self._check_pairs(pairs)
        come = pairs.newcomers(self._vocabulary, self._model.apart)
        if self._model.always_blocks and asking:
            self._take_apart(pairs, come, ahead)
        else:
            self._give_slots([name for _, name in come])
            self._teach(pairs, 0, len(pairs), ahead)
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

    def _teach(self, pairs: Pairs, first: int, end: int, ahead: Array) -> None:
        """Learn pairs `first` to `end`, whose features have slots."""
        model, vocabulary = self._model, self._vocabulary
        if model.always_blocks:
            blocks = pairs.all_features(vocabulary, model.dtype, first, end)
        else:
            blocks = pairs.blocks(vocabulary, model.n_slots, "float64", first, end)
        self._teach_pairs(blocks, pairs.magnitudes[first:end], ahead[first:end])

    def _teach_pairs(self, blocks: Iterator[PairBlock], magnitudes: Array, ahead: Array) -> None:
        """Learn pairs whose features have slots; by how much the preferred were ahead, unless `ahead` is empty."""
        done = 0
        for block in blocks:
            some = slice(done, done + block.n_pairs)
            self._model.run_pairs(block, magnitudes[some], ahead[some])
            done = some.stop

    def _take_apart(self, pairs: Pairs, come: list[tuple[int, Hashable]], ahead: Array) -> None:
        """Learn pairs, those with new features one by one.

        A kernel value includes the squares of features without a slot, which are summed in an order of each item's own.
        So the prediction for such a pair may differ in its last bits from that once both items have slots.
        """
        done = 0
        for row, several in groupby(come, itemgetter(0)):
            self._teach(pairs, done, row, ahead)
            (preferred, other, magnitude) = next(pairs.dicts(row, row + 1))
            ahead[row] = self.utility_one(preferred) - self.utility_one(other)
            self._give_slots([name for _, name in several])
            self.learn_pair(preferred, other, magnitude)
            done = row + 1
        self._teach(pairs, done, len(pairs), ahead)
