"""The ranks of the nearest events: what a stream repeats, it is told."""

from typing import Any

from stream_rank.learners.base.learner import Features
from stream_rank.learners.base.rank_learner import RankLearner
from stream_rank.learners.models.nearest import Nearest
from stream_rank.parameters import check_whole

__all__ = ["NearestRanks"]

_MOST_FEATURES, _MOST_WINDOW, _MOST_NEIGHBORS = 10_000, 1_000_000, 1_000


class NearestRanks(RankLearner):
    """The ranks of the nearest of the last events: no rule, but a memory.

    A rank's probability is its share of the nearest events, each with the weight one over its squared distance (and a
    thousandth of the mean squared length of events), beside half a neighbour that is of all ranks equally. What comes again,
    or nearly so, gets the rank that it had. Put a scaler before. Alone it loses to a rule on most streams; in a committee
    (`Hedge`) it is the member that remembers.

    The distance is that of the features that were met first, so many as `n_features` says: an event costs what they cost.

    A preference teaches it nothing but how sure the distance of two mean ranks makes.

    `predict_one` is the median rank.

    Cost: O(n_features * window) an event, some 4 ns for eight numbers, and as many numbers.

    Parameters
    ----------
    n_ranks
        The number of ranks, when labels are 1 to `n_ranks`; None discovers ordered labels as they come.
    n_neighbors
        How many of the nearest events have a share.
    window
        How many of the last events are remembered.
    n_features
        How many features count, in whole eights.

    References
    ----------
    T. Cover and P. Hart. Nearest neighbor pattern classification. 1967. S. A. Dudani. The distance-weighted k-nearest-neighbor
    rule. 1976.

    Examples
    --------
    >>> from stream_rank import NearestRanks
    >>> model = NearestRanks(n_ranks=3)
    >>> for x, y in [({"a": 1.0}, 3), ({"a": 2.0}, 1), ({"a": 3.0}, 2)]:
    ...     model.learn_one(x, y)
    >>> [model.predict_one({"a": value}) for value in (1.01, 1.99, 3.5)]
    [3, 1, 2]
    """

    _model: Nearest
    _exact = False
    gives_probabilities = True

    def __init__(
        self,
        n_ranks: int | None = None,
        n_neighbors: int = 12,
        window: int = 5_000,
        n_features: int = 64,
    ) -> None:
        for name, value, most in (
            ("n_neighbors", n_neighbors, _MOST_NEIGHBORS),
            ("window", window, _MOST_WINDOW),
            ("n_features", n_features, _MOST_FEATURES),
        ):
            check_whole(name, value)
            if value > most:
                raise ValueError(f"{name} must be at most {most:,}, not {value:,}")
        self.n_neighbors = n_neighbors
        self.window = window
        self.n_features = n_features
        super().__init__(n_ranks, "float64")

    def _new_model(self, n_ranks: int) -> Nearest:
        return Nearest(n_ranks, self.n_features, self.window, self.n_neighbors)

    @property
    def _probed(self) -> int:
        return max(super()._probed, -(-self.n_features // 512) * 512)

    def _even_at_first(self, shares: Any) -> Any:
        return shares  # probabilities from the beginning

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        """Each label's share of the nearest events."""
        return super().predict_proba_one(x, **kwargs)

    @property
    def n_updates(self) -> int:
        """The number of events learned."""
        return super().n_updates
