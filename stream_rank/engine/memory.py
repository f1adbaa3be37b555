"""One block of memory for all that a learner knows.

A call from Python into compiled code costs about as much as the arrays it brings, and one event is
learned faster than one array is handed over. So a learner's arrays are sections of a single
block, whose header says where each begins. Python sees named views; compiled code takes the block
and finds a section with `place`.

The block's type is the type of the learner's weights: it selects the compiled variant.
Sections begin on cache lines.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.jit import inlined
from stream_rank.engine.lanes import WIDTH_BYTES, get, pointer

__all__ = ["Layout", "Memory", "aligned", "padded", "place"]

Layout = Mapping[str, tuple[npt.DTypeLike, tuple[int, ...]]]
"""Section name -> (dtype, shape); compiled code knows a section by its number in this order."""


def padded(count: int, dtype: npt.DTypeLike) -> int:
    """`count` rounded up to whole cache lines of `dtype`, and at least one."""
    lanes = WIDTH_BYTES // np.dtype(dtype).itemsize
    return max(1, -(-count // lanes)) * lanes


def _lines(size: int) -> int:
    return -(-size // WIDTH_BYTES) * WIDTH_BYTES


def aligned(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Zeros that begin on a cache line, so that no vector lies across two."""
    size = np.dtype(dtype).itemsize * int(np.prod(shape))
    raw = np.zeros(size + WIDTH_BYTES, np.uint8)
    start = -raw.ctypes.data % WIDTH_BYTES
    return raw[start : start + size].view(dtype).reshape(shape)


class Memory:
    """The sections of `layout` in one block of `dtype`, filled with zeros.

    >>> memory = Memory("float32", {"weights": ("float32", (2, 16)), "count": ("int64", (1,))})
    >>> memory["weights"][1, 3] = 0.5
    >>> memory.block.dtype, memory["weights"].sum()
    (dtype('float32'), np.float32(0.5))
    """

    def __init__(self, dtype: npt.DTypeLike, layout: Layout) -> None:
        self._lay_out(dtype, layout)

    def _lay_out(self, dtype: npt.DTypeLike, layout: Layout) -> None:
        self.layout = {name: (np.dtype(kind), shape) for name, (kind, shape) in layout.items()}
        place, places = _lines(8 * len(self.layout)), []
        for kind, shape in self.layout.values():
            places.append(place)
            place += _lines(kind.itemsize * int(np.prod(shape)))
        self._bytes = aligned((place,), np.uint8)
        self.block: npt.NDArray[Any] = self._bytes.view(dtype)
        self._sections: dict[str, npt.NDArray[Any]] = {}
        self._bytes[: 8 * len(places)].view(np.int64)[:] = places
        for (name, (kind, shape)), place in zip(self.layout.items(), places, strict=True):
            size = kind.itemsize * int(np.prod(shape))
            self._sections[name] = self._bytes[place : place + size].view(kind).reshape(shape)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._sections[name]

    def reshaped(self, layout: Layout) -> "Memory":
        """A new memory of `layout` that keeps what both hold, corner to corner."""
        other = Memory(self.block.dtype, layout)
        for name, old in self._sections.items():
            new = other[name]
            both = tuple(slice(min(a, b)) for a, b in zip(old.shape, new.shape, strict=True))
            new[both] = old[both]
        return other

    def __getstate__(self) -> tuple[np.dtype[Any], Layout, bytes]:
        return self.block.dtype, self.layout, self._bytes.tobytes()

    def __setstate__(self, state: tuple[np.dtype[Any], Layout, bytes]) -> None:
        dtype, layout, content = state
        self._lay_out(dtype, layout)
        self._bytes[:] = np.frombuffer(content, np.uint8)


@inlined
def place(block, section):
    """Where a section begins, in bytes from the start of the block."""
    return get(pointer(block, 0, np.int64), section)
