"""MovieLens 100K: `u.data`, and `u.item` if it is beside it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulators.readers.shipped import Lines, beside, lines_of, number
from simulators.readers.told import Rating, in_time, told

__all__ = ["EXPECTED", "FLAGS", "events", "films_of", "ratings_of"]

FLAGS = "--n-ranks 5"
EXPECTED = "user, item, 1 to 5 and seconds, with tabs between"
_GENRES = (
    *("unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime"),
    *("Documentary", "Drama", "Fantasy", "Film-Noir", "Horror", "Musical", "Mystery"),
    *("Romance", "Sci-Fi", "Thriller", "War", "Western"),
)
_BEFORE_GENRES = 5


def ratings_of(lines: Lines) -> Iterator[Rating]:
    """Ratings in the order of the file."""
    for user, item, stars, time, *_ in lines.cells("\t", 4):
        with lines.checked():
            yield Rating(int(time), str(int(user)), str(int(item)), number(stars, 1, 5))


def films_of(path: Path) -> dict[str, dict[str, Any]]:
    """What is said of films in `u.item` beside the ratings: of none where it is not."""
    there = beside(path, "u.item")
    if there is None:
        return {}
    with lines_of(there, "u.item", "id|title|date|date|URL and 19 genres", "latin-1") as lines:
        return _films(lines)


def _films(lines: Lines) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for cells in lines.cells("|", _BEFORE_GENRES + len(_GENRES)):
        marks = cells[_BEFORE_GENRES:]
        about: dict[str, Any] = {
            "genre": [name for name, mark in zip(_GENRES, marks, strict=False) if mark == "1"]
        }
        with lines.checked():
            if cells[2]:
                about["year"] = int(cells[2][-4:])
        found[cells[0]] = about
    return found


def events(path: Path) -> Iterator[str]:
    """Ratings by time, of the folder, its archive, or `u.data` itself."""
    with lines_of(path, "u.data", EXPECTED) as lines:
        ratings = in_time(ratings_of(lines))
    return told(ratings, films_of(path))
