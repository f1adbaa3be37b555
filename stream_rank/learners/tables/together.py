"""Two tables of items as rows that share their names."""

from collections.abc import Hashable

import numpy as np

from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.vocabulary import Vocabulary, in_order

__all__ = ["together"]


def together(one: Rows, other: Rows) -> tuple[Rows, Rows]:
    """Two tables of items with one list of names, in the order in which their rows bring them: pairs, row by row."""
    if one.names is other.names:
        return one, other
    vocabulary, met = Vocabulary(), np.empty(len(one), np.int64)
    news = [_by_event(rows) for rows in (one, other)]
    for event in range(len(one)):
        vocabulary.add(in_order(name for new in news for name in new.get(event, ())))
        met[event] = len(vocabulary)
    parts = [rows.entries(vocabulary.slots(rows.names)) for rows in (one, other)]
    starts, more = parts[0].starts, parts[1].starts + len(parts[0].slots)
    slots = np.concatenate([part.slots for part in parts])
    values = np.concatenate([part.values for part in parts])
    return (
        Rows(vocabulary.names, starts[:-1], starts[1:], slots, values, met),
        Rows(vocabulary.names, more[:-1], more[1:], slots, values, met),
    )


def _by_event(rows: Rows) -> dict[int, list[Hashable]]:
    """The names that each event brings."""
    found: dict[int, list[Hashable]] = {}
    for event, name in rows.newcomers(Vocabulary()):
        found.setdefault(event, []).append(name)
    return found
