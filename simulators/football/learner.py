"""The project's learner on matches: every team is a feature, and so is being at home.

A match is a preference: the features of who won against those of who lost, by a magnitude of 1 or of the goals between
them; a draw is a tie, which is a magnitude of 0. In what order the two are named makes no difference to the learner.
"""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from simulators.football.davidson import for_home
from simulators.football.forecasts import Forecasts
from simulators.football.matches import Matches, log_loss
from stream_rank import RecursiveMPRank

__all__ = ["Setting", "choose", "forecasts", "settings"]

Array = npt.NDArray[Any]

_FORGETTING = (0.9999, 0.9998, 0.9997, 0.9995, 0.9993, 0.999)
_REGULARIZATION = (0.01, 0.1, 1.0)


class Setting(NamedTuple):
    """The learner's parameters."""

    forgetting: float
    regularization: float


def settings() -> list[Setting]:
    """Those to choose from."""
    return [Setting(*both) for both in itertools.product(_FORGETTING, _REGULARIZATION)]


def _side(teams: Array, at_home: Array, n_teams: int) -> sparse.csr_matrix:
    """A row of features for each team of a column; the feature after those of the teams is being at home."""
    ends = np.concatenate([[0], np.cumsum(1 + at_home)])
    features = np.full(ends[-1], n_teams)
    features[ends[:-1]] = teams
    return sparse.csr_matrix((np.ones(ends[-1]), features, ends), (len(teams), n_teams + 1))


def forecasts(matches: Matches, setting: Setting, goals: bool) -> Forecasts:
    """What `RecursiveMPRank` says of each match before it learns it, by who won or by how many `goals`.

    Cost: O(d**2) a match for d teams; a second for fifty thousand matches of 337 teams.

    >>> numbers = np.zeros(400, dtype=np.int64)
    >>> strong = Matches(("a", "b"), numbers, numbers, numbers + 1, numbers + 2.0, numbers == 0)
    >>> said = forecasts(strong, Setting(0.999, 1.0), goals=True)
    >>> said.leads[0], said.leads[-1].round(1)
    (np.float64(0.0), np.float64(2.0))
    """
    first, own_ground = matches.margin >= 0, ~matches.neutral
    preferred, other = (
        _side(np.where(side, matches.home, matches.away), side & own_ground, len(matches.teams))
        for side in (first, ~first)
    )
    magnitudes = np.abs(matches.margin if goals else matches.outcome.astype(np.float64))
    model = RecursiveMPRank(forgetting=setting.forgetting, regularization=setting.regularization)
    proba = np.empty((len(magnitudes), 3))
    ahead = model.test_then_train_pairs(preferred, other, magnitudes, proba)
    return Forecasts(np.where(first, ahead, -ahead), for_home(proba, first))


def choose(matches: Matches, goals: bool) -> Setting:
    """The setting with the least log-loss on the last half of the first half; no later match is looked at.

    Log-loss and not misordering: it counts by how much a forecast is wrong, and draws, so it depends less on chance.

    Cost: half of what `forecasts` costs, for each setting.
    """
    known = matches.until(matches.tuning.stop)
    best, least = settings()[0], math.inf
    for setting in settings():
        loss = log_loss(known, forecasts(known, setting, goals).chances, matches.tuning)
        if loss < least:
            best, least = setting, loss
    return best
