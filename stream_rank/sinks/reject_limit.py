"""How many rejects are too many."""

from dataclasses import dataclass

__all__ = ["RejectLimit"]

_FIRST_RECORDS = 100
"""Before so many records a ratio says little."""


@dataclass(frozen=True)
class RejectLimit:
    """The largest share of records that may be rejects, and the most in a row."""

    ratio: float = 1.0
    in_a_row: int | None = None

    def exceeded(self, rejects: int, records: int, ended: bool = False) -> bool:
        """Whether there are too many."""
        enough = records >= _FIRST_RECORDS or (ended and records > 0)
        return enough and rejects > self.ratio * records

    def too_many_in_a_row(self, streak: int) -> bool:
        """Whether so many in a row are too many."""
        return self.in_a_row is not None and streak >= self.in_a_row
