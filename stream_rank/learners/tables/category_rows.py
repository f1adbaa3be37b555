"""Tables and dicts some of whose values are names, such as users and items, as rows of a stream."""

from collections.abc import Collection, Hashable, Iterable, Mapping
from itertools import chain
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from stream_rank.errors import FeatureError
from stream_rank.learners.base.numbers import as_number, numbers, unusable
from stream_rank.learners.base.values import features_of
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.vocabulary import Vocabulary, in_order

__all__ = ["category_rows", "numbers_by_name"]

Array = npt.NDArray[Any]
Names = Collection[Hashable]


def numbers_by_name(
    x: Mapping[Any, Any], names: Names, texts: Names, bound: float
) -> dict[Hashable, float]:
    """An event's features as numbers; those in `names` are names whatever they are, and of those in `texts` text is one.

    >>> numbers_by_name({"user": 17, "price": 2, "tags": ["new"]}, {"user"}, {"tags"}, 1e9)
    {'user=17': 1.0, 'price': 2.0, 'tags=new': 1.0}
    """
    found: dict[Hashable, float] = {}
    for name, value in x.items():
        if name in names or (name in texts and isinstance(value, str | list | tuple)):
            several = features_of({name: value}, names)
        else:
            try:
                several = {name: as_number(value)}
            except (TypeError, ValueError, OverflowError):
                raise unusable(name, value, bound) from None
        for each, number in several.items():
            if not abs(number) <= bound:
                raise unusable(each, value, bound)
            if each in found:
                raise FeatureError(f"feature {each!r} stands in the event twice")
            found[each] = number
    return found


def category_rows(X: Any, names: Names, texts: Names, bound: float) -> Rows | None:
    """A data frame or an array as rows; None if none of its columns has names or texts of these.

    Cost: O(values), a column at a time where every value is one feature, and row by row where a value may be several.
    """
    twice = list(getattr(X, "columns", ()))
    if len(set(twice)) < len(twice):
        return None  # whoever opens it next refuses it
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        each = zip(frame.columns, frame.iter_columns(), strict=True)
        columns: dict[Hashable, Array] = {name: column.to_numpy() for name, column in each}
        native = X
    elif isinstance(X, np.ndarray) and X.ndim == 2 and not np.ma.isMaskedArray(X):
        columns, native = dict(enumerate(X.T)), None
    else:
        return None
    named = {
        name
        for name, values in columns.items()
        if name in names
        or (name in texts and (values.dtype.kind not in "biuf" or (values != values).any()))
    }
    if not named:
        return None
    rows = _by_column(columns, named, names, texts, bound)
    if rows is None:
        lists = [values.tolist() for values in columns.values()]
        events = (dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True))
        rows = _by_row(events, names, texts, bound)
    rows.native = native
    return rows


def _missing(value: Any) -> bool:
    """Whether it is what a frame has where a name is missing: None, NaN, or an NA, of which nothing is true."""
    if isinstance(value, list | tuple | Mapping | np.ndarray):
        return False
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def _by_row(events: Iterable[Mapping[Any, Any]], names: Names, texts: Names, bound: float) -> Rows:
    """Events one by one. A NaN is what a frame has where a name is missing."""
    vocabulary, met = Vocabulary(), []
    entries: list[list[tuple[int, float]]] = []
    for row, x in enumerate(events):
        there = {
            name: v for name, v in x.items() if name not in (*names, *texts) or not _missing(v)
        }
        try:
            found = numbers_by_name(there, names, texts, bound)
        except FeatureError as error:
            raise FeatureError(f"row {row}: {error}") from None
        vocabulary.add(in_order(name for name in found if name not in vocabulary.slot_of))
        entries.append([(vocabulary.slot_of[name], value) for name, value in found.items()])
        met.append(len(vocabulary))
    ends = np.cumsum([0, *map(len, entries)], dtype=np.int64)
    flat = list(chain.from_iterable(entries))
    return Rows(
        vocabulary.names,
        ends[:-1],
        ends[1:],
        np.array([slot for slot, _ in flat], np.int64),
        np.array([value for _, value in flat], np.float64),
        np.array(met, np.int64),
    )


