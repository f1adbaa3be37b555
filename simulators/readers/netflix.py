"""Netflix's prize: a folder of `mv_0000001.txt` and so on, or of `combined_data_1.txt` and so on, or one of these.

There are a hundred million ratings, movie by movie: they come in the order of the files, since no memory would hold them.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from simulators.readers.shipped import Lines, lines_of, number, parts_of
from simulators.readers.told import Rating, told
from stream_rank.errors import InputError

__all__ = ["FLAGS", "events"]

FLAGS = "--n-ranks 5"
_EXPECTED = "a movie's number and a colon, and then user,1 to 5,year-month-day"


def _ratings(lines: Lines) -> Iterator[Rating]:
    movie = None
    for line in lines:
        with lines.checked():
            if line.endswith(":"):
                movie = str(int(line[:-1]))
                continue
            user, stars, day = line.split(",")
            if movie is None:
                raise ValueError
            time = int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())
            rating = Rating(time, str(int(user)), movie, number(stars, 1, 5))
        yield rating


def events(path: Path) -> Iterator[str]:
    """Ratings file by file."""
    for part in parts_of(path, "mv_*.txt", "combined_data_*.txt"):
        if part.suffix == ".zip":
            raise InputError(f"{part} is an archive; unpack it, and give its folder")
        with lines_of(part, part.name, _EXPECTED) as lines:
            yield from told(_ratings(lines))
