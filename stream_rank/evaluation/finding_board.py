"""The board of what users liked next: recall and NDCG of the first ten, of one learner and of popularity."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.engine.bilinear.finding import (
    FOUND,
    GAIN,
    ITEMS,
    MET,
    PAIRS,
    POPULAR,
    POPULAR_GAIN,
    QUESTIONS,
    SUMS,
)
from stream_rank.evaluation.baseline import counted

__all__ = ["FindingBoard", "Watched"]

Array = npt.NDArray[Any]


class Watched(NamedTuple):
    """What is counted while a learner learns: sums, items to draw from, and ratings that are remembered."""

    sums: Array
    items: Array
    pairs: Array
    asking: Array
    """The events that may be asked about: those that are predicted and learned at once."""


class FindingBoard:
    """Questions that are asked on the way, as `engine.bilinear.finding` says; the learner's own loop counts the answers.

    Cost: 560 KB, once a user rated an item.
    """

    def __init__(self) -> None:
        self._sums: Array = np.zeros(SUMS)
        self._items: Array = np.zeros(0, np.int64)
        self._pairs: Array = np.zeros(0, np.int64)

    def watched(self, asking: Array) -> Watched:
        """What a learner counts in."""
        if not len(self._items):
            self._items, self._pairs = np.zeros(ITEMS, np.int64), np.zeros(PAIRS, np.int64)
        return Watched(self._sums, self._items, self._pairs, asking)

    @property
    def questions(self) -> int:
        """How many questions were asked."""
        return int(self._sums[QUESTIONS])

    def summary(self) -> dict[str, Any]:
        """What is known, by name; nothing before the first question."""
        if not self.questions:
            return {}
        names = {"recall_at_10": FOUND, "ndcg_at_10": GAIN}
        names |= {"popularity_recall_at_10": POPULAR, "popularity_ndcg_at_10": POPULAR_GAIN}
        means = {name: float(self._sums[at]) / self.questions for name, at in names.items()}
        return {"recall_questions": self.questions, **means}

    # For snapshots --------------------------------------------------------------------------

    def arrays(self) -> dict[str, Array]:
        """The arrays of its state; none before a user rated an item."""
        if not self._sums[MET]:
            return {}
        return {"found": self._sums, "found_items": self._items, "found_pairs": self._pairs}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Continue from another's state; a `ValueError` if it is none. Snapshots of before have none, and then it begins anew."""
        if "found" not in arrays:
            return
        sums, items, pairs = (arrays[key] for key in ("found", "found_items", "found_pairs"))
        shapes = sums.shape, items.shape, pairs.shape
        fits = shapes == ((SUMS,), (ITEMS,), (PAIRS,)) and sums.dtype == np.float64
        if not (fits and items.dtype == pairs.dtype == np.int64):
            raise ValueError("the scoreboard's questions have another size")
        most = sums[QUESTIONS]
        good = counted(most) and counted(sums[MET])
        if not (good and (sums[:MET] >= 0).all() and (sums[:MET] <= most).all()):
            raise ValueError("the scoreboard's questions have no counts")
        self._sums, self._items, self._pairs = (np.array(each) for each in (sums, items, pairs))