def _by_column(
    columns: Mapping[Hashable, Array], named: Names, names: Names, texts: Names, bound: float
) -> Rows | None:
    """Columns as rows; None where a value is several features."""
    count = len(next(iter(columns.values())))
    found_names: list[Hashable] = []
    first: list[int] = []
    places = np.empty((count, len(columns)), np.int64)
    values: Array = np.ones((count, len(columns)))
    for column, (name, given) in enumerate(columns.items()):
        if name not in named:
            given = numbers(given[:, None], [name], bound)[:, 0]
            good = np.abs(given) <= bound
            if not good.all():
                row = int(np.argmin(good))
                raise unusable(name, given[row], bound, row)
            values[:, column] = given
            places[:, column] = len(found_names)
            found_names.append(name)
            first.append(0)
            continue
        found = _coded(given)
        if found is None:
            return None
        distinct, begin, codes = found
        known = np.full(len(distinct), -1)
        for code, value in enumerate(distinct):
            if type(value) is int and name in names:  # as below, at a tenth of the time
                features: Mapping[Hashable, float] = {f"{name}={value}": 1.0}
            elif _missing(value):
                features = {}
            else:
                features = numbers_by_name({name: value}, names, texts, bound)
            if len(features) > 1:
                return None
            for feature, number in features.items():
                if number != 1.0 or (type(value) is float and name not in names):
                    return None  # numbers among texts, row by row
                known[code] = len(found_names)
                found_names.append(feature)
                first.append(int(begin[code]))
        places[:, column] = known[codes]
    if len(set(found_names)) < len(found_names):
        return None  # two values of one name, such as 17 and 17.0 among texts, or two columns of it
    rank = {name: place for place, name in enumerate(in_order(found_names))}
    order = sorted(range(len(found_names)), key=lambda each: (first[each], rank[found_names[each]]))
    slot_of = np.empty(len(found_names) + 1, np.int64)
    slot_of[order], slot_of[-1] = np.arange(len(found_names)), -1
    slots = slot_of[places]
    there = slots >= 0
    if there.all():
        ends = np.arange(count + 1) * len(columns)
        slots, values = slots.reshape(-1), values.reshape(-1)
    else:
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.count_nonzero(there, axis=1))])
        slots, values = slots[there], values[there]
    met = np.searchsorted(np.array([first[each] for each in order]), np.arange(count), "right")
    whole = [found_names[each] for each in order]
    return Rows(whole, ends[:-1], ends[1:], slots, values, met.astype(np.int64))


def _coded(values: Array) -> tuple[list[Any], Array, Array] | None:
    """A column's distinct values, where each comes first, and which of them every row has; None if they cannot be told apart."""
    if values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < 4 * len(values) + 1024:  # a place for every number costs less than sorting
            # the difference of small signed numbers wraps, and is right again without a sign
            unsigned = f"u{values.dtype.itemsize}"
            places = (values - values.min()).astype(unsigned).astype(np.int64)
            begin = np.full(high - low + 1, -1)
            begin[places[::-1]] = np.arange(len(values))[::-1]  # the first is written last
            there = np.flatnonzero(begin >= 0)
            code_of = np.cumsum(begin >= 0) - 1
            return (there + low).tolist(), begin[there], code_of[places]
    if values.dtype.kind in "biufU":
        distinct, at, codes = np.unique(values, return_index=True, return_inverse=True)
        return distinct.tolist(), at, codes
    seen: dict[Any, int] = {}
    first: list[int] = []
    codes = np.empty(len(values), np.int64)
    try:
        for row, value in enumerate(values.tolist()):
            code = seen.setdefault((type(value), value), len(seen))
            if code == len(first):
                first.append(row)
            codes[row] = code
    except TypeError:
        return None  # lists and objects
    return [value for _, value in seen], np.array(first, np.int64), codes
