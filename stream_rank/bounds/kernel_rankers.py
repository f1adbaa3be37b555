"""Bounds for rankers that minimise a regularized loss over pairs."""

from stream_rank.bounds.bound import Bound, deviation
from stream_rank.bounds.general import loss_stable, score_stable
from stream_rank.bounds.stability import (
    least_squares_admissibility,
    loss_stability,
    magnitude_admissibility,
    magnitude_stability,
    score_stability,
)

__all__ = [
    "hinge",
    "least_squares",
    "magnitude_preserving",
    "mprank",
    "regularized",
    "regularized_by_its_loss",
]


def regularized(
    m: int, regularization: float, kappa: float, sigma: float, span: float, delta: float
) -> Bound:
    """Of the expected ranking error beside the 1-loss, for `mean loss + lambda |f|**2` (AN, corollary 12).

    `32 sigma kappa**2 / (lambda m) + (16 sigma kappa**2 / lambda + M) sqrt(2 ln(1 / delta) / m)`; the mean is over the `m (m - 1) / 2` pairs, and the
    loss convex and sigma-admissible. It says nothing where lambda is not far above `1 / sqrt(m)`.

    >>> round(regularized(m=10_000, regularization=1.0, kappa=1.0, sigma=1.0, span=2.0, delta=0.1).gap, 4)
    0.3895
    """
    return score_stable(m, score_stability(m, regularization, kappa, sigma), 1.0, span, delta)


def regularized_by_its_loss(
    m: int, regularization: float, kappa: float, sigma: float, most: float, delta: float
) -> Bound:
    """The same beside the loss that is minimised, of 0 to B and nowhere below the ranking error (AN, corollary 15)."""
    scores = score_stability(m, regularization, kappa, sigma)
    return loss_stable(m, loss_stability(scores, sigma), most, delta)


def hinge(m: int, regularization: float, kappa: float, span: float, delta: float) -> Bound:
    """Of the hinge ranking loss, which wants leads as large as those of the labels (AN, section 5.2.1)."""
    return regularized(m, regularization, kappa, 1.0, span, delta)


def least_squares(m: int, regularization: float, kappa: float, span: float, delta: float) -> Bound:
    """Of the squared loss, as RankRLS and MPRank have it (AN, section 5.2.2)."""
    sigma = least_squares_admissibility(regularization, kappa, span)
    return regularized(m, regularization, kappa, sigma, span, delta)


def magnitude_preserving(
    m: int, C: float, kappa: float, distance: float, power: int, delta: float
) -> Bound:
    """Of MPRank (`power` 2) and SVRank (1), on either side of the loss learned (MP, corollary 1).

    `8 kappa**2 C / m + 2 (2 kappa**2 C + M) sqrt(2 ln(2 / delta) / m)` for power 1, and for 2
    `128 kappa**2 C M**2 / m + 4 M**2 (16 kappa**2 C + 1) sqrt(2 ln(2 / delta) / m)`, where no score is farther than M from its label.

    >>> round(magnitude_preserving(m=10_000, C=1.0, kappa=1.0, distance=1.0, power=1, delta=0.1).gap, 4)
    0.1477
    """
    stability = magnitude_stability(m, C, kappa, magnitude_admissibility(power, distance))
    most = float((2 * distance) ** power)
    gap = 2 * stability + (m * stability + most) * deviation(m, delta, sides=2)
    return Bound(gap, most, delta)


def mprank(m: int, C: float, kappa: float, span: float, delta: float) -> Bound:
    """Of MPRank's minimiser, for labels no farther apart than `span` (MP, corollary 1).

    No score is farther from its label than `span / 2 + kappa |w|`, labels taken from their middle, and `|w|**2` is at most what it costs to
    learn nothing, `C span**2 / 2`.

    >>> mprank(m=1_000, C=1.0, kappa=1.0, span=1.0, delta=0.05).vacuous
    True
    """
    distance = span / 2 + kappa * (C * span**2 / 2) ** 0.5
    return magnitude_preserving(m, C, kappa, distance, 2, delta)
