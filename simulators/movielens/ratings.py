"""MovieLens' ratings in the order of time, and what is said of films."""

import gzip
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.errors import InputError

__all__ = ["Ratings", "load"]

Array = npt.NDArray[np.int64]

_GENRES = (
    *("unknown", "action", "adventure", "animation", "children", "comedy", "crime", "documentary"),
    *("drama", "fantasy", "film-noir", "horror", "musical", "mystery", "romance", "sci-fi"),
    *("thriller", "war", "western"),
)
_SECONDS = 3600


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
    """The ratings in MovieLens 100K's folder, `u.data` or `u.data.gz`, and `u.item` where it is."""
    for path in (folder / "u.data.gz", folder / "u.data"):
        if path.is_file():
            break
    else:
        raise InputError(
            f"there is no u.data(.gz) in {folder}; --data takes MovieLens 100K's folder"
        )
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="ascii") as file:
        try:
            table = np.loadtxt(file, np.int64, ndmin=2)
        except ValueError as error:
            raise InputError(f"{path}: {error}") from None
    if not len(table) or table.shape[1] != 4:
        raise InputError(f"{path}: a rating is user, item, stars and time")
    users, items, stars, times = table[np.argsort(table[:, 3], kind="stable")].T.copy()
    if stars.min() < 1:
        raise InputError(f"{path}: {stars.min()} stars; ranks count from 1")
    return Ratings(users, items, stars, times, max(2, int(stars.max())), _genres(folder / "u.item"))


def _genres(path: Path) -> dict[int, list[str]]:
    if not path.is_file():
        return {}
    found = {}
    for line in path.read_text("latin-1").splitlines():
        number, *_, last = line.split("|", 5)
        marks = last.split("|")
        found[int(number)] = [
            name for name, mark in zip(_GENRES, marks, strict=False) if mark == "1"
        ]
    return found
