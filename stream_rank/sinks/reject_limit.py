"""Limits on the number of rejects."""

from dataclasses import dataclass

__all__ = ["RejectLimit"]

_FIRST_RECORDS = 100
"""Records before the ratio is checked."""


@dataclass(frozen=True)
class RejectLimit:
    """The largest share of records that may be rejects, and the most in a row."""

    ratio: float = 1.0
    in_a_row: int | None = None

    def exceeded(self, rejects: int, records: int, ended: bool = False) -> bool:
        """Whether the ratio is exceeded."""
        enough = records >= _FIRST_RECORDS or (ended and records > 0)
        return enough and rejects > self.ratio * records

    def too_many_in_a_row(self, streak: int) -> bool:
        """Whether `streak` rejects in a row reach the limit."""
        return self.in_a_row is not None and streak >= self.in_a_row
