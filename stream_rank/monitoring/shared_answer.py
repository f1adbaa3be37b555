"""One answer for all who ask at the same time."""

import threading
import time
from collections.abc import Callable

__all__ = ["SharedAnswer"]


class SharedAnswer:
    """An answer that is costly to make: whoever asks again soon, or meanwhile, is given the same one.

    >>> made = []
    >>> ask = SharedAnswer(lambda: made.append(0) or b"answer", seconds=60)
    >>> ask(), ask(), len(made)
    (b'answer', b'answer', 1)
    """

    def __init__(
        self,
        make: Callable[[], bytes],
        seconds: float = 0.1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """An answer is given for so many seconds from when its making began, so it is never older."""
        self._make, self._seconds, self._clock = make, seconds, clock
        self._lock = threading.Lock()
        self._answer, self._until = b"", -1.0

    def __call__(self) -> bytes:
        """The answer."""
        with self._lock:
            now = self._clock()
            if now >= self._until:
                self._answer, self._until = self._make(), now + self._seconds
            return self._answer
