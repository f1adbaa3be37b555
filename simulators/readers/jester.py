"""Jester's first data set, as lines with commas: jokes, rated from -10 to 10; its labels are scores.

The archives have tables of a spreadsheet in them, whose form is no text: save each as CSV. Ratings have no times.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from simulators import jester
from simulators.readers.told import Rating, shuffled, told
from stream_rank.errors import InputError

__all__ = ["FLAGS", "events"]

FLAGS = "--learner widrow-hoff"


def events(path: Path) -> Iterator[str]:
    """Ratings in an order by chance."""
    try:
        given = jester.load(path).given
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    except ValueError as error:
        raise InputError(str(error)) from None
    users, jokes = np.nonzero(~np.isnan(given))
    found = zip(users.tolist(), jokes.tolist(), given[users, jokes].tolist(), strict=True)
    ratings = (Rating(0, f"u{user}", f"j{joke + 1}", label) for user, joke, label in found)
    return told(shuffled(ratings), timed=False)
