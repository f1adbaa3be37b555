"""Cumulative distributions, by the engine's exponential: so that what is said of a stream is the same everywhere, too."""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.functions import exponentials

__all__ = ["logistic_below", "normal_below"]

Array = npt.NDArray[Any]

_FAR = 7.5
"""Beyond that a normal number lies with a chance of less than 1e-13."""
_TERMS = 120
_ROOT_OF_TWO_PI = 2.5066282746310002


def _exponential(values: Array) -> Array:
    flat = np.ascontiguousarray(values, np.float64).ravel()
    found = np.empty_like(flat)
    exponentials(flat, found)
    return found.reshape(values.shape)


def logistic_below(values: Array) -> Array:
    """The chance that a standard logistic number is below.

    >>> logistic_below(np.array([0.0, 50.0])).round(9).tolist()
    [0.5, 1.0]
    """
    found: Array = 1.0 / (1.0 + _exponential(-values))
    return found


def normal_below(values: Array) -> Array:
    """The chance that a standard normal number is below, but for 1e-13: `1/2 + density (z + z**3/3 + z**5/15 + ...)`.

    >>> normal_below(np.array([0.0, 1.959963984540054, -1.0])).round(9).tolist()
    [0.5, 0.975, 0.158655254]
    """
    z = np.clip(values, -_FAR, _FAR)
    square, term = z * z, z.copy()
    total = z.copy()
    for n in range(1, _TERMS):
        term *= square / (2 * n + 1)
        total += term
    found: Array = 0.5 + _exponential(-0.5 * square) / _ROOT_OF_TWO_PI * total
    return found
