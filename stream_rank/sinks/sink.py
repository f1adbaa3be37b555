"""The protocol of sinks, and the types of their items."""

from typing import Any, NamedTuple, Protocol, TypeVar

__all__ = ["NullSink", "Prediction", "Rejected", "Sink"]

Item = TypeVar("Item", contravariant=True)


class Rejected(NamedTuple):
    """A record that could not be learned from, and where it came from."""

    reason: str
    kind: str
    place: str
    raw: bytes
    origin: Any = None
    """Of a message: its partition, its offset, and the whole `ConsumerRecord`."""


class Prediction(NamedTuple):
    """The predictions of all learners for a request."""

    id: str | int | None
    values: dict[str, float | str | None]
    """The label or the score that each learner predicts."""


class Sink(Protocol[Item]):
    """A destination of items; it is flushed before each snapshot, so that no item before it is lost."""

    @property
    def unit(self) -> str:
        """What its marks count. A mark of another unit is of another sink, which the run had before."""

    def put(self, item: Item) -> None:
        """Write or send an item."""

    def push(self) -> None:
        """Put the items so far on their way, after every chunk, since somebody waits for them. What fails is left to `flush`."""

    def flush(self) -> None:
        """Wait until all items so far are durable."""

    def mark(self) -> int:
        """The amount written so far, which snapshots store for `restore`."""

    def restore(self, mark: int | None) -> None:
        """Start at 0, or resume from a mark: items after it will be put again. None appends to what there is."""

    def close(self) -> None:
        """Close the file or the producer."""


class NullSink:
    """A sink that discards its items."""

    unit = "nothing"

    def put(self, item: object) -> None:
        """Discard an item."""

    def push(self) -> None:
        """Do nothing."""

    def flush(self) -> None:
        """Do nothing."""

    def mark(self) -> int:
        """Always 0."""
        return 0

    def restore(self, mark: int | None) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
