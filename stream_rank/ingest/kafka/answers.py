"""How long brokers have said nothing to us."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Answers"]


class Answers:
    """When a broker last said anything; one thread notes it, and any may ask.

    Clients try again by themselves, and most of what fails is no error to whoever polls them: silence is what tells a broker that
    is gone, or frozen with its connections open, from a topic to which nothing comes. While all is well, none is longer than
    the ten seconds between two requests for metadata: group members send heartbeats, and fetches are answered empty.

    >>> moments = iter([0.0, 3.0, 5.0, 6.0, 16.0])
    >>> answers = Answers(lambda: next(moments))
    >>> answers.silence  # at 3.0, since the start
    3.0
    >>> answers.heard()  # at 5.0
    >>> answers.silence, answers.silence
    (1.0, 11.0)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._heard = self._last = clock()
        self._deaf_since: float | None = None

    def heard(self, ago: float = 0.0) -> None:
        """A broker spoke, so many seconds ago; if that is before what is known, nothing did since then."""
        self._heard = max(self._heard, self._clock() - ago)
        self._last = self._heard

    @contextmanager
    def listening(self) -> Iterator[None]:
        """For a client that hears while it is polled alone: what passes between two polls is no silence, as long as nobody listened.

        Once polled, it says how long ago a broker spoke, and the silence is counted whole.
        """
        if self._deaf_since is not None:
            self._last += self._clock() - self._deaf_since
            self._deaf_since = None
        try:
            yield
        finally:
            self._deaf_since = self._clock()

    @property
    def silence(self) -> float:
        """Seconds since a broker last spoke, or since the start."""
        deaf_since = self._deaf_since
        return max(0.0, (self._clock() if deaf_since is None else deaf_since) - self._last)
