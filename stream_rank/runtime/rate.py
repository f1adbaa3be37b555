"""The duration and throughput of a run."""

__all__ = ["Rate"]


class Rate:
    """Records per second, without the first part, in which a machine's first run compiles the engine.

    >>> rate = Rate(records=0)
    >>> for seconds, records in ((2.0, 64), (3.0, 1_064)):
    ...     rate.passed(seconds, records)
    >>> rate.per_second
    1000.0
    """

    def __init__(self, records: int) -> None:
        """`records` is the count before this process."""
        self._before = self._records = records
        self.seconds = 0.0
        self._first: tuple[int, float] | None = None

    def passed(self, seconds: float, records: int) -> None:
        """Update the duration and the number of records."""
        self.seconds, self._records = seconds, records
        if self._first is None and records > self._before:
            self._first = records, seconds

    @property
    def per_second(self) -> float:
        """Records per second; 0 until it is known."""
        if self._first is None:
            return 0.0
        records, seconds = self._first
        fresh = self._records - records
        return fresh / (self.seconds - seconds) if fresh else 0.0
