"""Bounds for whatever is stable."""

from math import log, sqrt

from stream_rank.bounds.bound import Bound, check_delta, deviation
from stream_rank.bounds.stability import gamma_loss_stability, loss_stability, score_stability

__all__ = ["consistency", "loss_stable", "pairwise_truth", "score_stable"]


def loss_stable(m: int, stability: float, most: float, delta: float) -> Bound:
    """Of a rule with uniform loss stability beta, and a loss of 0 to B (AN, theorem 6): `2 beta + (m beta + B) sqrt(2 ln(1 / delta) / m)`.

    >>> round(loss_stable(m=200, stability=0.001, most=1.0, delta=0.1).gap, 6)
    0.184091
    """
    gap = 2 * stability + (m * stability + most) * deviation(m, delta)
    return Bound(gap, most, delta)


def score_stable(m: int, stability: float, gamma: float, span: float, delta: float) -> Bound:
    """Of a rule with uniform score stability nu: the expected ranking error, beside the gamma loss (AN, theorem 8).

    >>> score_stable(m=200, stability=0.001, gamma=0.5, span=1.0, delta=0.1).gap == loss_stable(
    ...     m=200, stability=0.004, most=1.0, delta=0.1).gap
    True
    """
    return loss_stable(m, gamma_loss_stability(stability, gamma), span, delta)


def consistency(
    m: int,
    regularization: float,
    kappa: float,
    sigma: float,
    most: float,
    norm: float,
    delta: float,
) -> Bound:
    """By how much the expected loss is above that of the best rule of norm `norm` there is (AN, theorem 18).

    `lambda norm**2 + 1 / m + 32 sigma**2 kappa**2 / (lambda m) + (16 sigma**2 kappa**2 / lambda + 2 B) sqrt(2 ln(2 / delta) / m)`: it
    vanishes where lambda does, but slower than `1 / sqrt(m)`.

    >>> gaps = [consistency(m, m**-0.25, 1.0, 1.0, 1.0, 1.0, 0.1).gap for m in (10**8, 10**12, 10**16)]
    >>> [round(gap, 4) for gap in gaps]
    [0.4022, 0.0402, 0.004]
    """
    stability = loss_stability(score_stability(m, regularization, kappa, sigma), sigma)
    gap = regularization * norm**2 + 1 / m
    gap += 2 * stability + (m * stability + 2 * most) * deviation(m, delta, sides=2)
    return Bound(gap, most, delta)


def pairwise_truth(m: int, stability: float, most: float, exponent: float, delta: float) -> Bound:
    """Where only some pairs are known, at least `m**exponent` of them, an exponent above 1, drawn apart from the events (AN, theorem 19).

    `2 beta + sqrt((4 m beta**2 + 8 B beta + 2 B**2 / (m - 1) + B**2 / m**(s - 1)) ln(2 / delta) / 2)`.

    >>> round(pairwise_truth(m=10_001, stability=0.0, most=1.0, exponent=1.5, delta=0.1).gap, 4)
    0.1236
    """
    check_delta(delta)
    if not 1 < exponent <= 2:
        raise ValueError(f"exponent must be above 1, and at most 2, not {exponent!r}")
    inner = 4 * m * stability**2 + 8 * most * stability
    inner += 2 * most**2 / (m - 1) + most**2 / m ** (exponent - 1)
    return Bound(2 * stability + sqrt(inner * log(2 / delta) / 2), most, delta)
