"""Items in the columns of Arrow tables: structs, maps and lists of numbers, and lists of those."""

from collections.abc import Collection
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from stream_rank.errors import InputError
from stream_rank.ingest.files.kinds import is_list, is_number, is_text
from stream_rank.ingest.files.numbers import given_in, numbers
from stream_rank.ingest.files.values import Features, coded, features_of_struct

__all__ = ["Field", "Numbers", "bare", "beside", "field_of", "numbers_at", "within"]

Array = npt.NDArray[Any]

_FORMS = "structs, maps or lists of numbers, or JSON text"


class Numbers(NamedTuple):
    """Some numbers of items: the item, the feature (as a place in `names`) and the value of each."""

    items: Array
    names: list[Any]
    features: Array
    values: Array


class Field(NamedTuple):
    """The items that are in one field of all rows."""

    given: Array
    """Whether a row has the field."""
    counts: Array
    """How many items it has there."""
    places: Array
    """The place of each item."""
    numbers: list[Numbers]
    unfit: Array
    """Rows whose items these columns cannot say."""


def field_of(role: str, column: Any, name: str, source: str, categories: Collection[str]) -> Field:
    """The items of a column."""
    given, kind = given_in(column), column.type
    if is_text(kind) or pa.types.is_null(kind):
        nothing = np.zeros(len(column), np.int64)
        return Field(given, nothing, nothing[:0], [], np.ones(len(column), np.bool_))
    unfit = np.zeros(len(column), np.bool_)
    if role == "chosen":
        counts, rows, items = given.astype(np.int64), np.flatnonzero(given), column.filter(given)
        places = np.zeros(len(items), np.int64)
    else:
        if not is_list(kind):
            raise InputError(
                f"column {name!r} of {source} is of {kind}; `fields` {role} is of lists of items: {_FORMS}"
            )
        counts, items = _lists(column)
        rows = np.repeat(np.arange(len(column)), counts)
        places = within(counts) if role == "ranking" else np.ones(len(items), np.int64)
        if role == "ranking" and is_list(items.type) and not is_number(items.type.value_type):
            sizes, items = _lists(items)  # places, each a list of equal items
            unfit[rows[sizes == 0]] = True
            rows, places = np.repeat(rows, sizes), np.repeat(places, sizes)
            counts = np.bincount(rows, minlength=len(column))
    found, odd = _numbers_of(items, name, source, categories)
    unfit[rows[odd]] = True
    return Field(given, counts, places, found, unfit)


def beside(item: Features, rows: Array, items: Array) -> list[Numbers]:
    """What rows have, written out beside items, which are in the order of their rows."""
    found = []
    for name, column in item.numbers.items():
        here = ~item.missing[name][rows] if name in item.missing else np.ones(len(rows), np.bool_)
        found.append(numbers_at(items[here], name, column[rows[here]]))
    for each in item.categories:
        first, last = np.searchsorted(each.rows, rows), np.searchsorted(each.rows, rows, "right")
        lengths = last - first
        codes = each.codes[np.repeat(first, lengths) + within(lengths)]
        found.append(Numbers(np.repeat(items, lengths), each.names, codes, np.ones(len(codes))))
    return found


def numbers_at(items: Array, name: Any, values: Array) -> Numbers:
    """Numbers of one feature."""
    return Numbers(items, [name], np.zeros(len(items), np.int64), values)


def _numbers_of(
    column: Any, name: str, source: str, categories: Collection[str]
) -> tuple[list[Numbers], Array]:
    """The numbers of a column of items, without the missing ones; and the items that these columns cannot say."""
    kind, found = column.type, []
    odd: Array = np.empty(0, np.int64)
    if pa.types.is_struct(kind):
        members = features_of_struct(column, name, source, categories)
        every = np.arange(len(column))
        found += beside(members, every, every)
        odd = np.array([*members.wrong], np.int64)
    elif pa.types.is_map(kind) and is_text(kind.key_type):
        pairs = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
        lengths, entries = _lists(column.cast(pa.list_(pairs)))
        keys, members = entries.flatten()
        here = given_in(members)
        encoded = keys.dictionary_encode()
        items = np.repeat(np.arange(len(column)), lengths)[here]
        features = np.asarray(encoded.indices, np.int64)[here]
        names = encoded.dictionary.to_pylist()
        if is_text(kind.item_type):
            texts, codes, _ = coded(members, "")
            some, width = codes[here] >= 0, max(1, len(texts))
            met, which = np.unique((features * width + codes[here])[some], return_inverse=True)
            names = [f"{names[each // width]}={texts[each % width]}" for each in met.tolist()]
            found.append(Numbers(items[some], names, which, np.ones(len(which))))
        else:
            values = numbers(members, f"{name}.value", source)[here]
            found.append(Numbers(items, names, features, values))
            odd = items[
                np.isin(features, [i for i, each in enumerate(names) if each in categories])
            ]
    elif is_list(kind) and is_number(kind.value_type):
        lengths, members = _lists(column)
        items, here = np.repeat(np.arange(len(column)), lengths), given_in(members)
        names = list(range(int(lengths.max(initial=0))))
        values = numbers(members, f"{name}.element", source)
        found.append(Numbers(items[here], names, within(lengths)[here], values[here]))
        odd = items[~here]
    elif not (pa.types.is_null(kind) or (is_list(kind) and pa.types.is_null(kind.value_type))):
        raise InputError(
            f"column {name!r} of {source} has items of {kind}; items are needed that are {_FORMS}"
        )
    return found, odd


def bare(value: Any, kind: Any) -> Any:
    """What JSON would have: members without those that are missing."""
    if value is None:
        return None
    if pa.types.is_struct(kind) or pa.types.is_map(kind):
        return {name: _plain(each) for name, each in dict(value).items() if each is not None}
    if is_list(kind):
        return [bare(each, kind.value_type) for each in value]
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return float(value) if isinstance(value, Decimal) else value


def _lists(column: Any) -> tuple[Array, Any]:
    """The lengths of lists, 0 of those that are missing, and what is in them."""
    lengths: Any = pc.fill_null(pc.list_value_length(column), 0)
    return np.asarray(lengths.to_numpy(zero_copy_only=False), np.int64), column.flatten()


def within(counts: Array) -> Array:
    """The place of each thing in its list.

    >>> within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    ends = np.cumsum(counts)
    return np.asarray(np.arange(counts.sum()) - np.repeat(ends - counts, counts), np.int64)
