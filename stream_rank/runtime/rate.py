"""How long a run has gone on, and how fast."""

__all__ = ["Rate"]


class Rate:
    """Records a second, without the first part: for that one, a machine's first run compiles the engine.

    >>> rate = Rate(records=0)
    >>> for seconds, records in ((2.0, 64), (3.0, 1_064)):
    ...     rate.passed(seconds, records)
    >>> rate.per_second
    1000.0
    """

    def __init__(self, records: int) -> None:
        """`records` were there before this process."""
        self._before = self._records = records
        self.seconds = 0.0
        self._first: tuple[int, float] | None = None

    def passed(self, seconds: float, records: int) -> None:
        """Note how long the run has gone on, and how many records there are."""
        self.seconds, self._records = seconds, records
        if self._first is None and records > self._before:
            self._first = records, seconds

    @property
    def per_second(self) -> float:
        """Records a second; 0 as long as nobody knows."""
        if self._first is None:
            return 0.0
        records, seconds = self._first
        fresh = self._records - records
        return fresh / (self.seconds - seconds) if fresh else 0.0
