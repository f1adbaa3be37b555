"""The protocol of sinks, and what they take."""

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
    """Of a message of a topic: its partition, its offset, and all that came with it."""


class Prediction(NamedTuple):
    """What every learner predicts of a request."""

    id: str | int | None
    values: dict[str, float]


class Sink(Protocol[Item]):
    """Somewhere that items go, which no snapshot may pass before they are safe."""

    def put(self, item: Item) -> None:
        """Take an item."""

    def flush(self) -> None:
        """Make sure that everything so far is safe."""

    def mark(self) -> int:
        """How much was put so far: what a snapshot keeps, and `restore` goes back to."""

    def restore(self, mark: int) -> None:
        """Begin, or go on from a mark: what was put after it is put again."""

    def close(self) -> None:
        """Let go of it."""


class NullSink:
    """Where nobody wants to know."""

    def put(self, item: object) -> None:
        """Forget it."""

    def flush(self) -> None:
        """There is nothing to make safe."""

    def mark(self) -> int:
        """Nothing was kept."""
        return 0

    def restore(self, mark: int) -> None:
        """There is nothing to go back to."""

    def close(self) -> None:
        """There is nothing to let go of."""
