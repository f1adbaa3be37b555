"""What goes wrong for a while: said once, counted, and not tried again at once."""

import time
from collections.abc import Callable

__all__ = ["Trouble"]

_FIRST_WAIT, _LONGEST_WAIT = 0.1, 2.0
"""Seconds between two tries: a broker that restarts is found again soon, and one that is down is left alone.
Longer ones would keep a client from joining its group, which takes several polls."""


class Trouble:
    """One kind of trouble. It begins, lasts, and is over; `say` hears of its beginning and its end.

    >>> trouble = Trouble("Kafka", print)
    >>> trouble.met("nobody answers")
    Kafka: nobody answers
    0.1
    >>> trouble.met("nobody answers")
    0.2
    >>> trouble.over()
    Kafka: well again after ... seconds and 2 tries
    """

    def __init__(
        self,
        what: str,
        say: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what, self._say, self._clock = what, say, clock
        self._since: float | None = None
        self._tries, self._said = 0, ""
        self.count = 0
        """Of all tries that failed, ever."""

    @property
    def lasts(self) -> bool:
        """Whether it is not over."""
        return self._since is not None

    def met(self, reason: str) -> float:
        """Note a try that failed, and why; for how many seconds not to try again."""
        if self._since is None:
            self._since = self._clock()
        if reason != self._said:
            self._say(f"{self._what}: {reason}")
        self._said = reason
        self._tries += 1
        self.count += 1
        return min(_FIRST_WAIT * 2.0 ** min(self._tries - 1, 16), _LONGEST_WAIT)

    def over(self) -> None:
        """Note that it goes well."""
        if self._since is not None:
            seconds = self._clock() - self._since
            self._say(
                f"{self._what}: well again after {seconds:.1f} seconds and {self._tries} tries"
            )
            self._since, self._tries, self._said = None, 0, ""
