"""The file `latest`: which snapshot is the latest, and who may say so."""

import json
import secrets
from typing import Any, NamedTuple

from stream_rank.checkpoint.holder import Holder

__all__ = ["LATEST", "LEASE_SECONDS", "Claim"]

LATEST = "latest"
LEASE_SECONDS = 30.0
"""For runs that have no session timeout."""
_SIZE = 1024
"""Bytes of the file, always as many, so that it can be written over on a disk that is full."""
_LONGEST_SECONDS = 3600.0
"""More than a session timeout may be: nobody waits longer for a file that is wrong."""


class Claim(NamedTuple):
    """What the file says. Pointer and lease are one file, so that whoever takes the lease has taken the right to move the pointer too.

    Nothing in it is a time of a clock that is compared: machines do not agree about the time, and clocks are set.

    >>> claim = Claim("a.safetensors", 3, "f00", Holder("1d", "here", 7), 12, 30.0, "2026-11-20T10:00:00Z")
    >>> Claim.of(claim.as_bytes()) == claim
    True
    >>> Claim.of(b"{cut off")
    Claim(snapshot=None, number=0, run='', holder=None, renewals=0, seconds=0.0, since='')
    """

    snapshot: str | None = None
    number: int = 0
    """The fencing number, which only grows: of every holder of the lease there is another, and snapshots bear it in their names."""
    run: str = ""
    """A random name of what is kept here, by which those who wait for the same lease are known to belong together."""
    holder: Holder | None = None
    """Whoever has it; None if it was given back."""
    renewals: int = 0
    seconds: float = 0.0
    """How long a holder takes the lease for its own after it was renewed, by a clock of its own."""
    since: str = ""
    """When it was taken, by the holder's clock and for people."""

    def as_bytes(self) -> bytes:
        """The content of the file."""
        holder = None if self.holder is None else self.holder._asdict()
        text = json.dumps({**self._asdict(), "holder": holder}, indent=1)
        return text.encode().ljust(_SIZE - 1) + b"\n"

    @staticmethod
    def of(content: bytes) -> "Claim":
        """What the content says. Of a run from before there were leases it is the name of a snapshot; what cannot be read says nothing."""
        try:
            text = content.decode()
            found = json.loads(text) if text.startswith("{") else {"snapshot": text}
        except (ValueError, RecursionError):
            return Claim()
        given = _Fields(found)
        return Claim(
            given.of("snapshot", str, None),
            max(0, given.of("number", int, 0)),
            given.of("run", str, ""),
            Holder.from_json(found.get("holder")),
            max(0, given.of("renewals", int, 0)),
            min(max(0.0, given.of("seconds", float, 0.0)), _LONGEST_SECONDS),
            given.of("since", str, ""),
        )

    @property
    def named(self) -> str:
        """The run's name, or a new one if it has none yet."""
        return self.run or secrets.token_hex(4)


class _Fields:
    """Reads what has the right type."""

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found

    def of(self, name: str, kind: type, otherwise: Any) -> Any:
        """A field, or something else if it is of another type."""
        value = self._found.get(name)
        return value if type(value) is kind else otherwise
