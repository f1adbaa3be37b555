"""Many preferences at once: `learn_pair` in a loop, to the bit.

Cost: what the pairs' learning costs, and O(entries) to check them before the first is learned.
"""

from collections.abc import Hashable, Mapping, Set
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stream_rank.errors import EventError
from stream_rank.learners.base.labels import label_column
from stream_rank.learners.base.numbers import check_magnitude
from stream_rank.learners.tables.pairs import Pairs

if TYPE_CHECKING:
    from stream_rank.learners.base.learner import Learner

__all__ = ["check_reaches", "magnitude_column", "take_pairs"]

Array = npt.NDArray[Any]


def magnitude_column(magnitude: Any, n_pairs: int, bound: float) -> npt.NDArray[np.float64]:
    """The magnitudes of so many pairs, 1 each if there are none; an `EventError` names the one that cannot be."""
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


def check_reaches(learner: "Learner", pairs: Pairs) -> None:
    """Raise an `EventError` unless weights may move by every difference times its magnitude.

    Every pair is looked at only if the largest numbers and the largest magnitude together might be too much.
    """
    if pairs.far_within(learner._model.bound):
        return
    for row, (preferred, other, magnitude) in enumerate(pairs.dicts(0, len(pairs))):
        difference = learner._difference(preferred, other)
        try:
            learner._check_reach(max(map(abs, difference.values()), default=0.0), magnitude)
        except EventError as error:
            raise EventError(f"pair {row}: {error}") from None


def take_pairs(
    learner: "Learner", preferred: Any, other: Any, magnitude: Any, asking: bool
) -> npt.NDArray[np.float64]:
    """Learn pairs, all checked before the first; if `asking`, by how much each preferred item was ahead before."""
    first, second = learner._open(preferred), learner._open(other)
    bound = learner._model.bound
    pairs = Pairs(first, second, magnitude_column(magnitude, len(first), bound))
    ahead = np.empty(len(pairs) if asking else 0)
    if not len(pairs):
        return ahead
    learner._check_pairs(pairs)
    come = pairs.newcomers(learner._vocabulary, learner._model.apart)
    if learner._model.always_blocks and asking:
        _take_apart(learner, pairs, come, ahead)
    else:
        _introduce(learner, [name for _, name in come])
        _teach(learner, pairs, 0, len(pairs), ahead)
    return ahead


def _introduce(learner: "Learner", names: list[Hashable]) -> None:
    """Give slots to names."""
    before = len(learner._vocabulary)
    learner._vocabulary.add(names)
    learner._grow(before)


def _teach(learner: "Learner", pairs: Pairs, first: int, end: int, ahead: Array) -> None:
    """Learn pairs `first` to `end`, whose features have slots."""
    model, vocabulary = learner._model, learner._vocabulary
    if model.always_blocks:
        blocks = pairs.all_features(vocabulary, model.dtype, first, end)
    else:
        blocks = pairs.blocks(vocabulary, model.n_slots, "float64", first, end)
    learner._teach_pairs(blocks, pairs.magnitudes[first:end], ahead[first:end])


def _take_apart(
    learner: "Learner", pairs: Pairs, come: list[tuple[int, Hashable]], ahead: Array
) -> None:
    """Learn pairs, those that bring features one by one.

    A kernel's value counts the squares of features that have no slot yet, and these are summed as if the item
    were the only one; so what is said of such a pair is not to the bit what would be once both items have slots.
    """
    done = 0
    for row, several in groupby(come, itemgetter(0)):
        _teach(learner, pairs, done, row, ahead)
        (preferred, other, magnitude) = next(pairs.dicts(row, row + 1))
        ahead[row] = learner.utility_one(preferred) - learner.utility_one(other)
        _introduce(learner, [name for _, name in several])
        learner.learn_pair(preferred, other, magnitude)
        done = row + 1
    _teach(learner, pairs, done, len(pairs), ahead)
