"""People who rated things, and how one of them is foretold from the ratings of others, as the magnitude-preserving paper does it.

For a test user, the ratings of a thing by 300 reference users, drawn from those with so many ratings, are the thing's
features; where one of them did not rate it, that user's median stands in. Half of the test user's ratings
are learned, the others predicted.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Group", "Ratings", "Split", "split"]

Array = npt.NDArray[Any]

_REFERENCES = 300


class Ratings(NamedTuple):
    """Users by things, NaN where there is no rating; and the same with the user's median there."""

    given: Array
    filled: Array

    @property
    def counts(self) -> Array:
        """How many ratings every user gave."""
        counts: Array = (~np.isnan(self.given)).sum(axis=1)
        return counts


class Group(NamedTuple):
    """Reference users by their number of ratings; at most what errors are asked for: MSD, M1D, misranking."""

    least: int
    most: int
    required: tuple[float, float, float] | None = None

    @property
    def name(self) -> str:
        """As the paper calls it."""
        return f"{self.least}-{self.most}"


class Split(NamedTuple):
    """The things of a test user."""

    X: Array
    y: Array
    others: Array
    other_y: Array


def split(ratings: Ratings, group: Group, user: int, generator: np.random.Generator) -> Split:
    """Half of a user's things to learn and half to predict."""
    counts = ratings.counts
    pool = np.flatnonzero((counts >= group.least) & (counts <= group.most))
    others = pool[pool != user]
    references = generator.choice(others, min(_REFERENCES, len(others)), replace=False)
    things = generator.permutation(np.flatnonzero(~np.isnan(ratings.given[user])))
    half = len(things) // 2
    features = ratings.filled[references].T
    learned, tested = things[:half], things[half:]
    given = ratings.given[user]
    return Split(features[learned], given[learned], features[tested], given[tested])
