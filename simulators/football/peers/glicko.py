"""Glicko-2 by the library glicko2; every match is a rating period of its own.

It knows no home side. With a `home` advantage in points, each side learns from an opponent who is that much weaker or stronger.
"""

from types import ModuleType

import numpy as np

from simulators.football.forecasts import Forecasts, fitted
from simulators.football.matches import Matches, misordered

__all__ = ["choose", "forecasts"]

_HOME = (60.0, 80.0, 100.0, 120.0)


def forecasts(glicko2: ModuleType, matches: Matches, home: float = 0.0) -> Forecasts:
    """What is said of each match before it is learned; the library has no chances of draws.

    Cost: O(1) a match; a second for fifty thousand.
    """
    players = [glicko2.Player() for _ in matches.teams]
    leads = np.empty(len(matches))
    columns = zip(
        matches.home.tolist(),
        matches.away.tolist(),
        ((matches.outcome + 1) / 2).tolist(),
        np.where(matches.neutral, 0.0, home).tolist(),
        strict=True,
    )
    for row, (one, two, score, ground) in enumerate(columns):
        host, guest = players[one], players[two]
        rating, deviation = host.rating, host.rd
        leads[row] = rating + ground - guest.rating
        host.update_player([guest.rating - ground], [guest.rd], [score])
        guest.update_player([rating + ground], [deviation], [1 - score])
    return fitted(matches, leads)


def choose(glicko2: ModuleType, matches: Matches) -> float:
    """The home advantage that misorders fewest of the very matches that learners are compared on: favourable to Glicko."""
    part = matches.last_half
    return min(
        _HOME, key=lambda home: misordered(matches, forecasts(glicko2, matches, home).leads, part)
    )
