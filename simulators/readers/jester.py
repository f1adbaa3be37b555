"""Jester's first data set, as lines with commas: jokes, rated from -10 to 10; its labels are scores.

The archives have tables of a spreadsheet in them, whose form is no text: save each as CSV. Ratings have no times.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from simulators.readers.shipped import lines_of
from simulators.readers.told import Rating, shuffled, told

__all__ = ["FLAGS", "events", "ratings_of"]

FLAGS = "--learner widrow-hoff"
_EXPECTED = "a count and then 100 ratings from -10 to 10, 99 for none,"
_JOKES, _NONE = 100, 99.0

Array = npt.NDArray[np.float64]


def ratings_of(path: Path) -> Array:
    """People by jokes, NaN where there is no rating, of the folder, an archive, or the file itself."""
    rows = []
    with lines_of(path, "jester-data-1.csv", _EXPECTED) as lines:
        for line in lines:
            with lines.checked():
                row = np.array([float(cell or _NONE) for cell in line.split(",")[1 : 1 + _JOKES]])
                row[row == _NONE] = np.nan
                if row.shape != (_JOKES,) or (np.abs(row) > 10).any():
                    raise ValueError
            rows.append(row)
        if not rows:
            raise lines.wrong()
    return np.array(rows)


def events(path: Path) -> Iterator[str]:
    """Ratings in an order by chance."""
    given = ratings_of(path)
    users, jokes = np.nonzero(~np.isnan(given))
    found = zip(users.tolist(), jokes.tolist(), given[users, jokes].tolist(), strict=True)
    ratings = (Rating(0, f"u{user}", f"j{joke + 1}", label) for user, joke, label in found)
    return told(shuffled(ratings), timed=False)
