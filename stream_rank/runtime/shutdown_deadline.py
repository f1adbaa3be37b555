"""The time that stopping may take."""

import os
import threading
import time
from collections.abc import Callable

__all__ = ["ShutdownDeadline"]


class ShutdownDeadline:
    """Ends the process when stopping takes too long; what is behind the last snapshot is learned after the next start."""

    def __init__(self, seconds: float, code: int, say: Callable[[str], object]) -> None:
        self.seconds = seconds
        self._code, self._say = code, say
        self._timer: threading.Timer | None = None
        self._begun = 0.0

    def begin(self) -> None:
        """From now on, the time is counted."""
        if self._timer is None:
            self._timer = threading.Timer(self.seconds, self._give_up)
            self._timer.daemon = True
            self._timer.start()
            self._begun = time.monotonic()

    @property
    def left(self) -> float:
        """Seconds of the time that is counted."""
        return self.seconds - (time.monotonic() - self._begun)

    def end(self) -> None:
        """It was in time."""
        if self._timer is not None:
            self._timer.cancel()

    def _give_up(self) -> None:
        self._say(
            f"stopping took longer than stop_seconds {self.seconds:g}; "
            "what is behind the last snapshot will be learned after the next start"
        )
        os._exit(self._code)
