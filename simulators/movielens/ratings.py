"""MovieLens' ratings in the order of time, and what is said of films."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simulators.readers.movielens_100k import EXPECTED, films_of, ratings_of
from simulators.readers.shipped import lines_of
from simulators.readers.told import in_time

__all__ = ["Ratings", "load"]

Array = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ratings:
    """A stream of ratings, in the order of time; of equal times, in that of the file."""

    users: Array
    items: Array
    stars: Array
    times: Array
    n_ranks: int
    genres: dict[int, list[str]]
    """By item; empty where nothing is said of them."""

    def __len__(self) -> int:
        return len(self.stars)

    def part(self, count: int) -> "Ratings":
        """The first ratings."""
        some = slice(count)
        return Ratings(
            *(self.users[some], self.items[some], self.stars[some], self.times[some]),
            n_ranks=self.n_ranks,
            genres=self.genres,
        )

    def events(self, features: bool = False) -> list[dict[str, Any]]:
        """The ratings as events: user and item, and with `features` the film's genres, the hour and the day of the week."""
        pairs = zip(self.users.tolist(), self.items.tolist(), strict=True)
        found: list[dict[str, Any]] = [{"user": user, "item": item} for user, item in pairs]
        if features:
            for x, seconds in zip(found, self.times.tolist(), strict=True):
                when = time.gmtime(seconds)
                x["genre"] = self.genres.get(x["item"], [])
                x["hour"], x["day"] = f"{when.tm_hour}", f"{when.tm_wday}"
        return found


def load(folder: Path) -> Ratings:
    """The ratings in MovieLens 100K's folder, and the genres of films where they are."""
    with lines_of(folder, "u.data", EXPECTED) as lines:
        found = in_time(ratings_of(lines))
        if not found:
            raise lines.wrong()
    numbers = [(int(each.user), int(each.item), int(each.label), each.time) for each in found]
    users, items, stars, times = np.array(numbers, np.int64).T.copy()
    genres = {int(film): about["genre"] for film, about in films_of(folder).items()}
    return Ratings(users, items, stars, times, max(2, int(stars.max())), genres)
