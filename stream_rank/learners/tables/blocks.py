"""The forms in which events reach a model."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["DenseBlock", "SparseBlock"]


class DenseBlock(NamedTuple):
    """Some rows, one number a slot."""

    first: int
    end: int
    rows: npt.NDArray[Any]


class SparseBlock(NamedTuple):
    """Some rows, as the slots that are not zero, ascending within a row."""

    first: int
    end: int
    starts: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int64]
    values: npt.NDArray[Any]
