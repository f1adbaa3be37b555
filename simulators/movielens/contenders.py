"""What learns the ratings one by one: `OrdinalFactors`, River's recommenders, Vowpal Wabbit's `--lrq`, and damped means."""

import importlib.util
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from river import optim, reco

from simulators.movielens.ratings import Ratings
from stream_rank import OrdinalFactors
from stream_rank.features.rows_of import rows_of_dicts

__all__ = ["CONTENDERS", "Forecast", "biased_mf", "factors"]

Array = npt.NDArray[np.float64]

_LARGEST = 1e25
_DAMPING = 5.0


class Forecast(NamedTuple):
    """What was said of every rating before it was learned."""

    numbers: Array
    ranks: Array
    shares: Array | None
    """Each rank's probability, where there is one."""


def _forecast(numbers: Array, ratings: Ratings) -> Forecast:
    """Of numbers, the nearest rank."""
    numbers = np.clip(numbers, 1, ratings.n_ranks)
    return Forecast(numbers, np.floor(numbers + 0.5), None)


def factors(ratings: Ratings, features: bool = False, **parameters: Any) -> Forecast:
    """By `OrdinalFactors` with its defaults: the mean, the median and the probabilities."""
    of_items = ["genre"] if features else None
    model = OrdinalFactors(ratings.n_ranks, item_features=of_items, **parameters)
    events = ratings.events(features)
    named = [{**x, "user": str(x["user"]), "item": str(x["item"])} for x in events]
    rows, learning = rows_of_dicts(named, _LARGEST), np.ones(len(ratings), np.bool_)
    shares = np.empty((len(ratings), ratings.n_ranks))
    ranks = model.learn_some(rows, ratings.stars, learning, shares=shares)
    numbers = (shares * np.arange(1, ratings.n_ranks + 1)).sum(axis=1)
    return Forecast(numbers, ranks.astype(np.float64), shares)


def factors_with_features(ratings: Ratings) -> Forecast:
    """The same with genres, hour and day."""
    return factors(ratings, features=True)


def _by_river(ratings: Ratings, model: Any) -> Forecast:
    found = np.empty(len(ratings))
    rows = zip(ratings.users.tolist(), ratings.items.tolist(), ratings.stars.tolist(), strict=True)
    for i, (user, item, stars) in enumerate(rows):
        found[i] = model.predict_one(user, item)
        model.learn_one(user, item, stars)
    return _forecast(found, ratings)


def baseline(ratings: Ratings) -> Forecast:
    """River's `Baseline`, with the settings of its notebook on these ratings."""
    return _by_river(ratings, reco.Baseline(optimizer=optim.SGD(0.025), l2=0.0))


def biased_mf(n_factors: int = 10) -> Any:
    """River's `BiasedMF`, with the settings of its notebook on these ratings."""
    return reco.BiasedMF(
        n_factors=n_factors,
        bias_optimizer=optim.SGD(0.025),
        latent_optimizer=optim.SGD(0.05),
        weight_initializer=optim.initializers.Zeros(),
        latent_initializer=optim.initializers.Normal(mu=0.0, sigma=0.1, seed=73),
        l2_latent=0.0,
        l2_bias=0.0,
    )


def by_biased_mf(ratings: Ratings) -> Forecast:
    """The same, rating by rating."""
    return _by_river(ratings, biased_mf())


def damped_means(*by: str) -> Callable[[Ratings], Forecast]:
    """The mean of all, and the damped means of what is left of it by user, by item, or by both."""

    def run(ratings: Ratings) -> Forecast:
        sums: dict[str, dict[int, list[float]]] = {
            each: defaultdict(lambda: [0.0, _DAMPING]) for each in by
        }
        total, found = [0.0, 0], np.empty(len(ratings))
        columns = {"user": ratings.users.tolist(), "item": ratings.items.tolist()}
        for i, stars in enumerate(ratings.stars.tolist()):
            mean = total[0] / max(1, total[1])
            each = [sums[name][columns[name][i]] for name in by]
            parts = [part / count for part, count in each]
            found[i] = mean + sum(parts)
            total = [total[0] + stars, total[1] + 1]
            for place, sum_ in enumerate(each):
                sum_[0] += stars - mean - (sum(parts) - parts[place])
                sum_[1] += 1
        return _forecast(found, ratings)

    return run


def wabbit(ratings: Ratings) -> Forecast | None:
    """Vowpal Wabbit's low-rank quadratic features, with the best of the seven settings that were tried; None where it is not installed."""
    if importlib.util.find_spec("vowpalwabbit") is None:
        return None
    from vowpalwabbit import pyvw

    model = pyvw.Workspace("--quiet -b 20 --lrq ui8 --sgd -l 0.01 --power_t 0 --random_seed 1")
    found = np.empty(len(ratings))
    rows = zip(ratings.users.tolist(), ratings.items.tolist(), ratings.stars.tolist(), strict=True)
    for i, (user, item, stars) in enumerate(rows):
        x = f"|u u{user} |i i{item}"
        found[i] = model.predict(x)
        model.learn(f"{stars} {x}")
    model.finish()
    return _forecast(found, ratings)


CONTENDERS: dict[str, Callable[[Ratings], Forecast | None]] = {
    "damped mean of the user": damped_means("user"),
    "damped mean of the item": damped_means("item"),
    "damped means of both": damped_means("user", "item"),
    "River's Baseline": baseline,
    "River's BiasedMF": by_biased_mf,
    "Vowpal Wabbit --lrq": wabbit,
    "OrdinalFactors": factors,
    "OrdinalFactors, genres and time": factors_with_features,
}
