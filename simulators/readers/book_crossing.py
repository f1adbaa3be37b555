"""Book-Crossing: `BX-Book-Ratings.csv`. Ratings of 0 say that somebody has a book, and are left out; there are no times."""

import csv
from collections.abc import Iterator
from pathlib import Path

from simulators.readers.shipped import Lines, lines_of, number
from simulators.readers.told import Rating, shuffled, told

__all__ = ["FLAGS", "events"]

FLAGS = "--n-ranks 10"


def _ratings(lines: Lines) -> Iterator[Rating]:
    rows = csv.reader(lines, delimiter=";", escapechar="\\")
    with lines.checked():
        if next(rows, None) != ["User-ID", "ISBN", "Book-Rating"]:
            raise ValueError
    for row in rows:
        with lines.checked():
            user, book, rating = row
            label = number(rating, 0, 10)
            if label:
                yield Rating(0, str(int(user)), book, label)


def events(path: Path) -> Iterator[str]:
    """Ratings in an order by chance, of the folder, an archive, or `BX-Book-Ratings.csv` itself."""
    expected = '"User-ID";"ISBN";"Book-Rating", first as names and then as values,'
    with lines_of(path, "BX-Book-Ratings.csv", expected, "latin-1") as lines:
        return told(shuffled(_ratings(lines)), timed=False)
