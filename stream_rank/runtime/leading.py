"""Whether a daemon may go on: it learns and writes only as long as nobody else can lead."""

import time
from collections.abc import Callable, Iterator

from stream_rank.checkpoint.lease import Lease
from stream_rank.errors import LeaseError

__all__ = ["Leading"]

_STEP_SECONDS = 0.05


class Leading:
    """Asked between chunks. It costs a look at a clock."""

    def __init__(self, lease: Lease, say: Callable[[str], object]) -> None:
        self._lease, self._say = lease, say
        self._paused = False

    def check(self) -> bool:
        """Whether nobody else can lead yet, by our own clock; a `LeaseError` if somebody does."""
        lost = self._lease.lost
        if lost is not None:
            raise LeaseError(
                f"{self._lease.words(lost)}: this process ends, and what it learned since its last snapshot is learned by whoever leads"
            )
        fresh = self._lease.fresh
        if self._paused == fresh:
            self._paused = not fresh
            self._say(
                "the lease is renewed: learning goes on"
                if fresh
                else f"the lease was not renewed for {self._lease.seconds:g} seconds, so that another may lead by now: nothing is learned "
                "or written until it is renewed"
            )
        return fresh

    def until_it_may(self) -> Iterator[None]:
        """Wait until `check`, and let the caller do other things meanwhile."""
        while not self.check():
            yield
            time.sleep(_STEP_SECONDS)
