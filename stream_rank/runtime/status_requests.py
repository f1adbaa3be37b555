"""Questions from other threads that only the thread that learns may answer."""

import threading
from collections.abc import Callable

__all__ = ["StatusRequests"]


class StatusRequests:
    """Other threads ask and wait; the loop answers when it comes by, for nobody else may look at a learner."""

    def __init__(self, patience: float) -> None:
        """`patience` is how many seconds whoever asks waits."""
        self._patience = patience
        self._changed = threading.Condition()
        self._asked = self._answered = 0
        self._answer = ""

    def ask(self) -> str | None:
        """The answer; None if the loop does not come by in time."""
        with self._changed:
            self._asked += 1
            wanted = self._asked
            in_time = self._changed.wait_for(lambda: self._answered >= wanted, self._patience)
            return self._answer if in_time else None

    def answer(self, make: Callable[[], str]) -> None:
        """Answer whoever asked; nothing is made if nobody did."""
        asked = self._asked
        if asked > self._answered:
            text = make()
            with self._changed:
                self._answer, self._answered = text, asked
                self._changed.notify_all()
