"""Members of committees as contestants."""

from collections.abc import Hashable, Mapping
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.committees.votes import certain
from stream_rank.contestants.contestant import Contestant
from stream_rank.contestants.preparations import Chain, Preparations
from stream_rank.contestants.prepared_learner import PreparedLearner
from stream_rank.learners.tables.rows import Rows

__all__ = ["Member"]

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


class Member(PreparedLearner):
    """A learner of ranks, behind stages or none, that votes in committees, and is on the scoreboard as any other.

    Its committees and the loop give it the same rows one after the other: whoever comes first makes it learn them, and the others
    get what it found, until other rows come. They may come at the same time.
    """

    def __init__(
        self, name: str, chain: Chain, preparations: Preparations, inner: Contestant
    ) -> None:
        super().__init__(name, chain, preparations, inner)
        self._lock = Lock()
        self._given: Any = None
        self._found: Any = None

    def opinions(
        self, rows: Rows, labels: Array, asking: Mask, learning: Mask
    ) -> tuple[Array, Array]:
        """Learn some events; what was predicted of each that is asked or learned, and its ranks' probabilities."""
        with self._lock:
            if self._given is not rows:
                self._found = self._learned(rows, labels, asking, learning)
                self._given = rows
            return self._found  # type: ignore[no-any-return]

    def _learned(
        self, rows: Rows, labels: Array, asking: Mask, learning: Mask
    ) -> tuple[Array, Array]:
        lessons = self._preparations.lessons(self.chain, rows, labels, asking | learning, learning)
        model, count = self.model, (len(lessons.events), self.model.n_ranks)
        probable = model.gives_probabilities
        both = np.empty(count) if probable else None
        more = {} if both is None else {"shares": both}
        answers = labels[lessons.events]
        found = model.learn_some(self._bounded(lessons.rows), answers, lessons.learning, **more)
        before = np.flatnonzero(~lessons.learning)
        events = lessons.events[before]
        predictions, shares = np.zeros(len(rows), np.int64), np.zeros((len(rows), count[1]))
        predictions[events] = np.asarray(found)[before]
        if both is None:
            certain(predictions, shares)
        else:
            shares[events] = both[before]
        return predictions, shares

    def asked(self, rows: Rows, unknown_features: Mapping[int, dict[Any, float]]) -> Array:
        """Each rank's probability for events, none of them learned."""
        model, shares = self.model, np.zeros((len(rows), self.model.n_ranks))
        if not model.gives_probabilities:
            certain(self.predict(rows, unknown_features).astype(np.int64), shares)
            return shares
        prepared = self._bounded(self._preparations.asked(self.chain, rows))
        shares[:] = model.predict_proba_many(prepared)
        for event, x in unknown_features.items():
            whole = next(self._bounded(self._preparations.asked_one(self.chain, x)).dicts())
            shares[event] = list(model.predict_proba_one(whole).values())
        return shares

    @property
    def finds_items(self) -> bool:
        """No: its events go another way."""
        return False

    def learn_some(
        self,
        rows: Rows,
        labels: Array,
        groups: Array | None,
        asking: Mask,
        learning: Mask,
        shares: Array | None = None,
        watched: Any = None,
    ) -> Array:
        """Predict the events that `asking` says, and learn those that `learning` says, each after its prediction."""
        predictions, found = self.opinions(rows, labels, asking, learning)
        if shares is not None:
            shares[:] = found
        return predictions.astype(np.float64)

    def test_then_train_pairs(
        self, preferred: Rows, others: Rows, magnitudes: Array
    ) -> tuple[Array, Array]:
        """Learn preferences, whose items are prepared by what the stages knew before them."""
        with self._lock:
            if self._given is not preferred:
                self._found = super().test_then_train_pairs(preferred, others, magnitudes)
                self._given = preferred
            return self._found  # type: ignore[no-any-return]

    def exchange(self, names: Mapping[Hashable, Hashable]) -> None:
        """Forget features, and give the place of each to another."""
        self._given = self._found = None
        super().exchange(names)
