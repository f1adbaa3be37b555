"""One block of memory for all that a learner knows.

A call from Python into compiled code costs about as much as the arrays it brings, and one event is
learned faster than one array is handed over. So a learner's arrays are sections of a single
block, whose header says where each begins. Python sees named views; compiled code takes the block
and finds a section with `place`.

The block's type is the type of the learner's weights: it selects the compiled variant.
Sections begin on cache lines.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.engine.jit import inlined
from stream_rank.engine.lanes import WIDTH_BYTES
from stream_rank.engine.pointers import get, pointer

__all__ = ["Layout", "Memory", "Section", "aligned", "padded", "place", "within"]


class Section(NamedTuple):
    """A section of a memory."""

    dtype: npt.DTypeLike
    shape: tuple[int, ...]
    scratch: bool = False
    """Written before it is read, and no part of what is known."""
    own: tuple[int, ...] | None = ()
    """Entries that follow from parameters and room; None if all of them do."""
    below: Mapping[int, int] = {}
    """What some entries, which count or point, are always below."""
    infinite: bool = False
    """Whether infinities stand for something."""


Layout = Mapping[str, Section]
"""Sections by name; compiled code knows a section by its number in this order."""


def padded(count: int, dtype: npt.DTypeLike) -> int:
    """`count` rounded up to whole cache lines of `dtype`, and at least one."""
    lanes = WIDTH_BYTES // np.dtype(dtype).itemsize
    return max(1, -(-count // lanes)) * lanes


def _lines(size: int) -> int:
    return -(-size // WIDTH_BYTES) * WIDTH_BYTES


def aligned(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Zeros that begin on a cache line, so that no vector lies across two."""
    size = np.dtype(dtype).itemsize * math.prod(shape)
    raw = np.zeros(size + WIDTH_BYTES, np.uint8)
    start = -raw.ctypes.data % WIDTH_BYTES
    return raw[start : start + size].view(dtype).reshape(shape)


_most: ContextVar[float] = ContextVar("most", default=math.inf)

_SCRATCH_SHARE = 256
"""Scratch is at most so many times as large as what is kept, and this many kilobytes."""


@contextmanager
def within(n_bytes: int) -> Iterator[None]:
    """Inside, no memory is made that keeps more than so many bytes: a `MemoryError` comes before it is.

    For those who make a memory because a file says how large it is.
    """
    token = _most.set(n_bytes)
    try:
        yield
    finally:
        _most.reset(token)


class Memory:
    """The sections of `layout` in one block of `dtype`, filled with zeros.

    >>> memory = Memory("float32", {"weights": Section("float32", (2, 16)), "count": Section("int64", (1,))})
    >>> memory["weights"][1, 3] = 0.5
    >>> memory.block.dtype, memory["weights"].sum()
    (dtype('float32'), np.float32(0.5))
    """

    def __init__(self, dtype: npt.DTypeLike, layout: Layout) -> None:
        self._lay_out(dtype, layout)

    def _lay_out(self, dtype: npt.DTypeLike, layout: Layout) -> None:
        self.layout = dict(layout)
        sizes = {
            name: np.dtype(s.dtype).itemsize * math.prod(s.shape) for name, s in layout.items()
        }
        kept = sum(sizes[name] for name, section in layout.items() if not section.scratch)
        most = _most.get()
        if kept > most or sum(sizes.values()) > _SCRATCH_SHARE * (most + 1024):
            raise MemoryError(f"{sum(sizes.values()):,} bytes, where {most:,} were expected")
        place, places = _lines(8 * len(self.layout)), []
        for size in sizes.values():
            places.append(place)
            place += _lines(size)
        self._bytes = aligned((place,), np.uint8)
        self.block: npt.NDArray[Any] = self._bytes.view(dtype)
        self._sections: dict[str, npt.NDArray[Any]] = {}
        self._bytes[: 8 * len(places)].view(np.int64)[:] = places
        for (name, section), place in zip(self.layout.items(), places, strict=True):
            content = self._bytes[place : place + sizes[name]]
            self._sections[name] = content.view(section.dtype).reshape(section.shape)

    @property
    def n_bytes(self) -> int:
        """The size of the block."""
        return self._bytes.size

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

    def adopt(self, kept: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over what a memory of the same parameters kept, whatever room it had.

        A `ValueError` if it cannot be of such a memory; nothing is left out, and nothing points anywhere it may not.
        """
        wanted = self.kept()
        if kept.keys() != wanted.keys():
            raise ValueError(f"sections {sorted(kept)} instead of {sorted(wanted)}")
        for name, mine in wanted.items():
            given, section = kept[name], self.layout[name]
            larger = given.ndim != mine.ndim or any(
                a > b for a, b in zip(given.shape, mine.shape, strict=True)
            )
            if given.dtype != mine.dtype or larger:
                raise ValueError(
                    f"section {name} is {given.dtype}{given.shape}, not {mine.dtype}{mine.shape}"
                )
            if mine.dtype.kind == "f":
                sound = ~np.isnan(given) if section.infinite else np.isfinite(given)
                if not sound.all():
                    raise ValueError(f"section {name} has numbers that are not finite")
            if section.own is None:
                continue
            own = mine[list(section.own)].copy()
            mine[tuple(map(slice, given.shape))] = given
            mine[list(section.own)] = own
            for entry, bound in section.below.items():
                if not 0 <= mine[entry] < bound:
                    raise ValueError(f"entry {entry} of section {name} is {mine[entry]}")

    def kept(self) -> dict[str, npt.NDArray[Any]]:
        """The sections that are not scratch."""
        return {name: self[name] for name, section in self.layout.items() if not section.scratch}

    def __getstate__(self) -> tuple[np.dtype[Any], Layout, dict[str, bytes]]:
        content = {name: section.tobytes() for name, section in self.kept().items()}
        return self.block.dtype, self.layout, content

    def __setstate__(self, state: tuple[np.dtype[Any], Layout, dict[str, bytes]]) -> None:
        dtype, layout, content = state
        self._lay_out(dtype, layout)
        for name, section in content.items():
            self[name].reshape(-1)[:] = np.frombuffer(section, self[name].dtype)


@inlined
def place(block, section):
    """Where a section begins, in bytes from the start of the block."""
    return get(pointer(block, 0, np.int64), section)
