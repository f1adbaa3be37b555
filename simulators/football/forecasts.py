"""What a rating system said of every match, before it learned it."""

from typing import Any, NamedTuple

import numpy.typing as npt

from simulators.football.davidson import follow
from simulators.football.matches import Matches

__all__ = ["Forecasts", "fitted"]

Array = npt.NDArray[Any]


class Forecasts(NamedTuple):
    """For each match by how much the home side was ahead, and the chances of a home win, a draw and an away win.

    `own` are the chances that a library gives itself, where it does.
    """

    leads: Array
    chances: Array
    own: Array | None = None


def fitted(matches: Matches, leads: Array, own: Array | None = None) -> Forecasts:
    """Forecasts whose chances are Davidson's, fitted to the leads on-line."""
    return Forecasts(leads, follow(leads, matches.outcome), own)
