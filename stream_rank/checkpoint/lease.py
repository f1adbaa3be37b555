"""The lease of a store of snapshots: of all who might write there, one does."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from math import inf
from threading import RLock

from stream_rank.checkpoint.claim import LATEST, LEASE_SECONDS, Claim
from stream_rank.checkpoint.holder import Holder
from stream_rank.checkpoint.place import Place
from stream_rank.checkpoint.swap_error import SwapError
from stream_rank.errors import LeaseError

__all__ = ["Lease", "own_clock"]

_PATIENCE = 1.1
"""How much longer those who wait let a lease stand than its holder takes it for its own: no two clocks run at the same rate."""
_TRIES = 5
_LOOKS, _LONGEST_LOOK = 15, 1.0
"""So many times is a lease looked at while it lasts, and once a second at least, so that one that is given back is soon taken."""


def own_clock() -> float:
    """Seconds since this machine was started, also those in which it was suspended; no setting of a clock changes them."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Lease:
    """The right to say which snapshot is the latest, held by one process at a time.

    All of it is in one file, `latest` (`Claim`), which is written by compare-and-swap alone: whoever writes has read what was there.

    - Who **takes** the lease writes a number that is larger by one. From then on nobody else can move the pointer, however late they
      wake up: the file is of another version than the one they know. This depends on no clock.
    - Its holder **renews** it: a counter grows. Who waits sees by a clock of its own that nothing has changed for longer than the
      holder takes the lease for its own, and then takes it. A holder that is known to have ended (`Holder.gone`) is not waited for.
    - Its holder knows by its own clock, without asking anybody, when others may have taken it: it is `fresh` until then, counted from
      *before* the last renewal was sent, while those who wait count from after they saw it. So, unless clocks run at rates that differ by a tenth,
      nobody has the lease while another takes it for its own. Were that untrue, two would learn, and one alone could write.

    It costs a renewal, which is a write of some hundred bytes, for every quarter of `seconds`. Any thread may call what is here.

    Examples
    --------
    >>> import tempfile
    >>> from stream_rank.checkpoint.place import place_of
    >>> place = place_of(tempfile.mkdtemp())
    >>> moment = 0.0
    >>> one, other = (Lease(place, 10.0, lambda: moment, gone=lambda _: None) for _ in range(2))
    >>> one.take(), other.take()
    (True, False)
    >>> moment = 12.0
    >>> other.take(), other.number, one.fresh
    (True, 2, False)
    >>> one.point("a")
    Traceback (most recent call last):
    stream_rank.errors.LeaseError: process ... on ... took the lease of ..., as number 2
    """

    def __init__(
        self,
        place: Place,
        seconds: float = LEASE_SECONDS,
        clock: Callable[[], float] = own_clock,
        highest: Callable[[], int] = lambda: 0,
        gone: Callable[[Holder], bool | None] = lambda holder: holder.gone,
    ) -> None:
        """`highest` finds the highest number that was ever used, where the file does not say it."""
        self._place, self.seconds, self._clock = place, seconds, clock
        self._highest, self._gone = highest, gone
        self._us = Holder.ours()
        self._lock = RLock()
        self._seen = b"", clock()
        """What the file said when it was last looked at, and since when it does."""
        self._claim: Claim | None = None
        self._version, self._until = "", 0.0
        self.lost: Claim | None = None
        """What the file said when it was no longer ours; from then on this lease is for nothing."""
        self.safe = True
        """Whether two cannot take it in the same moment: some stores know no conditions."""

    # Those who wait -------------------------------------------------------------------------

    def look(self) -> Claim:
        """What the file says now."""
        try:
            content = self._place.read_soon(LATEST)
        except FileNotFoundError:
            content = b""
        return self._noted(content)

    def _noted(self, content: bytes) -> Claim:
        with self._lock:
            if content != self._seen[0]:
                self._seen = content, self._clock()
        return Claim.of(content)

    @property
    def seen(self) -> Claim:
        """What the file said when it was last looked at."""
        return Claim.of(self._seen[0])

    @property
    def look_seconds(self) -> float:
        """How long to wait between two looks."""
        return min(_LONGEST_LOOK, self.seconds / _LOOKS)

    @property
    def seems_free(self) -> bool:
        """Whether, by what was last seen, the lease can be had."""
        return self._is_free(self.seen)

    def _is_free(self, claim: Claim) -> bool:
        if claim.holder is None or self._gone(claim.holder):
            return True
        return self._clock() - self._seen[1] >= _PATIENCE * (claim.seconds or self.seconds)

    def take(self) -> bool:
        """Take the lease if it can be had; whether it is ours now."""
        with self._lock:
            if self.lost is not None:
                raise LeaseError(self.words(self.lost))
            content, version = self._place.read_version(LATEST) or (b"", None)
            claim = self._noted(content)
            if version is not None and claim.holder is not None and claim.holder.id == self._us.id:
                self._claim, self._version = claim, version  # we took it, and were not told so
                self.renew()
            elif not (self._is_free(claim) and self._taken(claim, version)):
                return False
            assert self._claim is not None
            self.safe = self._place.swaps_safely(LATEST, self._claim.as_bytes())
            return True

    def _taken(self, claim: Claim, version: str | None) -> bool:
        """Take it from whoever the claim says; whether nobody was faster."""
        number, now = claim.number, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        if not number:  # nobody took it before, or what the file said was lost
            number = self._highest()
        after = Claim(
            claim.snapshot, number + 1, claim.named, self._us, 0, float(self.seconds), now
        )
        begun = self._clock()
        try:
            version = self._place.swap(LATEST, after.as_bytes(), version)
        except SwapError:
            return False
        self._claim, self._version, self._until = after, version, begun + self.seconds
        return True

    def acquire(
        self,
        say: Callable[[str], object],
        stopped: Callable[[], bool] = lambda: False,
        wait: Callable[[float], object] = time.sleep,
    ) -> None:
        """Take the lease, or raise a `LeaseError` if somebody has it.

        One who may have ended without giving it back is watched for as long as it takes to know.
        """
        first: Claim | None = None
        while not self.take():
            claim = self.seen
            alive = claim.holder is not None and self._gone(claim.holder) is False
            if alive or (first is not None and claim != first) or stopped():
                raise LeaseError(f"{self._described(claim)}; one process at a time writes there")
            if first is None and claim.holder is not None:  # it is not being taken this moment
                first = claim
                say(
                    f"{self._described(claim)} and may have been killed: waiting for at most "
                    f"{_PATIENCE * (claim.seconds or self.seconds):.0f} seconds to see whether it still is there"
                )
            wait(self.look_seconds)

    def _described(self, claim: Claim) -> str:
        who = "another process" if claim.holder is None else str(claim.holder)
        return f"{who} has the lease of {self._place.url} since {claim.since}"

    # Its holder -----------------------------------------------------------------------------

    @property
    def number(self) -> int:
        """The fencing number of the lease as long as we have it, else 0."""
        claim = self._claim
        return 0 if claim is None else claim.number

    @property
    def run(self) -> str:
        """The random name of what is kept here, as far as it is known."""
        return (self._claim or self.seen).run

    @property
    def fresh(self) -> bool:
        """Whether, by our own clock, nobody else can have taken it."""
        return self._claim is not None and self._clock() < self._until

    @contextmanager
    def held(self) -> Iterator[None]:
        """Have the lease meanwhile: it is taken and given back by whoever does not have it anyway. A `LeaseError` if another has it."""
        if self._claim is not None:
            if not self.fresh:
                self.renew()
            yield
            return
        if not self.take():
            raise LeaseError(f"{self._described(self.seen)}; one process at a time writes there")
        try:
            yield
        finally:
            self.give_back()

    def renew(self) -> None:
        """Show that we are there; a `LeaseError` if the lease is another's by now."""
        self._change(lambda claim: claim._replace(renewals=claim.renewals + 1))

    def point(self, name: str | None) -> None:
        """Say which snapshot is the latest; a `LeaseError` if the lease is another's by now."""
        self._change(lambda claim: claim._replace(snapshot=name, renewals=claim.renewals + 1))

    def give_back(self) -> None:
        """Let others have it at once."""
        with self._lock:
            if self._claim is not None:
                self._until = -inf  # though there may be no answer, others may have it from now on
                self._change(lambda claim: claim._replace(holder=None))
                self._claim = None

    def _change(self, change: Callable[[Claim], Claim]) -> None:
        with self._lock:
            for _ in range(_TRIES):
                if self._claim is None:
                    raise LeaseError(
                        self.words(self.lost)
                        if self.lost
                        else f"the lease of {self._place.url} was given back"
                    )
                after, begun = change(self._claim), self._clock()
                try:
                    version = self._place.swap(LATEST, after.as_bytes(), self._version)
                except SwapError:
                    self._look_whose()
                    continue
                self._claim, self._version, self._until = after, version, begun + self.seconds
                return
            raise TimeoutError(f"{self._place.url} refuses to write {LATEST}, again and again")

    def _look_whose(self) -> None:
        """Find out whether somebody else wrote the file, or we did and were not told so."""
        content, version = self._place.read_version(LATEST) or (b"", "")
        found, ours = Claim.of(content), self._claim
        assert ours is not None
        if found.holder == ours.holder and found.number == ours.number:
            self._claim, self._version = found, version
            return
        self.lost, self._claim, self._until = found, None, 0.0
        raise LeaseError(self.words(found))

    def words(self, claim: Claim) -> str:
        """That the lease was taken from us, and by whom."""
        if claim.number == 0:
            return f"the file {LATEST} in {self._place.url}, which has the lease, was removed or overwritten"
        who = "another process" if claim.holder is None else str(claim.holder)
        return f"{who} took the lease of {self._place.url}, as number {claim.number}"
