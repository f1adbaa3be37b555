"""Memory that is used again by the next call."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Spare"]

Array = npt.NDArray[Any]

_MOST_KEPT = 1 << 22
"""Numbers of the largest memory that is kept, 32 MB."""


class Spare:
    """Room for numbers: fresh pages cost as much as what is written to them.

    >>> spare = Spare(np.int64)
    >>> first = spare.of(3)
    >>> np.shares_memory(first, spare.of(2))
    True
    """

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self._numbers: Array = np.empty(0, dtype)

    def of(self, count: int) -> Array:
        """Room for so many numbers, valid until the next call, which are whatever they are."""
        if count > _MOST_KEPT:
            return np.empty(count, self._numbers.dtype)
        if count > len(self._numbers):
            self._numbers = np.empty(min(count + count // 4, _MOST_KEPT), self._numbers.dtype)
        return self._numbers[:count]

    def __reduce__(self) -> Any:
        return Spare, (self._numbers.dtype,)  # a copy needs none of it
