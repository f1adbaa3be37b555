"""What stands in a message: headers, and a value that may be something else than JSON."""

from collections.abc import Iterable, Sequence
from typing import Protocol

__all__ = ["Headers", "Values"]

Headers = Sequence[tuple[str, bytes | None]]
"""What stands beside the value of a message."""


class Values(Protocol):
    """What reads the values of messages that are not JSON."""

    def prepare(self, values: Iterable[bytes]) -> None:
        """Get what these values need to be read; raises a `RecoverableError` while that is away."""

    def json(self, value: bytes) -> bytes:
        """A value as JSON; raises an `EventError` if it is none."""
