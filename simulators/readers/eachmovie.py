"""EachMovie: `Vote.txt`. Six scores from 0 to 1 are ranks; what was not seen (a weight below 1) is left out."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from simulators.readers.shipped import Lines, lines_of, number
from simulators.readers.told import Rating, in_time, told

__all__ = ["FLAGS", "events"]

FLAGS = "--n-ranks 6"
_TIMES = ("%m/%d/%y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S")


def _seconds(text: str) -> int:
    text = text.partition(".")[0].strip()
    for form in _TIMES:
        try:
            return int(datetime.strptime(text, form).replace(tzinfo=UTC).timestamp())
        except ValueError:
            continue
    raise ValueError


def _ratings(lines: Lines) -> Iterator[Rating]:
    for user, item, score, weight, time, *_ in lines.cells("\t", 5):
        with lines.checked():
            if float(weight) < 1:
                continue
            rank = round(5 * number(score, 0, 1)) + 1
            yield Rating(_seconds(time), str(int(user)), str(int(item)), float(rank))


def events(path: Path) -> Iterator[str]:
    """Ratings by time, of the folder, an archive, or `Vote.txt` itself."""
    expected = "person, movie, a score from 0 to 1, weight and time, with tabs between"
    with lines_of(path, "Vote.txt", expected) as lines:
        return told(in_time(_ratings(lines)))
