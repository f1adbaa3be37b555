"""The deadline of a shutdown."""

import os
import threading
import time
from collections.abc import Callable

__all__ = ["ShutdownDeadline"]


class ShutdownDeadline:
    """Ends the process when stopping takes too long; records after the last snapshot are learned again after the next start."""

    def __init__(self, seconds: float, code: int, say: Callable[[str], object]) -> None:
        self.seconds = seconds
        self._code, self._say = code, say
        self._timer: threading.Timer | None = None
        self._begun = 0.0

    def begin(self) -> None:
        """Start the timer, if it is not running."""
        if self._timer is None:
            self._timer = threading.Timer(self.seconds, self._give_up)
            self._timer.daemon = True
            self._timer.start()
            self._begun = time.monotonic()

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.seconds - (time.monotonic() - self._begun)

    def end(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()

    def _give_up(self) -> None:
        self._say(
            f"stopping took longer than stop_seconds {self.seconds:g}; "
            "records after the last snapshot will be learned again after the next start"
        )
        os._exit(self._code)
