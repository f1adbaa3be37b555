"""MovieLens of later years (latest, 20M, 25M, 32M): `ratings.csv`, and `movies.csv` if it is beside it.

Ratings are half stars, of which ranks 1 to 10 are made.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

from simulators.readers.movielens_1m import year_of
from simulators.readers.shipped import Lines, beside, lines_of, number
from simulators.readers.told import Rating, in_time, told

__all__ = ["FLAGS", "events"]

FLAGS = "--n-ranks 10"


def _ratings(lines: Lines) -> Iterator[Rating]:
    for row in csv.DictReader(lines, strict=True):
        with lines.checked():
            halves = 2 * number(row["rating"], 0.5, 5)
            if halves != int(halves):
                raise ValueError
            user, item = (str(int(row[name])) for name in ("userId", "movieId"))
            yield Rating(int(row["timestamp"]), user, item, halves)


def _movies(lines: Lines) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for row in csv.DictReader(lines):
        with lines.checked():
            genres = [each for each in row["genres"].split("|") if not each.startswith("(")]
            found[row["movieId"]] = {"genre": genres, **year_of(row["title"])}
    return found


def events(path: Path) -> Iterator[str]:
    """Ratings by time, of the folder, its archive, or `ratings.csv` itself."""
    expected = "userId,movieId,rating,timestamp, as the first line says, with ratings of 0.5 to 5"
    with lines_of(path, "ratings.csv", expected) as lines:
        ratings = in_time(_ratings(lines))
    movies, there = {}, beside(path, "movies.csv")
    if there is not None:
        with lines_of(there, "movies.csv", "movieId,title,genres") as lines:
            movies = _movies(lines)
    return told(ratings, movies)
