"""What theory promises of a rule, before it is measured: functions of a few numbers, with the papers' constants.

MP is C. Cortes, M. Mohri and A. Rastogi, Magnitude-preserving ranking algorithms, ICML 2007; AN is S. Agarwal and P. Niyogi,
Generalization bounds for ranking algorithms via algorithmic stability, JMLR 10, 2009.

In all of them `m` is the number of events, `kappa` the largest `sqrt(K(x, x))`, `delta` the probability that the bound does not hold,
and a loss is of two events. `AN` measures labels from 0 to `span`.
"""

from stream_rank.bounds.bound import Bound
from stream_rank.bounds.general import (
    consistency,
    loss_stable,
    pairwise_truth,
    score_stable,
)
from stream_rank.bounds.kernel_rankers import (
    hinge,
    least_squares,
    magnitude_preserving,
    mprank,
    regularized,
    regularized_by_its_loss,
)
from stream_rank.bounds.on_line import oap_rank_loss, prank_mistakes, prank_rank_loss
from stream_rank.bounds.stability import (
    gamma_loss_stability,
    least_squares_admissibility,
    loss_stability,
    magnitude_admissibility,
    magnitude_stability,
    score_stability,
)

__all__ = [
    "Bound",
    "consistency",
    "gamma_loss_stability",
    "hinge",
    "least_squares",
    "least_squares_admissibility",
    "loss_stability",
    "loss_stable",
    "magnitude_admissibility",
    "magnitude_preserving",
    "magnitude_stability",
    "mprank",
    "oap_rank_loss",
    "pairwise_truth",
    "prank_mistakes",
    "prank_rank_loss",
    "regularized",
    "regularized_by_its_loss",
    "score_stability",
    "score_stable",
]
