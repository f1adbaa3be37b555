"""Chances of three outcomes from a lead, fitted as matches come: as the package's learners are calibrated.

The model has no constant for the side that is named first: exchanging the two sides exchanges their chances, so nothing is
given away by the order in which they are named.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.scoring.odds import calibrate, new_odds

__all__ = ["follow", "for_home"]

Array = npt.NDArray[Any]


def follow(leads: Array, outcomes: Array) -> Array:
    """The chances of home, draw and away for each match, before its outcome (1, 0 or -1) is learned.

    Any system's scale will do: leads are measured by the root of their mean square so far.

    Cost: O(1) a match.

    >>> generator = np.random.default_rng(1)
    >>> leads = generator.normal(size=5000) * 300
    >>> outcomes = np.sign(np.round(leads / 300 + generator.logistic(size=5000) * 0.7))
    >>> chances = follow(leads, outcomes)
    >>> late, drawn = chances[2500:], outcomes[2500:] == 0
    >>> float(abs(late[:, 1].mean() - drawn.mean()).round(2))
    0.0
    """
    won = outcomes >= 0
    proba = np.empty((len(leads), 3))
    magnitudes = np.abs(outcomes).astype(np.float64)
    calibrate(new_odds(), np.where(won, leads, -leads), magnitudes, proba, 1)
    return for_home(proba, won)


def for_home(proba: Array, won: Array) -> Array:
    """The chances of home, draw and away from those of preferred, tie and other, where home is the preferred if it `won`."""
    return np.where(won[:, None], proba, proba[:, ::-1])
