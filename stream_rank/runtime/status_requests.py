"""Requests for the status from other threads, answered between chunks by the main loop."""

import threading
from collections.abc import Callable

__all__ = ["StatusRequests"]


class StatusRequests:
    """Other threads wait for the loop to answer, since learners may only be read between chunks."""

    def __init__(self, timeout: float) -> None:
        """`timeout` is in seconds."""
        self._timeout = timeout
        self._changed = threading.Condition()
        self._asked = self._answered = 0
        self._answer = ""

    def ask(self) -> str | None:
        """Wait for the answer; None after the timeout."""
        with self._changed:
            self._asked += 1
            wanted = self._asked
            in_time = self._changed.wait_for(lambda: self._answered >= wanted, self._timeout)
            return self._answer if in_time else None

    def answer(self, make: Callable[[], str]) -> None:
        """Answer all waiting threads; `make` is only called if there are any."""
        asked = self._asked
        if asked > self._answered:
            text = make()
            with self._changed:
                self._answer, self._answered = text, asked
                self._changed.notify_all()
