"""How little a rule changes where one event is another."""

from math import sqrt

__all__ = [
    "gamma_loss_stability",
    "least_squares_admissibility",
    "loss_stability",
    "magnitude_admissibility",
    "magnitude_stability",
    "score_stability",
]


def magnitude_admissibility(power: int, distance: float) -> float:
    """By how much a change of both scores changes a magnitude-preserving loss (MP, definition 2 and lemma 1): 1, or `4 M` for squares.

    `distance` is M, the farthest that any score is from its label.

    >>> magnitude_admissibility(1, 5.0), magnitude_admissibility(2, 5.0)
    (1.0, 20.0)
    """
    if power not in (1, 2):
        raise ValueError(f"power must be 1 or 2, not {power!r}")
    return 1.0 if power == 1 else 4 * distance


def least_squares_admissibility(regularization: float, kappa: float, span: float) -> float:
    """Of the squared loss, over the rules that a regularized ranker can become (AN, lemma 16): `2 M + 4 kappa M / sqrt(lambda)`.

    >>> least_squares_admissibility(regularization=4.0, kappa=1.0, span=3.0)
    12.0
    """
    return 2 * span + 4 * kappa * span / sqrt(regularization)


def magnitude_stability(m: int, C: float, kappa: float, sigma: float) -> float:
    """By how much the loss of any pair changes where an event is left out (MP, proposition 3): `4 C sigma**2 kappa**2 / m`.

    >>> magnitude_stability(m=100, C=10.0, kappa=0.5, sigma=2.0)
    0.4
    """
    return 4 * C * sigma**2 * kappa**2 / m


def score_stability(m: int, regularization: float, kappa: float, sigma: float) -> float:
    """By how much any score changes where an event is another (AN, theorem 11): `8 sigma kappa**2 / (lambda m)`.

    >>> score_stability(m=100, regularization=0.1, kappa=0.5, sigma=1.0)
    0.2
    """
    return 8 * sigma * kappa**2 / (regularization * m)


def loss_stability(scores: float, sigma: float) -> float:
    """By how much the loss of any pair changes, if scores change by so much (AN, lemma 13): `2 sigma nu`.

    >>> loss_stability(0.2, sigma=3.0)
    1.2000000000000002
    """
    return 2 * sigma * scores


def gamma_loss_stability(scores: float, gamma: float) -> float:
    """The same of the gamma ranking loss, which is admissible with `1 / gamma` (AN, lemma 7): `2 nu / gamma`.

    >>> gamma_loss_stability(0.2, gamma=0.5)
    0.8
    """
    return 2 * scores / gamma
