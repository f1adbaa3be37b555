"""Ordinal logistic regression, learned by a Gaussian belief that every event moves."""

from typing import Any, Literal

from stream_rank.learners.base.learner import Features
from stream_rank.learners.base.rank_learner import RankLearner
from stream_rank.learners.models.ordinal import Ordinal
from stream_rank.parameters import check_number, check_whole

__all__ = ["OrdinalLogit"]

_MOST_FULL = 10_000
_PRIORS = (0.01, 1.0)
"""A usual event's score varies ten times as much as the noise, which leaves it little to say; or as much, which is much."""


class OrdinalLogit(RankLearner):
    """Cumulative logit with a belief about its parameters: second order, one pass, nothing to tune.

    The score is `w.x`, and the label is at most rank r with probability `L(c(r) - w.x)`, where `L(z) = 1 / (1 + exp(-z))` and
    thresholds `c(1) < ... < c(k-1)` are learned too. About the weights, the threshold in the middle and the logarithms of the gaps to
    the others there is a Gaussian belief. An event moves its mean to where belief and likelihood together are largest (by
    Newton's method in the two dimensions that the event tells about), and adds the likelihood's curvature there to the belief's
    precision, whose inverse is kept exactly, as `U D U'`: what is positive stays so. There is no rate, and a step goes no
    further than the event can ask for, however uncertain the belief was.

    Before a feature was met, its weight is 0 with a variance of `1 / regularization` over the mean squared length of the
    events: a usual event's score has the variance `1 / regularization`, in units of the noise. How large that is decides most where events
    are few beside the features, and nobody knows it before. So two beliefs learn side by side, with a variance of 100 and of 1: where
    features say nearly all, and where they say little. The one under which all labels so far were likelier is asked, and the other is given up once it cannot
    come back. For features that come later than
    with the first event, it is less (by the root of the number of events, of 10,000 at most): they are rare. `forgetting` below 1 lets every
    event divide variances by it, up to what they were at first: what was long ago counts less.

    A preference of one item to another says that the difference of their scores is beyond the width of ties, with the same
    noise (Bradley and Terry's model, with Rao and Kupper's ties); a tie, that it is within. The width is learned. A magnitude
    is not looked at, but for 0.

    `predict_one` is the median rank, which has the smallest expected rank loss; `predict_proba_one` includes what is uncertain about the
    parameters.

    Cost: for d features of full covariance `3 d**2` operations an event in the main, O(k d) and O(k**2) beside, and `d**2 / 2`
    numbers; for others O(non-zeros). Twice the numbers, and as long as two beliefs learn (100 events for each feature at most; with `forgetting` below 1 for good) 2.7 times the
    operations, unless `regularization` is given. `k**2` numbers for k ranks: labels that are discovered should not be a continuum.

    Parameters
    ----------
    n_ranks
        The number of ranks, when labels are 1 to `n_ranks`. None discovers ordered labels of any sortable type as they come.
    regularization
        The prior precision of a usual event's score. None is 0.01 or 1, as the events have it.
    forgetting
        What an event divides variances by; 1 forgets nothing.
    precision
        "full", or "diagonal": a variance a weight, for wide and sparse events.
    full_features
        How many features "full" is for, in whole eights: those that are met first, so the columns' order matters where there are more.
        Later ones have a variance each.
    decision
        "median", or "mode": the most probable rank, for the error rate.

    References
    ----------
    P. McCullagh. Regression models for ordinal data. JRSS B 42, 1980.
    M. Opper. A Bayesian approach to on-line learning. 1998.
    D. MacKay. The evidence framework applied to classification networks. Neural Computation 4, 1992.
    G. J. Bierman. Measurement updating using the U-D factorization. Automatica 12, 1976.

    Examples
    --------
    >>> from stream_rank import OAPStream, OrdinalLogit
    >>> model, steps_off = OrdinalLogit(n_ranks=5), 0
    >>> for x, y in OAPStream(seed=1, features="quadratic").take(5_000):
    ...     steps_off += abs(model.predict_one(x) - y)
    ...     model.learn_one(x, y)
    >>> steps_off / 5_000
    0.173
    """

    _model: Ordinal
    gives_probabilities = True

    def __init__(
        self,
        n_ranks: int | None = None,
        regularization: float | None = None,
        forgetting: float = 1.0,
        precision: Literal["full", "diagonal"] = "full",
        full_features: int = 500,
        decision: Literal["median", "mode"] = "median",
    ) -> None:
        if regularization is not None:
            check_number("regularization", regularization, 1e-12, 1e12)
        check_number("forgetting", forgetting, 0.5, 1.0)
        if precision not in ("full", "diagonal"):
            raise ValueError(f"precision must be 'full' or 'diagonal', not {precision!r}")
        check_whole("full_features", full_features)
        if full_features > _MOST_FULL:
            raise ValueError(
                f"full_features must be at most {_MOST_FULL:,}, not {full_features:,}: an event takes their square"
            )
        if decision not in ("median", "mode"):
            raise ValueError(f"decision must be 'median' or 'mode', not {decision!r}")
        self.regularization = regularization
        self.forgetting = forgetting
        self.precision = precision
        self.full_features = full_features
        self.decision = decision
        super().__init__(n_ranks, "float64")

    @property
    def _probed(self) -> int:
        return max(super()._probed, -(-self.full_features // 512) * 512)

    def _new_model(self, n_ranks: int) -> Ordinal:
        n_full = self.full_features if self.precision == "full" else 0
        mode = self.decision == "mode"
        given = self.regularization
        return Ordinal(
            n_ranks, _PRIORS if given is None else [given], self.forgetting, n_full, mode
        )

    def _even_at_first(self, shares: Any) -> Any:
        return shares  # probabilities from the beginning

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        """Each label's probability, what is uncertain about weights and thresholds included."""
        return super().predict_proba_one(x, **kwargs)

    @property
    def n_updates(self) -> int:
        """The number of events learned: each moves the belief."""
        return super().n_updates
