"""A committee of learners of ranks, with weights by what each has lost."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from river import base

from stream_rank.committees.members import asked, check_members, largest_of, learner_of, taught
from stream_rank.committees.votes import Votes
from stream_rank.features.feature_stage import numbers_of
from stream_rank.features.rows_of import rows_of, rows_of_dicts
from stream_rank.learners.base.labels import Labels, label_column
from stream_rank.learners.base.learner import like_input
from stream_rank.learners.tables.rows import Rows

__all__ = ["Hedge"]

Array = npt.NDArray[Any]
_AT_ONCE = 1_024


class Hedge(base.MiniBatchClassifier):
    r"""A committee: learners that ride on the same stream, and vote with weights by what each has lost.

    Members are learners of ranks of this package, alone or behind stages. Each predicts an event, and then learns it. What
    they think is pooled: the probability of a rank is the weighted mean of theirs (a member without probabilities, which are
    those of `predict_proba_one` where a learner `gives_probabilities`, has 1 for the rank that it predicts). The prediction is the
    median rank of the pool.

    With `l` for a member's distance from the label, as a part of the largest one (k - 1 for k ranks), and `L` for the sum of all
    before, event t has weights in proportion to `exp(-rate * L)`, `rate = sqrt(8 ln N / t)` for N members. For any
    stream whatever, the loss of a member that is drawn by the weights, `sum_i w_i l_i`, adds up over T events to at most

        min_i L_i + sqrt(2 T ln N) + sqrt(ln N / 8):

    a part of `sqrt(2 ln N / T)` an event above the best member, which is not known before. The median of members without probabilities loses
    at most twice as much as one drawn, since half of the weight lost as much as it did; in practice a pool is better than
    its best member. (Weights by the likelihood have less regret in theory, and were worse: a rich member's first mistakes are so
    improbable that it takes thousands of events to be forgiven.)

    Of preferences, the pool is of the members' probabilities that one item is preferred; those that learn none have no say.

    Cost: that of the members, and O(N k) with 10 ns a member.

    Parameters
    ----------
    learners
        The members, with the same `n_ranks`. Each needs stages of its own.

    References
    ----------
    Y. Freund and R. Schapire. A decision-theoretic generalization of on-line learning. JCSS 55, 1997.
    N. Cesa-Bianchi and G. Lugosi. Prediction, learning, and games. 2006, theorem 2.3.

    Examples
    --------
    >>> from stream_rank import Hedge, OAPStream, OrdinalLogit, RandomFourierFeatures, Scale
    >>> line = Scale() | OrdinalLogit(n_ranks=5)
    >>> curve = Scale() | RandomFourierFeatures(n_components=30, seed=1) | OrdinalLogit(n_ranks=5)
    >>> model = Hedge([line, curve])
    >>> for x, y in OAPStream(seed=1).take(500):
    ...     model.learn_one(x, y)
    >>> [round(weight, 2) for weight in model.weights]
    [0.0, 1.0]
    """

    def __init__(self, learners: Sequence[Any]) -> None:
        check_members(learners)
        self.learners = learners
        self._labels = Labels(learner_of(learners[0]).n_ranks)
        self._votes = Votes(len(learners))
        for each in learners if not self._labels.fixed else []:
            self._discover(learner_of(each).labels)  # of members that learned before

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from stream_rank.features.scale import Scale
        from stream_rank.learners.ordinal_logit import OrdinalLogit
        from stream_rank.learners.prank import PRank

        yield {"learners": [Scale() | OrdinalLogit(), PRank()]}

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def n_ranks(self) -> int | None:
        """The number of ranks that members were told; None if they discover labels."""
        return learner_of(self.learners[0]).n_ranks  # type: ignore[no-any-return]

    @property
    def labels(self) -> list[Any]:
        """The labels known, in their order."""
        return list(self._labels.known)

    @property
    def weights(self) -> list[float]:
        """The members' shares of the vote."""
        return self._votes.weights

    @property
    def votes(self) -> Votes:
        """The members' weights, and the losses that they follow from."""
        return self._votes

    @property
    def features(self) -> list[Hashable]:
        """The names of the features that came in, in the order in which they were met."""
        return self.learners[0].features  # type: ignore[no-any-return]

    @property
    def parameters(self) -> dict[str, Any]:
        """What it was made with, as JSON has it."""
        return {"learners": [str(each) for each in self.learners]}

    @property
    def n_events(self) -> int:
        """The number of events learned."""
        return self._votes.events

    def _discover(self, labels: Sequence[Any]) -> None:
        for label in labels:
            if label not in self._labels.rank_of:
                self._labels.insert(label)

    # One event ------------------------------------------------------------------------------

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Teach an event to all members, after each has predicted it; a `ValueError` leaves them as they were."""
        self._labels.check(y)
        rows_of_dicts([x], largest_of(self.learners))
        before = [each.predict_one(x) for each in self.learners]
        for each in self.learners:
            each.learn_one(x, y)
        self._discover([y])
        if None in before:
            return  # no member knew a label
        ranks = np.array([[self._labels.rank_of[label]] for label in before], np.float64)
        nothing = np.zeros((len(before), 1, len(self._labels.known)))
        label = np.array([self._labels.rank_of[y]], np.float64)
        self._votes.pool(nothing, ranks, label, np.ones(1, np.bool_))

    def predict_one(self, x: Mapping[Any, Any], **kwargs: Any) -> Any:
        """The median rank of the pool; None as long as no label is known."""
        if not self._labels.known:
            return None
        return self._labels.known[self._pooled_one(x)[0] - 1]

    def predict_proba_one(self, x: Mapping[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Each label's probability in the pool."""
        if not self._labels.known:
            return {}
        return dict(zip(self._labels.known, self._pooled_one(x)[1].tolist(), strict=True))

    def _pooled_one(self, x: Mapping[Any, Any]) -> tuple[int, Array]:
        shares = np.zeros((len(self.learners), 1, len(self._labels.known)))
        for each, mine in zip(self.learners, shares, strict=True):
            if learner_of(each).gives_probabilities:
                found = each.predict_proba_one(x)
            else:
                found = {each.predict_one(x): 1.0}
            for label, share in found.items():
                mine[0, self._labels.rank_of[label] - 1] = share
        nobody = np.zeros((len(shares), 1))
        ranks, pooled = self._votes.pool(shares, nobody, nobody[0], np.zeros(1, np.bool_))
        return int(ranks[0]), pooled[0]

    # Many events ----------------------------------------------------------------------------

    def learn_many(self, X: Any, y: Any) -> None:
        """Teach the rows of a table, one after the other: `learn_one` in a loop, to the bit."""
        self._run(X, y, False)

    def test_then_train(self, X: Any, y: Any) -> Any:
        """Predict each row, then learn it; the predictions."""
        return self._run(X, y, True)

    def predict_many(self, X: Any) -> Any:
        """The predictions of rows, none of them learned."""
        rows = rows_of(X, largest_of(self.learners))
        if not self._labels.known:
            return like_input(np.full(len(rows), None), rows)
        return like_input(self._labels.of(self._pooled(rows)[0]), rows)

    def predict_proba_many(self, X: Any) -> Any:
        """Each label's probability in the pool for rows, none of them learned: a data frame for a data frame, else an array."""
        rows = rows_of(X, largest_of(self.learners))
        pooled = self._pooled(rows)[1] if self._labels.known else np.empty((len(rows), 0))
        if rows.native is None:
            return pooled
        backend = nw.from_native(rows.native, eager_only=True).implementation
        columns = {str(label): pooled[:, i] for i, label in enumerate(self._labels.known)}
        found = nw.from_dict(columns, backend=backend).to_native()
        if backend.is_pandas_like():
            found.index, found.columns = rows.native.index, self._labels.known
        return found

    def _pooled(self, rows: Rows) -> tuple[Array, Array]:
        native, rows.native = rows.native, None
        count = len(self.learners), len(rows)
        shares = np.empty((*count, len(self._labels.known)))
        for each, mine in zip(self.learners, shares, strict=True):
            asked(each, rows, self._labels, mine)
        rows.native = native
        nobody = np.zeros(count)
        return self._votes.pool(shares, nobody, np.zeros(count[1]), np.zeros(count[1], np.bool_))

    def _run(self, X: Any, y: Any, asking: bool) -> Any:
        rows = rows_of(X, largest_of(self.learners))
        name = getattr(y, "name", None)
        if self.n_ranks is None:
            found = self._one_by_one(rows, y, asking)
            return like_input(found, rows, name) if asking else None
        labels = numbers_of(y, len(rows), True)
        self._labels.new_in(labels)  # type: ignore[arg-type]
        parts = [
            self._lesson(
                rows.part(begin, begin + _AT_ONCE), labels[begin : begin + _AT_ONCE], asking
            )
            for begin in range(0, max(1, len(rows)), _AT_ONCE)
        ]
        return like_input(np.concatenate(parts), rows, name) if asking else None

    def _lesson(self, rows: Rows, labels: Array, asking: bool) -> Array:
        shares = np.empty((len(self.learners), len(rows), len(self._labels.known)))
        ranks = np.empty(shares.shape[:2])
        for i, each in enumerate(self.learners):
            ranks[i] = taught(each, rows, labels, asking, shares[i])
        return self._votes.pool(shares, ranks, labels, np.ones(len(rows), np.bool_))[0]

    def _one_by_one(self, rows: Rows, y: Any, asking: bool) -> Array:
        found = np.full(len(rows), None)
        for row, (x, label) in enumerate(
            zip(rows.dicts(), label_column(y, len(rows)), strict=True)
        ):
            if asking:
                found[row] = self.predict_one(x)
            self.learn_one(x, label)
        return found

    # Preferences ------------------------------------------------------------------------------

    def learn_pair(
        self, preferred: Mapping[Any, Any], other: Mapping[Any, Any], magnitude: float = 1.0
    ) -> None:
        """Teach all members that one item is preferred to another by a magnitude, 0 if they are a tie."""
        for x in (preferred, other):
            rows_of_dicts([x], largest_of(self.learners))
        leads, shares = self._pair_opinions(preferred, other)
        for each in self.learners:
            each.learn_pair(preferred, other, magnitude)
        self._votes.pool_pairs(leads, shares, np.array([float(magnitude)]), True)

    def prefer_one(self, first: Mapping[Any, Any], second: Mapping[Any, Any]) -> int:
        """Which of two items is ahead in the pool: 1 if the first is, -1 if the second is, 0 if neither."""
        proba = self.prefer_proba_one(first, second)
        return int(np.sign(proba[1] - proba[-1]))

    def prefer_proba_one(
        self, first: Mapping[Any, Any], second: Mapping[Any, Any]
    ) -> dict[int, float]:
        """The probabilities that the first of two items is preferred (1), the second (-1), and a tie (0)."""
        leads, shares = self._pair_opinions(first, second)
        pooled = self._votes.pool_pairs(leads, shares, np.ones(1), False)[0]
        return dict(zip((1, 0, -1), pooled.tolist(), strict=True))

    def _pair_opinions(self, first: Any, second: Any) -> tuple[Array, Array]:
        leads, shares = np.empty((len(self.learners), 1)), np.empty((len(self.learners), 1, 3))
        for i, each in enumerate(self.learners):
            leads[i] = each.prefer_one(first, second)
            found = each.prefer_proba_one(first, second)
            shares[i, 0] = [found.get(outcome, 0.0) for outcome in (1, 0, -1)]
        return leads, shares

    # Copies -----------------------------------------------------------------------------------

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Self:
        """A committee of the same parameters, and of members that have learned nothing."""
        fresh = {} if include_attributes else {"learners": [each.clone() for each in self.learners]}
        return super().clone({**fresh, **(new_params or {})}, include_attributes)

    def __copy__(self) -> Self:
        return deepcopy(self)  # two committees must not share members
