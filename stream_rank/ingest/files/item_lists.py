"""From columns of lists in Arrow tables to the `Items` of rankings and choices."""

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.ingest.chunk import MOST_SHARED, Items
from stream_rank.ingest.files.column_mapping import TableLayout
from stream_rank.ingest.files.item_columns import (
    Field,
    Numbers,
    bare,
    beside,
    field_of,
    within,
)
from stream_rank.ingest.files.numbers import joined
from stream_rank.ingest.files.values import Features, features_in

__all__ = ["items_of"]

Array = npt.NDArray[Any]

_ROLES = ("ranking", "chosen", "among")
"""In this order are the items of a row: the chosen one is the first of a choice."""


def items_of(
    table: Any,
    layout: TableLayout,
    orders: dict[str, str],
    source: str,
    categories: Collection[str],
    cells: bool,
    wrong: dict[int, str],
) -> Items:
    """The items of the rankings and choices in a table; what is wrong with some of its rows is added to `wrong`."""
    columns = {role: joined(table.column(name)) for role, name in orders.items()}
    fields = {
        role: field_of(role, column, orders[role], source, categories)
        for role, column in columns.items()
    }
    chosen = features_in(table, layout.features, source, categories, cells)
    context = features_in(table, layout.context or {}, source, categories, cells)
    for role, part in (("context", context), ("chosen", chosen)):
        for row, reason in part.wrong.items():
            wrong.setdefault(row, f"{role}: {reason}")
    n_rows = table.num_rows
    if layout.features:
        fields["chosen"] = _of_columns(chosen, n_rows)
    rankings, chosen_ones, among = (
        fields[role].given if role in fields else np.zeros(n_rows, np.bool_) for role in _ROLES
    )
    plain = np.where(rankings, ~(chosen_ones | among), chosen_ones & among)
    counts = np.sum([field.counts for field in fields.values()], axis=0)
    rows = np.repeat(np.arange(n_rows), counts)
    places, empty = np.empty(len(rows), np.int64), np.ones(len(rows), np.bool_)
    given, begins = [], np.cumsum(counts) - counts
    for field in (fields[role] for role in _ROLES if role in fields):
        where = np.repeat(begins, field.counts) + within(field.counts)
        places[where] = field.places
        for each in field.numbers:
            given.append(each._replace(items=where[each.items]))
            empty[given[-1].items] = False
        plain[field.unfit] = False
        begins = begins + field.counts
    plain[rows[empty]] = False  # whatever the context has
    shared = beside(context, np.arange(n_rows), np.arange(n_rows))
    sizes = np.sum([np.bincount(each.items, minlength=n_rows) for each in shared], axis=0)
    fit = counts * sizes <= MOST_SHARED
    plain &= fit
    given += beside(context, rows[fit[rows]], np.flatnonzero(fit[rows]))
    names, items, features, values = _in_order(given)
    twice = (items[1:] == items[:-1]) & (features[1:] == features[:-1])
    plain[rows[items[1:][twice]]] = False
    return Items(
        *(plain, ~rankings, _bounds(counts), places),
        _bounds(np.bincount(items, minlength=len(rows))),
        *(names, features, values),
        _content(columns, chosen, context),
    )


def _in_order(given: list[Numbers]) -> tuple[list[Any], Array, Array, Array]:
    """All numbers, by item and then by feature; and the names of the features."""
    place_of: dict[Any, int] = {}
    items, features, values = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
    for each in given:
        places = [place_of.setdefault(name, len(place_of)) for name in each.names]
        items.append(each.items)
        features.append(np.array(places, np.int64)[each.features])
        values.append(each.values + 0.0)  # -0.0 becomes 0.0
    item, feature = np.concatenate(items), np.concatenate(features)
    order = np.argsort(item * len(place_of) + feature)
    return list(place_of), item[order], feature[order], np.concatenate(values)[order]


def _of_columns(item: Features, n_rows: int) -> Field:
    """Items that have a column for each feature."""
    given = item.given(n_rows)
    found = beside(item, np.flatnonzero(given), np.arange(given.sum()))
    nothing = np.zeros(n_rows, np.bool_)
    return Field(given, given.astype(np.int64), np.zeros(given.sum(), np.int64), found, nothing)


def _content(
    columns: dict[str, Any], chosen: Features, context: Features
) -> Callable[[int], dict[str, Any]]:
    """The rows as JSON objects, one at a time."""

    def content(row: int) -> dict[str, Any]:
        found = {role: bare(column[row].as_py(), column.type) for role, column in columns.items()}
        if chosen.numbers or chosen.categories:
            found["chosen"] = chosen.at(row) or None
        if any(value is not None for value in found.values()):
            found = {role: value for role, value in found.items() if value is not None}
        shared = context.at(row)
        return found | ({"context": shared} if shared else {})

    return content


def _bounds(counts: Array) -> Array:
    """Where lists of these lengths begin, and the end of the last.

    >>> _bounds(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
