"""Memory that blocks of a file are read into, given back by whoever took the chunks in them."""

import threading
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["Buffer", "BufferPool"]


class Buffer:
    """Memory that several chunks may lie in. It goes back to its pool once all of them were released.

    Chunks are released by the thread that learns, while another reads on: the count is under a lock.
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
        """Note that a chunk, or the reader, uses this memory."""
        with self._lock:
            self._users += 1

    def release(self) -> None:
        """Note that one user has done with this memory."""
        with self._lock:
            self._users -= 1
            unused = self._users == 0
        if unused:
            self._users = 1  # the next reader's
            self._give_back(self)


class BufferPool:
    """Buffers of one size. New memory costs page faults, so what is given back is used again.

    >>> pool = BufferPool(16)
    >>> first = pool.take()
    >>> first.taken()  # a chunk lies in it
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
        """A buffer that nobody else uses."""
        try:
            return self._free.pop()
        except IndexError:
            return Buffer(self._size, self._free.append)
