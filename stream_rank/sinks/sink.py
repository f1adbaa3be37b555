"""What leaves a run beside its snapshots."""

from typing import Protocol

__all__ = ["Outlet"]


class Outlet(Protocol):
    """Somewhere that lines or messages go, which a snapshot must not pass before they are safe."""

    def begin(self, mark: int = 0) -> None:
        """Go on from a mark that a snapshot has."""

    def mark(self) -> int:
        """Make sure that everything so far is safe; how much it is."""

    def close(self) -> None:
        """Let go of it."""
