"""The last events, and their ranks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine import nearest as engine
from stream_rank.engine.memory import Layout, Memory
from stream_rank.errors import MergeError
from stream_rank.learners.models.part import Part
from stream_rank.learners.models.probable_rows import ProbableRows
from stream_rank.learners.tables.pairs import PairBlock

__all__ = ["Nearest"]

Array = npt.NDArray[Any]


class Nearest(ProbableRows):
    """The values of the first `n_features` features of the last `window` events."""

    bound = 1e130
    """The squares of features up to this size, and their sums, are finite."""
    learn_row = staticmethod(engine.learn_row)
    predict_row = staticmethod(engine.predict_row)
    take_few = staticmethod(engine.take_few)
    learn_pair = staticmethod(engine.learn_pair)
    _run, _run_sparse = staticmethod(engine.run), staticmethod(engine.run_sparse)
    _opinions = staticmethod(engine.opinions)
    _opinions_sparse = staticmethod(engine.opinions_sparse)

    def __init__(self, n_ranks: int, n_features: int, window: int, n_neighbors: int) -> None:
        self._n_ranks, self._n_features = n_ranks, n_features
        self._window, self._n_neighbors = window, n_neighbors
        super().__init__()

    def _layout(self, n_slots: int) -> Layout:
        return engine.layout(
            n_slots, self._n_ranks, self._n_features, self._window, self._n_neighbors
        )

    def _keep(self, memory: Memory) -> None:
        super()._keep(memory)
        sizes = memory["sizes"]
        sizes[engine.RANKS], sizes[engine.WINDOW] = self._n_ranks, self._window
        sizes[engine.NEIGHBORS] = self._n_neighbors
        sizes[engine.DIMENSIONS] = memory["head"].size

    def forget(self, slots: Array) -> None:
        """Be as if the features in these slots had always been 0."""
        known = slots[slots < len(self.memory["columns"])]
        for name in ("columns", "seen"):
            self.memory[name][known] = 0.0

    @property
    def n_ranks(self) -> int:
        """How many ranks there are."""
        return self._n_ranks

    @property
    def updates(self) -> int:
        """Every event is remembered."""
        return self.events

    def insert_rank(self, place: int) -> None:
        """Make room for a new rank above the lowest `place` ranks."""
        ranks = self.memory["ranks"]
        ranks[ranks > place] += 1
        self._n_ranks += 1
        self._keep(self.memory.reshaped(self._layout(self.n_slots)))

    def averaged(self) -> tuple[Array, Array]:
        """No weights, and what parts mean ranks."""
        return self.memory["weights"].copy(), np.arange(1, self._n_ranks) + 0.5

    def resume(self) -> None:
        """Check that what is remembered has a rank, and that lengths are no less than nothing."""
        memory = self.memory
        events, ranks = int(memory["sizes"][engine.EVENTS]), memory["ranks"]
        used = ranks[: min(max(events, 0), self._window)]
        if events < 0 or not ((used >= 1) & (used <= self._n_ranks)).all():
            raise ValueError("it remembers events of no rank")
        if not memory["parameters"][0] >= 0:
            raise ValueError("the sum of squared lengths is negative")

    def run_pairs(self, pairs: PairBlock, magnitudes: Array, ahead: Array, shares: Array) -> None:
        """By how much the preferred are ahead; nothing is learned."""
        means = []
        for items in (pairs.preferred, pairs.other):
            scores = np.empty(len(magnitudes))
            self.opinions(items, np.empty((len(scores), self._n_ranks)), scores)
            means.append(scores)
        ahead[:] = means[0] - means[1]

    def merge(self, parts: Sequence[Part]) -> None:
        """Refuse: it is its last events."""
        raise MergeError("it is no rule but the last events of its own stream")

    def memories(self) -> dict[str, Memory]:
        """The memories that snapshots keep, by name."""
        return {"nearest": self.memory}
