"""MPRank and RankRLS, exact after every event."""

from collections.abc import Hashable

from stream_rank.bounds.bound import Bound
from stream_rank.bounds.kernel_rankers import mprank
from stream_rank.learners.base.grouped_learner import GroupedLearner
from stream_rank.learners.models.recursion import Recursion
from stream_rank.learners.models.scatter import Scatter
from stream_rank.parameters import check_number, check_whole

__all__ = ["RecursiveMPRank"]


class RecursiveMPRank(GroupedLearner):
    """Linear scores whose differences are the labels' differences: the exact minimiser after every event.

    With `r(i) = w.x(i) - y(i)`, the weights minimise

        sum over groups of sum over events of (r - mean of r in the group)**2
            + sum over preferences of (w.(preferred - other) - magnitude)**2
            + regularization * |w|**2.

    A group's sum over pairs `(i, j)` of `(r(i) - r(j))**2` is twice its number of events times its sum here. So with
    one group this is MPRank, with many it is RankRLS for label ranking, each group's pairs shared
    out over its events. The score of an event gets the constant that makes the mean prediction
    of all events their mean label; within a group only differences of scores mean something.

    With `forgetting` f, an event that lies k events back weighs f**k. The regularization
    does not fade: it is restored feature by feature in turn, at the latest when a thousandth of it is left.

    With `C`, the trade-off is the paper's: `|w|**2 + C/m**2 * sum over pairs`, where m is the (faded) number of
    events. It changes with every event, so the weights are then solved for when they are asked for.

    Cost: O(d**2) an event, d**2 / 2 numbers and d more for every group; with `C`, O(d**3) a prediction after learning.

    Parameters
    ----------
    regularization
        The weight of `|w|**2`.
    forgetting
        What an event's weight is multiplied by with every later event.
    C
        None, or the trade-off that takes the place of `regularization`, which then is m / (2 C).
    max_groups
        How many groups' means are kept; the least recently seen is dropped, and begins anew when it comes again.

    References
    ----------
    C. Cortes, M. Mohri and A. Rastogi. Magnitude-preserving ranking algorithms. ICML 2007.
    T. Pahikkala, E. Tsivtsivadze, A. Airola, J. Järvinen and J. Boberg. An efficient algorithm for learning to rank
    from preference graphs. Machine Learning 75, 2009.

    Examples
    --------
    >>> from stream_rank import RecursiveMPRank
    >>> model = RecursiveMPRank(regularization=1e-6)
    >>> for user, shift in (("ann", 0.0), ("bob", 100.0)):
    ...     for size, speed in ((1, 5), (2, 3), (4, 4)):
    ...         model.learn_one({"size": size, "speed": speed}, 2 * size - speed + shift, group=user)
    >>> {name: round(weight, 3) for name, weight in model.weights.items()}
    {'size': 2.0, 'speed': -1.0}
    >>> model.learn_pair({"size": 1, "wifi": 1}, {"size": 1}, magnitude=0.5)
    >>> round(model.predict_one({"wifi": 1}) - model.predict_one({}), 3)
    0.5
    """

    _model: Recursion | Scatter

    def __init__(
        self,
        regularization: float = 1.0,
        forgetting: float = 1.0,
        C: float | None = None,
        max_groups: int = 10_000,
    ) -> None:
        check_number("regularization", regularization, 1e-12, 1e12)
        check_number("forgetting", forgetting, 0.5, 1.0)
        check_whole("max_groups", max_groups)
        self.regularization = regularization
        self.forgetting = forgetting
        self.C = C
        self.max_groups = max_groups
        if C is None:
            self._model = Recursion(regularization, forgetting)
        else:
            check_number("C", C, 1e-12, 1e12)
            self._model = Scatter(C, forgetting)
        super().__init__(max_groups)

    @property
    def weights(self) -> dict[Hashable, float]:
        """The weight of every feature."""
        return dict(self._named(self._model.weights()))

    def bound(self, span: float, kappa: float, delta: float = 0.05) -> Bound:
        """By how much the loss of other events may be off that of the ratings learned (`bounds.mprank`).

        It is for events whose labels are no farther apart than `span` and which are no longer than `kappa`. It is known where the weights
        are MPRank's: of ratings of one group, without preferences and without forgetting; else it is a `ValueError`.

        >>> model = RecursiveMPRank(C=0.01)
        >>> for i in range(1000):
        ...     model.learn_one({"a": i % 3 / 2}, i % 2)
        >>> print(model.bound(span=1.0, kappa=1.0))
        a gap of 0.13 where no loss is above 1.30284 (delta 0.05)
        """
        m = self._model.ratings_of_one_group
        if not m or self.forgetting < 1.0:
            raise ValueError(
                "a bound is known of ratings of one group, without preferences and without forgetting"
            )
        C = m / (2 * self.regularization) if self.C is None else self.C
        return mprank(m, C, kappa, span, delta)

    @property
    def bias(self) -> float:
        """The constant in the score."""
        self._model.weights()
        return self._model.constant
