"""MovieLens 1M and 10M: `ratings.dat`, and `movies.dat` if it is beside it."""

from collections.abc import Iterator
from pathlib import Path

from simulators.readers.shipped import Lines, beside, lines_of, number
from simulators.readers.told import Rating, in_time, told

__all__ = ["FLAGS", "events", "year_of"]

FLAGS = "--n-ranks 5"


def year_of(title: str) -> dict[str, object]:
    """The year in brackets at a title's end, if there is one.

    >>> year_of("Toy Story (1995)"), year_of("Nowhere")
    ({'year': 1995}, {})
    """
    digits = title.rstrip()[-5:-1]
    return {"year": int(digits)} if digits.isascii() and digits.isdigit() else {}


def _ratings(lines: Lines) -> Iterator[Rating]:
    for user, item, stars, time, *_ in lines.cells("::", 4):
        with lines.checked():
            # half stars (10M) are rounded up
            rank = float(-(-number(stars, 0.5, 5) // 1))
            yield Rating(int(time), str(int(user)), str(int(item)), rank)


def _movies(lines: Lines) -> dict[str, dict[str, object]]:
    return {
        item: {"genre": genres.split("|"), **year_of(title)}
        for item, title, genres, *_ in lines.cells("::", 3)
    }


def events(path: Path) -> Iterator[str]:
    """Ratings by time, of the folder, its archive, or `ratings.dat` itself."""
    with lines_of(path, "ratings.dat", "user::item::0.5 to 5::seconds") as lines:
        ratings = in_time(_ratings(lines))
    movies, there = {}, beside(path, "movies.dat")
    if there is not None:
        with lines_of(there, "movies.dat", "id::title::genres", "latin-1") as lines:
            movies = _movies(lines)
    return told(ratings, movies)
