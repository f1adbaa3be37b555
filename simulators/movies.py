"""The OAP paper's movie protocol on MovieLens 100K: what one person thinks of a movie, by what the others think.

The paper draws from the 547 people of EachMovie with more than 300 ratings, which is not to be had any more; MovieLens 100K has 53 of them. A trial draws one; of the
movies that this person rated, 300 are taken, 210 to learn and 90 to test on. A feature is another person's rating, moved so that the middle of the scale is 0, where
who did not see a movie is too, and every instance is of unit length.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from simulators.people import Split
from simulators.readers.movielens_100k import EXPECTED, ratings_of
from simulators.readers.shipped import lines_of

__all__ = ["RANKS", "draw_trial", "load", "of_unit_length", "people"]

Array = npt.NDArray[np.int64]

RANKS = 5
_MOVIES, _LEARNED = 300, 210


def load(file: Path) -> Array:
    """Ratings, people by movies and 0 where there is none, of the file `u.data`."""
    with lines_of(file, "u.data", EXPECTED) as lines:
        found = [(int(r.user), int(r.item), int(r.label)) for r in ratings_of(lines)]
    users, movies, ratings = np.array(found, np.int64).reshape(-1, 3).T
    given = np.zeros((users.max(initial=0) + 1, movies.max(initial=0) + 1), np.int64)
    given[users, movies] = ratings
    return given


def people(given: Array) -> Array:
    """Who rated more than 300 movies."""
    return np.flatnonzero((given > 0).sum(axis=1) > _MOVIES)


def of_unit_length(X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Rows of length 1, but for those that are 0."""
    lengths = np.sqrt((X**2).sum(axis=1, keepdims=True))
    found: npt.NDArray[np.float64] = X / np.where(lengths > 0, lengths, 1.0)
    return found


def draw_trial(given: Array, seed: int) -> Split:
    """A person's movies by the ratings of the others who rated as many."""
    generator = np.random.default_rng(seed)
    many = people(given)
    person = generator.choice(many)
    movies = generator.permutation(np.flatnonzero(given[person]))[:_MOVIES]
    theirs = given[many[many != person]][:, movies].T
    X = np.where(theirs > 0, (theirs - (RANKS + 1) / 2) / (RANKS - 1), 0.0)
    X = of_unit_length(X)
    y = given[person, movies]
    return Split(X[:_LEARNED], y[:_LEARNED], X[_LEARNED:], y[_LEARNED:])
