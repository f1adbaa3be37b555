"""Which of a hundred films somebody liked next: recall and NDCG of the first ten, event by event (Vinagre, Jorge and Gama, 2014).

Of every rating with all stars, the item is hidden among others that the user has not rated yet; the draw depends on the seed and the
event's number alone. Every learner orders the same candidates and then learns the rating.

Where the others are drawn from all items alike, as in the paper, most of them are seldom rated by anybody, and what is asked is mainly which film was
seen at all: popularity knows that, and a mean of stars does not try to. In the paper every learner is told of likes alone, and scores how
likely one is. Where the others are drawn as often as they were rated, being seen is no hint, and what is left to tell is taste.
"""

from collections.abc import Callable, Iterator
from math import log2
from typing import Any, NamedTuple

import numpy as np

from simulators.movielens.contenders import biased_mf
from simulators.movielens.ratings import Ratings
from stream_rank import OrdinalFactors

__all__ = ["ORDERERS", "Question", "Recall", "questions", "recalls"]

_AT = 10
_BESIDE = 100
_DRAWS = 2_000
"""So many ratings are drawn to find a hundred items among them; where they are not there, nothing is asked."""


class Question(NamedTuple):
    """A rating; and where somebody liked the item, the candidates that it is the first of."""

    user: int
    item: int
    stars: int
    candidates: list[int]


class Recall(NamedTuple):
    """Shares of the questions where the item was among the first ten, and its discounted gain there."""

    questions: int
    recall: float
    ndcg: float


def questions(ratings: Ratings, seed: int = 1, by_ratings: bool = False) -> Iterator[Question]:
    """The ratings, with candidates where they have all stars and enough items came that the user has not rated.

    Candidates are drawn from items, all alike, or with `by_ratings` from ratings, so that an item comes as often as it was rated.
    """
    known: list[int] = []
    met: set[int] = set()
    rated: dict[int, set[int]] = {}
    rows = zip(ratings.users.tolist(), ratings.items.tolist(), ratings.stars.tolist(), strict=True)
    for number, (user, item, stars) in enumerate(rows):
        mine = rated.setdefault(user, set())
        candidates: list[int] = []
        others = len(known) - len(mine) - 1
        if stars == ratings.n_ranks and item in met and others >= _BESIDE:
            generator = np.random.default_rng((seed, number))
            if by_ratings:
                rated_before = ratings.items[generator.integers(0, number, _DRAWS)].tolist()
                drawn = dict.fromkeys(rated_before)
            else:
                drawn = dict.fromkeys(known[each] for each in generator.permutation(len(known)))
            fresh = (each for each in drawn if each not in mine and each != item)
            candidates = [item, *(other for other, _ in zip(fresh, range(_BESIDE), strict=False))]
            if len(candidates) <= _BESIDE:
                candidates = []
        yield Question(user, item, stars, candidates)
        mine.add(item)
        if item not in met:
            met.add(item)
            known.append(item)


class _Factors:
    _width = 0.0

    def __init__(self, ratings: Ratings) -> None:
        self._model = OrdinalFactors(ratings.n_ranks)

    def place(self, question: Question) -> int:
        best = self._model.top_k(question.user, question.candidates, _AT, self._width)
        found = [item for item, _ in best]
        return found.index(question.item) if question.item in found else _AT

    def learn(self, question: Question) -> None:
        self._model.learn_one({"user": question.user, "item": question.item}, question.stars)


class _CautiousFactors(_Factors):
    """What is rated by few is seldom what somebody rates next: two deviations below the mean."""

    _width = -2.0


class _ByScore:
    """Whatever scores a user and an item."""

    def _score(self, user: int, item: int) -> float:
        raise NotImplementedError

    def place(self, question: Question) -> int:
        mine, *others = (self._score(question.user, item) for item in question.candidates)
        return sum(score >= mine for score in others)


class _BiasedMF(_ByScore):
    def __init__(self, ratings: Ratings) -> None:
        self._model = biased_mf()

    def _score(self, user: int, item: int) -> float:
        return float(self._model.predict_one(user, item))

    def learn(self, question: Question) -> None:
        self._model.learn_one(question.user, question.item, question.stars)


class _Popularity(_ByScore):
    """How often an item was rated."""

    def __init__(self, ratings: Ratings) -> None:
        self._counts: dict[int, int] = {}

    def _score(self, user: int, item: int) -> float:
        return self._counts.get(item, 0)

    def learn(self, question: Question) -> None:
        self._counts[question.item] = self._counts.get(question.item, 0) + 1


ORDERERS: dict[str, Callable[[Ratings], Any]] = {
    "popularity": _Popularity,
    "River's BiasedMF": _BiasedMF,
    "OrdinalFactors": _Factors,
    "the same, cautiously": _CautiousFactors,
}


def recalls(ratings: Ratings, seed: int = 1, by_ratings: bool = False) -> dict[str, Recall]:
    """What each orderer finds among candidates that are drawn so."""
    orderers = {name: make(ratings) for name, make in ORDERERS.items()}
    found, gains, count = dict.fromkeys(orderers, 0), dict.fromkeys(orderers, 0.0), 0
    for question in questions(ratings, seed, by_ratings):
        count += bool(question.candidates)
        for name, orderer in orderers.items():
            if question.candidates:
                place = orderer.place(question)
                if place < _AT:
                    found[name] += 1
                    gains[name] += 1 / log2(place + 2)
            orderer.learn(question)
    return {
        name: Recall(count, found[name] / max(1, count), gains[name] / max(1, count))
        for name in orderers
    }
