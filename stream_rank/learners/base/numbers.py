"""Checks and conversion of numbers: features, magnitudes and matrices."""

from collections.abc import Hashable, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.errors import EventError, FeatureError

__all__ = ["as_number", "check_magnitude", "numbers", "unusable"]


_NO_NUMBERS = (str, bytes, bytearray, complex, np.complexfloating, np.datetime64, np.timedelta64)
"""Types that are refused, although `float` converts them, some with a loss."""


def as_number(value: Any) -> float:
    """The value as a float; a `TypeError` or `ValueError` if it is text, a complex number or nothing of the kind."""
    if isinstance(value, _NO_NUMBERS):
        raise TypeError
    return float(value)


def check_magnitude(magnitude: float, bound: float) -> float:
    """The magnitude of a preference, if it is a number not below 0; 0 is a tie."""
    if not (isinstance(magnitude, Real) and 0 <= magnitude <= bound):
        raise EventError(
            f"magnitude must be a number from 0, a tie, to {bound:g}, not {magnitude!r}"
        )
    return float(magnitude) + 0.0


def unusable(name: Hashable, value: Any, bound: float, row: int | None = None) -> FeatureError:
    """The error for a feature whose value is not a number, or too large a number."""
    where = "" if row is None else f" of row {row}"
    shown = value.item() if isinstance(value, np.generic) else value
    hint = ""
    if shown is None or shown != shown:
        hint = "; leave a missing feature out, or fill it"
    elif isinstance(shown, str):
        hint = "; encode text first, as river.preprocessing.OneHotEncoder does"
    return FeatureError(
        f"feature {name!r}{where} is {shown!r}; "
        f"a finite number of at most {bound:g} in size is needed{hint}"
    )


def numbers(
    values: npt.NDArray[Any], columns: Sequence[Hashable], bound: float
) -> npt.NDArray[np.floating]:
    """A matrix as floats, or an error that names what in it is not a number."""
    if values.dtype in (np.float64, np.float32):
        return values
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    result = np.empty(values.shape)
    for row, column in np.ndindex(*values.shape):
        value = values[row, column]
        try:
            result[row, column] = as_number(value)
        except (TypeError, ValueError, OverflowError):
            raise unusable(columns[column], value, bound, row) from None
    return result
