"""Tables and dicts of events as the rows of a stream."""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from stream_rank.learners.base.numbers import unusable
from stream_rank.learners.base.values import features_of
from stream_rank.learners.tables.dense_table import DenseTable
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.table import open_table
from stream_rank.learners.tables.vocabulary import Vocabulary, in_order

__all__ = ["rows_of", "rows_of_dicts"]


def rows_of_dicts(events: Iterable[Mapping[Any, Any]], largest: float) -> Rows:
    """Events whose values may be text, lists or nested objects; a `FeatureError` for what is no feature.

    Cost: O(values), in Python.

    >>> rows = rows_of_dicts([{"a": 1}, {"brand": "ann", "a": 2}], 1e9)
    >>> list(rows.dicts()), rows.met.tolist()
    ([{'a': 1.0}, {'a': 2.0, 'brand=ann': 1.0}], [1, 2])
    """
    vocabulary = Vocabulary()
    slots: list[list[int]] = []
    values: list[list[float]] = []
    met: list[int] = []
    for x in events:
        features = features_of(x)
        for name, value in features.items():
            if not abs(value) <= largest:
                raise unusable(name, value, largest)
        vocabulary.add(in_order(name for name in features if name not in vocabulary.slot_of))
        entries = sorted((vocabulary.slot_of[name], value) for name, value in features.items())
        slots.append([slot for slot, _ in entries])
        values.append([value for _, value in entries])
        met.append(len(vocabulary))
    ends = np.cumsum([len(each) for each in slots], dtype=np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), ends])
    return Rows(
        vocabulary.names,
        starts[:-1],
        starts[1:],
        np.array(list(chain.from_iterable(slots)), np.int64),
        np.array(list(chain.from_iterable(values)), np.float64),
        np.array(met, np.int64),
    )


def rows_of(X: Any, largest: float) -> Rows:
    """A data frame, an array, a sparse matrix or rows as rows; frames with columns of text are read row by row."""
    if isinstance(X, Rows):
        return X
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        plain = (kind.is_numeric() or kind == nw.Boolean for kind in frame.schema.values())
        if not all(plain):
            rows = rows_of_dicts(map(_without_nan, frame.iter_rows(named=True)), largest)
            rows.native = X
            return rows
    table = open_table(X, largest, np.inf)
    vocabulary = Vocabulary()
    if isinstance(table, DenseTable) and len(table):
        rows = table.rows()
        rows.native = table.native
        return rows
    newcomers = table.newcomers(vocabulary)
    vocabulary.add(name for _, name in newcomers)
    met = np.searchsorted([row for row, _ in newcomers], np.arange(len(table)), "right")
    blocks = list(table.all_features(vocabulary, "float64", 0, len(table)))
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(block.starts) for block in blocks)])
    starts = np.cumsum(lengths)
    slots = np.concatenate([np.empty(0, np.int64), *(block.slots for block in blocks)])
    values = np.concatenate([np.empty(0), *(block.values for block in blocks)])
    rows = Rows(vocabulary.names, starts[:-1], starts[1:], slots, values, met.astype(np.int64))
    rows.native = table.native
    return rows


def _without_nan(row: Mapping[Any, Any]) -> dict[Any, Any]:
    """A row without what pandas has where a value is missing."""
    return {name: value for name, value in row.items() if value == value}
