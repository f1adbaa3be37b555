"""The progress of a run: the position after the last learned record, and the counts of records."""

from collections.abc import Callable
from typing import Any

from stream_rank.ingest.position import Position
from stream_rank.learners.base.serialization import count_in
from stream_rank.learners.base.state import State
from stream_rank.pipeline.counts import Counts

__all__ = ["Progress"]


class Progress:
    """The position up to which events were learned; it is kept here and nowhere else.

    The source may have read further: records that were read and not learned yet are not included.
    """

    key = "progress"

    def __init__(self, position_from: Callable[[Any], Position]) -> None:
        """`position_from` is the source's method that makes a position of its JSON form in a snapshot."""
        self._position_from = position_from
        self.position: Position | None = None
        """The position after the last learned record; None before the first."""
        self.counts = Counts()
        self.time: int | None = None
        """The time of the last event that has one, in milliseconds since 1970."""

    def dump(self) -> State:
        """The position, the counts and the time."""
        position = None if self.position is None else self.position.to_json()
        return State({"position": position, "counts": self.counts.as_dict(), "time": self.time}, {})

    def load(self, state: State) -> None:
        """Continue from the progress of another run."""
        stored = state.metadata
        position = stored["position"]
        self.position = None if position is None else self._position_from(position)
        self.counts = Counts(
            **{name: count_in(stored["counts"], name) for name in stored["counts"]}
        )
        if not (stored["time"] is None or type(stored["time"]) is int):
            raise ValueError("the time is none")
        self.time = stored["time"]
