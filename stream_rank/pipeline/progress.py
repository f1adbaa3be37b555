"""How far a run has come: the position after what was learned, and what became of the records."""

from collections.abc import Callable
from typing import Any

from stream_rank.ingest.position import Position
from stream_rank.learners.base.state import State
from stream_rank.pipeline.counts import Counts

__all__ = ["Progress"]


class Progress:
    """The one place that knows up to where events were learned.

    Where reading goes on is the source's business; what is read and not learned yet is not in here.
    """

    key = "progress"

    def __init__(self, position_from: Callable[[Any], Position]) -> None:
        """`position_from` is the source's: it reads a position that a snapshot has."""
        self._position_from = position_from
        self.position: Position | None = None
        """Where learning goes on; None at the beginning."""
        self.counts = Counts()
        self.time: int | None = None
        """When the last event happened that has a time, in milliseconds since 1970."""

    def dump(self) -> State:
        """All of it."""
        position = None if self.position is None else self.position.to_json()
        return State({"position": position, "counts": self.counts.as_dict(), "time": self.time}, {})

    def load(self, state: State) -> None:
        """Go on where another run was."""
        stored = state.metadata
        position = stored["position"]
        self.position = None if position is None else self._position_from(position)
        self.counts, self.time = Counts(**stored["counts"]), stored["time"]
