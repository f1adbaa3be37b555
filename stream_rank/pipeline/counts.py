"""What became of the records."""

from dataclasses import asdict, dataclass

__all__ = ["Counts"]


@dataclass
class Counts:
    """Every record is counted once, in one of these.

    An event whose label comes later is two records: a request, which becomes one that is learned, and a label.
    """

    learned: int = 0
    """Ratings, preferences, and events whose label came later."""
    requests: int = 0
    """Events without a label, predicted."""
    labels: int = 0
    """Records that were only the label of an event before; the event is what was learned."""
    skipped: int = 0
    """Events before `--from` or after `--to`."""
    rejects: int = 0

    @property
    def records(self) -> int:
        """All of them."""
        return self.learned + self.requests + self.labels + self.skipped + self.rejects

    @property
    def taken(self) -> int:
        """Events that were predicted, or learned, or both."""
        return self.learned + self.requests

    def as_dict(self) -> dict[str, int]:
        """By name."""
        return asdict(self)
