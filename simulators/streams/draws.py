"""Random numbers that depend on nothing but their place: the seed, what they are for, the event, and the column.

The bits are those of SplitMix64 (Steele, Lea and Flood, 2014), a counter and a finaliser that mixes it; logarithms and cosines
are the engine's own. NumPy's generators draw normal numbers by the machine's mathematical library, whose last digits differ.

Cost: some ten nanoseconds a number.
"""

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.functions import cosines, logarithms

__all__ = ["Draws"]

Array = npt.NDArray[Any]

_GOLDEN, _OTHER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x8EBC6AF09C88C6E3)
_MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_TWO_PI = 6.283185307179586


class Draws:
    """Numbers for one purpose: a row for each event, whatever events are asked for together.

    >>> draws = Draws(1, "an example")
    >>> bool((draws.uniform(0, 5, 2)[3:] == draws.uniform(3, 2, 2)).all())
    True
    """

    def __init__(self, seed: int, purpose: str) -> None:
        digest = hashlib.sha256(f"{seed} {purpose}".encode()).digest()
        self._key = np.uint64(int.from_bytes(digest[:8], "little"))

    def bits(self, first: int, count: int, width: int) -> Array:
        """64 bits each."""
        events = np.arange(first, first + count, dtype=np.uint64)[:, None]
        places = np.arange(1, width + 1, dtype=np.uint64)
        state: Array = self._key + events * _GOLDEN + places * _OTHER
        for distance, factor in _MIXERS:
            state = (state ^ (state >> np.uint64(distance))) * np.uint64(factor)
        mixed: Array = state ^ (state >> np.uint64(31))
        return mixed

    def uniform(self, first: int, count: int, width: int) -> Array:
        """Numbers between 0 and 1, neither of which is one."""
        # 52 bits and a half: one more bit, and the largest would be rounded to 1
        whole = (self.bits(first, count, width) >> np.uint64(12)).astype(np.float64)
        found: Array = (whole + 0.5) * 2.0**-52
        return found

    def below(self, first: int, count: int, width: int, most: int) -> Array:
        """Whole numbers below `most`."""
        found: Array = (self.bits(first, count, width) % np.uint64(most)).astype(np.int64)
        return found

    def normal(self, first: int, count: int, width: int) -> Array:
        """Standard normal numbers (Box and Muller, 1958)."""
        uniform = self.uniform(first, count, 2 * width)
        lengths = np.sqrt(-2.0 * _of(logarithms, uniform[:, :width]))
        found: Array = lengths * _of(cosines, _TWO_PI * uniform[:, width:])
        return found

    def logistic(self, first: int, count: int, width: int) -> Array:
        """Standard logistic numbers."""
        uniform = self.uniform(first, count, width)
        found: Array = _of(logarithms, uniform) - _of(logarithms, 1.0 - uniform)
        return found


def _of(function: Any, values: Array) -> Array:
    """A function of the engine's of every number."""
    flat = np.ascontiguousarray(values).ravel()
    found = np.empty_like(flat)
    function(flat, found)
    return found.reshape(values.shape)
