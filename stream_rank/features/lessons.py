"""Events that are first predicted and then learned, as a sequence that stages take in one go."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.engine.preparation.lessons import twice
from stream_rank.learners.tables.rows import Rows

__all__ = ["Lessons", "lessons_of", "pair_lessons", "pairs_of"]

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


class Lessons(NamedTuple):
    """A row for every event that is predicted, and after it one for every event that is learned.

    A stage learns an event after it was predicted, so the same event comes out of it twice, and may differ.
    """

    rows: Rows
    events: Array
    """The event of each row."""
    learning: Mask
    """Whether a row is learned, or is predicted."""


def lessons_of(rows: Rows, asking: Mask, learning: Mask) -> Lessons:
    """The lessons of events, some of which are predicted, some learned, and some both. Cost: O(events)."""
    events, learned = np.empty(2 * len(rows), np.int64), np.empty(2 * len(rows), np.bool_)
    count = twice(asking, learning, events, learned)
    return Lessons(rows.dense().chosen(events[:count]), events[:count], learned[:count])


def pair_lessons(preferred: Rows, others: Rows) -> Lessons:
    """The lessons of preferences: both items are transformed as they were predicted, and then both are learned."""
    count = len(preferred)
    order = np.tile(np.array([0, 1]), 2 * count) * count + np.repeat(np.arange(count), 4)
    both = Rows(
        preferred.names,
        np.concatenate([preferred.first, others.first])[order],
        np.concatenate([preferred.last, others.last])[order],
        preferred.slots,
        preferred.values,
        np.concatenate([preferred.met, others.met])[order],
    )
    return Lessons(both, np.repeat(np.arange(count), 4), np.tile([False, False, True, True], count))


def pairs_of(rows: Rows) -> tuple[Rows, Rows]:
    """The preferred and the other items of `pair_lessons` that went through stages, as before they were learned."""
    # what both items bring is known once both were learned
    met = np.repeat(rows.met[3::4], 4)
    whole = Rows(rows.names, rows.first, rows.last, rows.slots, rows.values, met)
    first = np.arange(0, len(rows), 4)
    return whole.chosen(first), whole.chosen(first + 1)
