"""The members' weights in a committee, and what it makes of their opinions."""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.committee import count_votes, pool_pairs, write_weights
from stream_rank.learners.base.serialization import count_in
from stream_rank.learners.base.state import State

__all__ = ["Votes", "certain"]

Array = npt.NDArray[Any]


class Votes:
    """What each member lost so far, between 0 and 1 an event; its weight is `exp(-rate * loss)`, as `Hedge` says."""

    def __init__(self, count: int) -> None:
        self.losses: Array = np.zeros(count)
        self.events = 0
        self._weights: Array = np.empty(count)

    @property
    def weights(self) -> list[float]:
        """The members' shares of the vote."""
        write_weights(self.losses, float(self.events), self._weights)
        return self._weights.tolist()  # type: ignore[no-any-return]

    def pool(
        self, shares: Array, ranks: Array, labels: Array, learning: Array
    ) -> tuple[Array, Array]:
        """The predicted ranks of events, and each rank's probability; then, where it is learned, what an event tells of members.

        `shares` has the probabilities by member, event and rank, `ranks` what members predicted, by member and event.
        """
        found, pooled = np.empty(len(labels), np.int64), np.empty(shares.shape[1:])
        given = self.losses, float(self.events), shares, ranks, labels, learning
        self.events = int(count_votes(*given, self._weights, found, pooled))
        return found, pooled

    def pool_pairs(self, leads: Array, shares: Array, magnitudes: Array, learning: bool) -> Array:
        """The probabilities of each outcome of pairs, by what members have of them; NaN where nobody has an opinion."""
        pooled = np.empty(shares.shape[1:])
        given = self.losses, float(self.events), leads, shares, magnitudes, learning
        self.events = int(pool_pairs(*given, self._weights, pooled))
        return pooled

    def dump(self, members: list[str]) -> State:
        """The state of the committee, beside that of its members, which are there by these names."""
        metadata = {"learner": "hedge", "members": members, "events": self.events}
        return State(metadata, {"losses": self.losses.copy()})

    def load(self, state: State) -> None:
        """Continue from another's state; a `ValueError` if it is not of as many members."""
        losses, events = state.arrays["losses"], count_in(state.metadata, "events")
        if losses.shape != self.losses.shape or losses.dtype != np.float64:
            raise ValueError("its losses are those of another number of members")
        if not ((losses >= 0.0) & (losses <= events)).all():
            raise ValueError("its members lost more than there was to lose")
        self.losses[:], self.events = losses, events


def certain(ranks: Array, shares: Array) -> None:
    """Make the shares of members that have no probabilities: all is of the rank that they predict."""
    shares[:] = 0.0
    known = np.flatnonzero(ranks > 0)
    shares[known, ranks[known] - 1] = 1.0
