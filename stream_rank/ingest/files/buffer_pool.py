"""A pool of reference-counted buffers that blocks of a file are read into."""

import threading
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["Buffer", "BufferPool"]


class Buffer:
    """Memory that several chunks may share. It returns to its pool once all of them are released.

    The learning thread releases chunks while another thread reads: a lock guards the reference count.
    """

    def __init__(self, size: int, give_back: "Callable[[Buffer], None]") -> None:
        self.bytes: npt.NDArray[np.uint8] = np.zeros(size, np.uint8)
        self.view = memoryview(self.bytes.data).cast("B")
        self._give_back = give_back
        self._users = 1
        self._lock = threading.Lock()

    @property
    def in_use(self) -> bool:
        """Whether a chunk lies in it that was not released."""
        with self._lock:
            return self._users > 1

    def taken(self) -> None:
        """Count one more user: a chunk, or the reader."""
        with self._lock:
            self._users += 1

    def release(self) -> None:
        """Count one user less; the last one returns the buffer to its pool."""
        with self._lock:
            self._users -= 1
            unused = self._users == 0
        if unused:
            self._users = 1  # the next reader's
            self._give_back(self)


class BufferPool:
    """Buffers of one size. New memory costs page faults, so released buffers are reused.

    >>> pool = BufferPool(16)
    >>> first = pool.take()
    >>> first.taken()  # a chunk is in it
    >>> first.release()  # the reader goes on to another
    >>> pool.take() is first
    False
    >>> first.release()  # the chunk was learned
    >>> pool.take() is first
    True
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._free: list[Buffer] = []

    def take(self) -> Buffer:
        """An unused buffer."""
        try:
            return self._free.pop()
        except IndexError:
            return Buffer(self._size, self._free.append)
