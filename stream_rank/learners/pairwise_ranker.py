"""Scores from pairs of recent events, by any of the losses of the papers."""

from collections.abc import Hashable

from stream_rank.learners.base.grouped_learner import GroupedLearner
from stream_rank.learners.models.pairwise import LOSSES, Pairwise
from stream_rank.parameters import check_number, check_whole, key_of

__all__ = ["PairwiseRanker"]


class PairwiseRanker(GroupedLearner):
    """Linear scores that learn from pairs of events, and from preferences, by stochastic steps.

    A pair has a magnitude `m = y(1) - y(2)`, not negative, and a predicted difference `g = w.(x(1) - x(2))`:

    ================  ==========================================================  ==================
    loss              is                                                          of
    ================  ==========================================================  ==================
    `hinge`           `max(0, 1 - g)`                                             RankSVM
    `hr-1`, `hr-2`    `|g|**n` if the pair is misranked, else 0                   MP, eq. 4
    `mp-1`, `mp-2`    `|m - g|**n`                                                MP, eq. 5
    `hmp-1`, `hmp-2`  `|m - g|**n` if the pair is misranked, else 0               MP, eq. 6
    `svr-1`, `svr-2`  `max(0, |m - g| - epsilon)**n`                              MP, eq. 7
    `rls-unit`        `(1 - g)**2`                                                RankRLS, eq. 20
    `rls-magnitude`   `(m - g)**2`                                                RankRLS, eq. 21
    `rls-relative`    `(m - g)**2 / m**2`                                         RankRLS, eq. 22
    ================  ==========================================================  ==================

    Every event makes pairs with some of the last `window` events of its group, drawn at random; those of equal labels
    only where magnitudes of 0 mean something (`mp`, `svr`, `rls-magnitude`). A step is implicit: it
    minimises the loss of the pair after it, and so never overshoots. A predicted tie counts as misranked, as in MP's
    eq. 69; for `hr`, whose slope there is 0, it is stepped as if 1 were wanted, or no rule would
    ever leave zero. The score gets the constant that makes the mean prediction of the events kept their mean label, or 0
    with the losses that do not look at magnitudes (`hinge`, `hr`, `rls-unit`), whose scores have a scale of their own.

    By default a step is as long as half of the way to the target for a pair of usual length: rates are divided by the
    square of the mean length of the differences that come, and where the loss asks for it multiplied by their mean magnitude. So
    neither the number of features nor their common scale needs tuning; features that differ in scale want a scaler
    before all the same, or the largest decide. Such steps never come to rest, but their mean does: the rule is
    the mean of the weights after every event, those after the t-th event counted t times.

    Cost: O(window + pairs * d) an event, and O(window * d) more once in `window` events, when the sums that the constant
    is made of are formed anew: until then an outlier, 1e10 times the others, leaves rounding errors in it.

    Parameters
    ----------
    loss
        One of the names above.
    learning_rate
        The length of a step, for features as they are: too long a step makes the weights follow every pair, too short a one learns
        nothing for long. None measures the features.
    regularization
        The weight of `|w|**2 / 2`.
    epsilon
        The error that `svr` does not count.
    window
        How many events are kept to make pairs with.
    pairs
        How many pairs an event makes, at most.
    seed
        Any whole number makes the pairs repeatable.
    averaging
        Whether the rule is the mean of the weights so far. Without, it follows a stream that changes at once, and
        is less exact on one that does not.

    References
    ----------
    T. Joachims. Optimizing search engines using clickthrough data. KDD 2002.
    C. Cortes, M. Mohri and A. Rastogi. Magnitude-preserving ranking algorithms. ICML 2007 (MP).
    T. Pahikkala and others. An efficient algorithm for learning to rank from preference graphs. Machine Learning 75, 2009.

    Examples
    --------
    >>> from stream_rank import PairwiseRanker
    >>> model = PairwiseRanker(loss="mp-1", seed=1)
    >>> for a in range(200):
    ...     model.learn_one({"a": a % 7, "b": a % 3}, 2.0 * (a % 7) - (a % 3))
    >>> {name: round(weight, 1) for name, weight in model.weights.items()}
    {'a': 2.0, 'b': -1.0}
    >>> model.learn_pair({"c": 1.0}, {"a": 1.0}, magnitude=0.5)
    """

    _model: Pairwise

    def __init__(
        self,
        loss: str = "hinge",
        learning_rate: float | None = None,
        regularization: float = 0.0,
        epsilon: float = 0.1,
        window: int = 100,
        pairs: int = 5,
        seed: int | None = None,
        averaging: bool = True,
    ) -> None:
        if not isinstance(loss, str) or loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}, not {loss!r}")
        if learning_rate is not None:
            check_number("learning_rate", learning_rate, 1e-12, 1e12)
        check_number("regularization", regularization, 0, 1e12)
        check_number("epsilon", epsilon, 0, 1e12)
        check_whole("window", window)
        check_whole("pairs", pairs)
        self.loss = loss
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.epsilon = epsilon
        self.window = window
        self.pairs = pairs
        if not isinstance(averaging, bool):
            raise ValueError(f"averaging must be True or False, not {averaging!r}")
        self.seed = seed
        self.averaging = averaging
        self._model = Pairwise(
            LOSSES[loss],
            learning_rate,
            averaging,
            regularization,
            epsilon,
            window,
            pairs,
            key_of(seed),
        )
        super().__init__(window + 1)  # rows of groups with kept events are not reused

    @property
    def weights(self) -> dict[Hashable, float]:
        """The weight of every feature."""
        return dict(self._named(self._model.weights()))

    @property
    def bias(self) -> float:
        """The constant in the score."""
        return self._model.constant
