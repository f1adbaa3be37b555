"""`LabelScale`: the labels of a stream whose labels are not the ranks 1 to N."""

from __future__ import annotations  # settings have a scale, and help is shown without NumPy

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from stream_rank.errors import LabelError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

__all__ = ["LabelScale"]

_NEAR = 1e-3
"""A number is a label that it differs from by at most so much of a step: 4.7 as a float32 is not 4.7."""
_SHOWN = 4
"""So many labels of a longer scale does a message show."""


def _shown(label: Any) -> str:
    """A number with so many digits that labels differ; what is no number as it is."""
    number = isinstance(label, int | float) and not isinstance(label, bool)
    return f"{label:.12g}" if number else repr(label)


@dataclass(frozen=True)
class LabelScale:
    """Labels from the lowest to the highest, all numbers or all texts. The label at place i, from 1, is rank i.

    >>> stars = LabelScale((0.5, 1.0, 1.5, 2.0))
    >>> stars.rank_of(1.5), stars.label_of(3)
    (3, 1.5)
    >>> LabelScale(("bad", "good")).rank_of("great")
    Traceback (most recent call last):
    ...
    stream_rank.errors.LabelError: label 'great' is not one of 'bad', 'good'
    """

    labels: tuple[float, ...] | tuple[str, ...]

    @property
    def n_ranks(self) -> int:
        """The number of labels."""
        return len(self.labels)

    @property
    def of_texts(self) -> bool:
        """Whether labels are texts."""
        return isinstance(self.labels[0], str)

    @cached_property
    def _ranks(self) -> dict[Any, int]:
        return {label: rank for rank, label in enumerate(self.labels, 1)}

    @cached_property
    def _ascending(self) -> tuple[Array, npt.NDArray[np.int64], float]:
        """The numbers in ascending order, the rank of each, and how near one has to be."""
        import numpy as np

        given = np.array(self.labels, np.float64)
        order = np.argsort(given, kind="stable")
        return given[order], order + 1, _NEAR * float(np.diff(given[order]).min())

    def rank_of(self, label: Any) -> int:
        """The rank of a label; raises `LabelError` if it is none.

        Cost: O(1) of texts, O(log labels) of numbers.
        """
        import numpy as np

        rank = 0
        if self.of_texts:
            rank = self._ranks.get(label, 0) if isinstance(label, str) else 0
        elif isinstance(label, int | float) and not isinstance(label, bool):
            rank = int(self.ranks_of(np.array([label], np.float64))[0])
        if rank == 0:
            raise self.unknown(label)
        return rank

    def ranks_of(self, labels: Array) -> Array:
        """The ranks of numbers: 0 of what is no label, and NaN, for an event without one, stays.

        Cost: O(numbers log labels).
        """
        import numpy as np

        if self.of_texts:
            return np.where(np.isnan(labels), labels, 0.0)
        known, ranks, near = self._ascending
        above = np.clip(np.searchsorted(known, labels), 1, len(known) - 1)
        nearest = above - (labels - known[above - 1] <= known[above] - labels)
        found = np.where(np.abs(labels - known[nearest]) <= near, ranks[nearest], 0)
        return np.where(np.isnan(labels), labels, found)

    def label_of(self, rank: float) -> float | str | None:
        """The label of a predicted rank; None where there was no prediction, or, by somebody else's classifier, of what is no rank."""
        return self.labels[int(rank) - 1] if 1 <= rank <= len(self.labels) else None

    def unknown(self, label: Any) -> LabelError:
        """What to say of something that is no label."""
        given, *labels = [_shown(each) for each in (label, *self.labels)]
        if len(labels) > _SHOWN:
            labels[_SHOWN - 2 : -1] = ["..."]
        return LabelError(f"label {given:.60} is not one of {', '.join(labels)}")
