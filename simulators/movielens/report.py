"""Losses of all contenders on one stream, and how well probabilities are calibrated."""

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt

from simulators.movielens import one_person
from simulators.movielens.contenders import CONTENDERS, Forecast
from simulators.movielens.ratings import Ratings, load
from simulators.movielens.recall import recalls

__all__ = ["Losses", "add", "calibration_by_rank", "calibration_by_user", "losses", "report", "run"]

Array = npt.NDArray[np.float64]
Losses = dict[str, float]

MOST_RANK_LOSS, MOST_ERROR, MOST_LOG_LOSS = 0.685, 0.738, 1.265
"""What the project asks of the defaults on MovieLens 100K."""
MOST_SHARE = 0.85
"""OAP-BPM's loss as a share of PRank's."""
_LINE = "{:<33} {:>9} {:>9} {:>9} {:>9} {:>13}"
_AGES = ((0, 1), (1, 5), (5, 20), (20, 100), (100, 10**9))
"""Ratings of the user so far."""


def losses(forecast: Forecast, ratings: Ratings) -> Losses:
    """The rank loss; the mean absolute and the root mean squared error of the number; the log-loss; the mean rank loss of users."""
    steps = np.abs(forecast.ranks - ratings.stars)
    errors = np.abs(forecast.numbers - ratings.stars)
    _, user = np.unique(ratings.users, return_inverse=True)
    by_user = np.bincount(user, steps) / np.bincount(user)
    found = {
        "rank loss": float(steps.mean()),
        "MAE": float(errors.mean()),
        "RMSE": float(np.sqrt((errors**2).mean())),
        "by user": float(by_user.mean()),
    }
    if forecast.shares is not None:
        likely = forecast.shares[np.arange(len(ratings)), ratings.stars - 1]
        found["log-loss"] = float(-np.log(np.maximum(likely, 1e-300)).mean())
    return found


def calibration_by_rank(forecast: Forecast, ratings: Ratings) -> list[tuple[int, float, float]]:
    """Of each rank, how often it was expected and how often it came."""
    assert forecast.shares is not None
    return [
        (rank, float(forecast.shares[:, rank - 1].mean()), float((ratings.stars == rank).mean()))
        for rank in range(1, ratings.n_ranks + 1)
    ]


def calibration_by_user(
    forecast: Forecast, ratings: Ratings
) -> list[tuple[str, int, float, float, float]]:
    """By how many ratings the user had: how many events, the log-loss, and the log-loss and rank loss that were expected."""
    assert forecast.shares is not None
    shares = np.maximum(forecast.shares, 1e-300)
    likely = -np.log(shares[np.arange(len(ratings)), ratings.stars - 1])
    expected = -(shares * np.log(shares)).sum(axis=1)
    age = np.empty(len(ratings), np.int64)
    seen: dict[int, int] = {}
    for i, user in enumerate(ratings.users.tolist()):
        age[i] = seen.get(user, 0)
        seen[user] = seen.get(user, 0) + 1
    found = []
    for first, end in _AGES:
        some = (age >= first) & (age < end)
        if some.any():
            name = (
                str(first)
                if end == first + 1
                else f"{first} to {end - 1}"
                if end < 10**9
                else f"{first} on"
            )
            steps = np.abs(forecast.ranks - ratings.stars)[some].mean()
            means = float(likely[some].mean()), float(expected[some].mean()), float(steps)
            found.append((name, int(some.sum()), *means))
    return found


def _table(found: dict[str, Losses | None]) -> str:
    lines = [
        _LINE.format(
            "each predicted before it is learned",
            "rank loss",
            "MAE",
            "RMSE",
            "log-loss",
            "loss by user",
        )
    ]
    for name, each in found.items():
        if each is None:
            lines.append(f"{name:<33} not installed")
            continue
        numbers = (each.get(key) for key in ("rank loss", "MAE", "RMSE", "log-loss", "by user"))
        lines.append(
            _LINE.format(name, *("" if number is None else f"{number:.4f}" for number in numbers))
        )
    return "\n".join(lines)


def report(folder: Path) -> int:
    """Print the table and the calibration; 1 if the defaults are not as good as is asked."""
    ratings = load(folder)
    print(
        f"{len(ratings):,} ratings of {len(set(ratings.items.tolist())):,} items by {len(set(ratings.users.tolist())):,} users"
    )
    found: dict[str, Losses | None] = {}
    for name, learn in CONTENDERS.items():
        forecast = learn(ratings)
        found[name] = None if forecast is None else losses(forecast, ratings)
        if name == "OrdinalFactors":
            ours = forecast
    print(_table(found))
    assert ours is not None
    print("\nOrdinalFactors, by rank: expected and observed share")
    for rank, expected, observed in calibration_by_rank(ours, ratings):
        print(f"{rank:>12} {expected:>9.4f} {observed:>9.4f}")
    print("\nby ratings of the user before: events, log-loss, and as it was expected; rank loss")
    for age, count, loss, expected, steps in calibration_by_user(ours, ratings):
        print(f"{age:>12} {count:>9,} {loss:>9.4f} {expected:>9.4f} {steps:>9.4f}")
    print("\nfilms that got all stars, among 100 others that were new to the user")
    for by_ratings, drawn in ((False, "all alike"), (True, "as often as rated")):
        print(f"{drawn:<20} {'questions':>9} {'recall@10':>9} {'NDCG@10':>9}")
        for name, each in recalls(ratings, by_ratings=by_ratings).items():
            print(f"{name:<20} {each.questions:>9,} {each.recall:>9.4f} {each.ndcg:>9.4f}")
    print("\none person by what others gave before (OAP, section 4.2, by the stage `neighbours`)")
    people = one_person.losses(ratings)
    for name, (mean, half) in people.items():
        print(f"{name:<20} {mean:>9.4f} +- {half:.4f}")
    here = found["OrdinalFactors"]
    assert here is not None
    good = (
        here["rank loss"] <= MOST_RANK_LOSS
        and here["MAE"] <= MOST_ERROR
        and here["log-loss"] <= MOST_LOG_LOSS
    )
    if people:
        good &= people["OAP-BPM"][0] <= MOST_SHARE * people["PRank"][0]
    return 0 if good else 1


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--data", type=Path, required=True, help="MovieLens 100K's folder")


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    return report(given.data)
