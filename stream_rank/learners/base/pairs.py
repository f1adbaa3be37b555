"""Many preferences at once: `learn_pair` in a loop, to the bit.

Cost: what the pairs' learning costs, and O(entries) to check them before the first is learned.
"""

from collections.abc import Mapping, Set
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stream_rank.errors import EventError
from stream_rank.learners.base.labels import label_column
from stream_rank.learners.tables.pairs import Pairs

if TYPE_CHECKING:
    from stream_rank.learners.base.learner import Learner

__all__ = ["check_reaches", "magnitude_column", "take_pairs"]

Array = npt.NDArray[Any]


def magnitude_column(magnitude: Any, n_pairs: int, bound: float) -> npt.NDArray[np.float64]:
    """The magnitudes of so many pairs, 1 each if there are none; an `EventError` names the one that cannot be."""
    from stream_rank.learners.base.learner import check_magnitude

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

    Every pair is looked at only if the largest number of each table and the largest magnitude would be too much.
    """
    if pairs.reach() <= learner._model.bound:
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
    _one_by_one(learner, pairs, 0, len(pairs), ahead)
    return ahead


def _one_by_one(learner: "Learner", pairs: Pairs, first: int, end: int, ahead: Array) -> None:
    """Learn some pairs as dicts."""
    come = {
        row: [name for _, name in several]
        for row, several in groupby(
            pairs.newcomers(learner._vocabulary, learner._model.apart), itemgetter(0)
        )
    }
    for row, (preferred, other, magnitude) in enumerate(pairs.dicts(first, end), first):
        if len(ahead):
            ahead[row] = learner.utility_one(preferred) - learner.utility_one(other)
        if row in come:
            before = len(learner._vocabulary)
            learner._vocabulary.add(come[row])
            learner._grow(before)
        learner.learn_pair(preferred, other, magnitude)
