"""The OAP paper's section 4.2 on a live stream: what one person thinks of films, by what other people gave them so far.

The paper draws from the 547 people of EachMovie with more than 300 ratings; MovieLens 100K has 53 of them. Of one of them 300 films are
taken, 210 to learn and 90 to be tested on. The others' ratings come first, as a stream, through the stage `neighbours`; then the person's, one by one.
"""

from typing import Any

import numpy as np

from simulators.movielens.ratings import Ratings
from stream_rank import OAPBPM, AveragedPRank, Neighbours, PRank
from stream_rank.features.rows_of import rows_of_dicts

__all__ = ["losses", "trial"]

_FILMS, _LEARNED, _LARGEST = 300, 210, 1e9


def _learners(n_ranks: int, seed: int) -> dict[str, Any]:
    return {
        "PRank": PRank(n_ranks),
        "AveragedPRank": AveragedPRank(n_ranks),
        "OAP-BPM": OAPBPM(n_ranks, n_members=100, sampling=0.3, seed=seed),
    }


def trial(ratings: Ratings, seed: int) -> dict[str, float]:
    """The rank losses of one person's last 90 films."""
    generator = np.random.default_rng(seed)
    counts = np.bincount(ratings.users)
    many = np.flatnonzero(counts > _FILMS)
    person = int(generator.choice(many))
    mine = generator.permutation(np.flatnonzero(ratings.users == person))[:_FILMS]
    films = np.zeros(int(ratings.items.max()) + 1, np.bool_)
    films[ratings.items[mine]] = True
    theirs = np.isin(ratings.users, many[many != person]) & films[ratings.items]
    stage = Neighbours(["user", "item"], n=len(many))
    stage.learn_many(_rows(ratings, np.flatnonzero(theirs)), ratings.stars[theirs])
    rows, stars = stage.transformed(_rows(ratings, mine)), ratings.stars[mine]
    # the stage knows all that it will say, so the first event brings it
    rows.met[:] = len(rows.names)
    found = {}
    for name, learner in _learners(ratings.n_ranks, seed).items():
        learner.learn_many(rows.part(0, _LEARNED), stars[:_LEARNED])
        said = learner.predict_many(rows.part(_LEARNED, _FILMS))
        found[name] = float(np.abs(said - stars[_LEARNED:]).mean())
    return found


def _rows(ratings: Ratings, which: Any) -> Any:
    pairs = zip(ratings.users[which].tolist(), ratings.items[which].tolist(), strict=True)
    return rows_of_dicts([{"user": f"{u}", "item": f"{i}"} for u, i in pairs], _LARGEST)


def losses(ratings: Ratings, trials: int = 100) -> dict[str, tuple[float, float]]:
    """The mean rank loss of each learner, and half of its confidence interval of 95 %; nothing where nobody rated enough."""
    if not (np.bincount(ratings.users) > _FILMS).any():
        return {}
    found = [trial(ratings, seed) for seed in range(trials)]
    numbers = {name: np.array([each[name] for each in found]) for name in found[0]}
    return {
        name: (float(each.mean()), float(1.96 * each.std(ddof=1) / np.sqrt(trials)))
        for name, each in numbers.items()
    }
