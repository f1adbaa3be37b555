"""The checked numbers of events and data frames, for the transformers."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from stream_rank.errors import FeatureError
from stream_rank.learners.base.numbers import as_number, numbers, unusable
from stream_rank.learners.tables.dense_table import frame_of

__all__ = ["columns_of", "frame_from", "values_of"]

_LARGEST = 1e300


def values_of(x: Mapping[Any, Any], names: Sequence[Hashable]) -> list[float]:
    """An event's values in the order of the names, or an error that names the one that is no number."""
    values = []
    for name in names:
        try:
            value = as_number(x[name])
        except (TypeError, ValueError, OverflowError):
            raise unusable(name, x[name], _LARGEST) from None
        if not abs(value) <= _LARGEST:
            raise unusable(name, value, _LARGEST)
        values.append(value)
    return values


def frame_from(X: Any) -> "nw.DataFrame[Any]":
    """A data frame, or an error that says what to call with an array."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise FeatureError(
            f"transform_many takes a data frame, not {type(X).__name__}; "
            "matrix(X) is the same for an array"
        )
    return frame


def columns_of(frame: "nw.DataFrame[Any]", names: Sequence[Hashable]) -> npt.NDArray[np.float64]:
    """The values of a frame, its columns in the order of the names."""
    found = frame_of(frame.to_native())
    assert found is not None
    values, columns = found
    order = [columns.index(name) for name in names]
    result = numbers(values[:, order], names, _LARGEST).astype(np.float64)
    if not (np.abs(result) <= _LARGEST).all():
        row, column = np.argwhere(~(np.abs(result) <= _LARGEST))[0]
        raise unusable(names[column], result[row, column], _LARGEST, int(row))
    return result
