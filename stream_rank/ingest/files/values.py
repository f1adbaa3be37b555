"""Columns of features in Arrow tables: numbers, and the names that text stands for."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from stream_rank.errors import FeatureError, InputError
from stream_rank.ingest.chunk import Categories
from stream_rank.ingest.files.csv_cells import cells_of, names_of
from stream_rank.ingest.files.kinds import is_list, is_number, is_text
from stream_rank.ingest.files.numbers import given_in, joined, numbers
from stream_rank.learners.base.values import category_text, features_of

__all__ = ["Features", "coded", "features_in", "features_of_struct"]

Array = npt.NDArray[Any]


@dataclass
class Features:
    """Features of an item of each row."""

    numbers: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    missing: dict[str, npt.NDArray[np.bool_]] = field(default_factory=dict)
    """Masks of the missing values, for the columns that have any."""
    categories: list[Categories] = field(default_factory=list)
    wrong: dict[int, str] = field(default_factory=dict)
    """Rows of which a value is none that a feature can have, with the reason."""

    def given(self, n_rows: int) -> npt.NDArray[np.bool_]:
        """Whether a row has any feature."""
        found = np.zeros(n_rows, np.bool_)
        for name in self.numbers:
            found |= ~self.missing[name] if name in self.missing else True
        for each in self.categories:
            found[each.rows] = True
        return found

    def beside(self, context: "Features") -> "Features":
        """These, and those that all items of a row share."""
        return Features(
            self.numbers | context.numbers,
            self.missing | context.missing,
            self.categories + context.categories,
            context.wrong | self.wrong,
        )

    def at(self, row: int) -> dict[str, Any]:
        """The features of a row as JSON has them."""
        found: dict[str, Any] = {
            name: float(column[row])
            for name, column in self.numbers.items()
            if name not in self.missing or not self.missing[name][row]
        }
        for each in self.categories:
            found |= each.at(row)
        return found


def features_in(
    table: Any,
    columns: dict[str, str],
    source: str,
    categories: Collection[str] = (),
    cells: bool = False,
) -> Features:
    """The features of a table, each in the column that is given, as `features_of` would write out its rows.

    Of a CSV (`cells`) dictionary-encoded text is cells, of which some may be numbers.

    Cost: O(values) in compiled code, and O(distinct texts of each column).
    """
    found = Features()
    for feature, name in columns.items():
        _add_column(found, feature, joined(table.column(name)), (name, source), categories, cells)
    return found


def features_of_struct(
    column: Any, name: str, source: str, categories: Collection[str] = ()
) -> Features:
    """The features that structs have."""
    found = Features()
    _add_column(found, "", column, (name, source), categories, False)
    return found


def _add_column(
    found: Features,
    feature: str,
    column: Any,
    place: tuple[str, str],
    categories: Collection[str],
    cells: bool,
) -> None:
    """Add a column, or the members of a struct under names with dots."""
    kind, (name, source) = column.type, place
    if pa.types.is_struct(kind):
        if len({member.name for member in kind}) < kind.num_fields:
            raise InputError(f"column {name!r} of {source} has a member twice: {kind}")
        for member, inner in zip(kind, column.flatten(), strict=True):
            nested = f"{feature}.{member.name}" if feature else member.name
            below = f"{name}.{member.name}", source
            _add_column(found, nested, inner, below, categories, cells)
        return
    if feature in found.numbers or any(feature == each.column for each in found.categories):
        raise InputError(f"{source} has the feature {feature!r} in two columns")
    _add(found, feature, column, place, feature in categories, cells)


def _add(
    found: Features, feature: str, column: Any, place: tuple[str, str], named: bool, cells: bool
) -> None:
    """Add the values of a column."""
    kind = column.type
    if pa.types.is_dictionary(kind) and not (cells or named or is_text(kind.value_type)):
        column, kind = pc.cast(column, kind.value_type), kind.value_type
    if pa.types.is_null(kind):
        pass
    elif pa.types.is_dictionary(kind) and cells:
        _add_cells(found, feature, column, named)
    elif is_list(kind):
        _add_lists(found, feature, column, place, named)
    elif is_text(kind) or pa.types.is_dictionary(kind) or (named and _can_name(kind)):
        texts, codes, wrong = coded(column, feature)
        _add_texts(found, feature, texts, np.flatnonzero(codes >= 0), codes[codes >= 0])
        found.wrong |= {row: reason for row, reason in wrong.items() if row not in found.wrong}
    else:
        found.numbers[feature] = numbers(column, *place)
        if column.null_count:
            found.missing[feature] = ~given_in(column)


def _add_cells(found: Features, feature: str, column: Any, named: bool) -> None:
    """Add the cells of a CSV."""
    if named:
        texts, codes, wrong = names_of(column, feature)
        found.wrong |= {row: reason for row, reason in wrong.items() if row not in found.wrong}
    else:
        values, is_here, texts, codes = cells_of(column)
        if is_here.any():
            found.numbers[feature] = values
            if not is_here.all():
                found.missing[feature] = ~is_here
    _add_texts(found, feature, texts, np.flatnonzero(codes >= 0), codes[codes >= 0])


def _add_lists(
    found: Features, feature: str, column: Any, place: tuple[str, str], named: bool
) -> None:
    """Add lists of texts, each text of a list once."""
    of = column.type.value_type
    if not (is_text(of) or pa.types.is_null(of) or pa.types.is_dictionary(of) or named):
        raise InputError(
            f"column {place[0]!r} of {place[1]} is of {column.type}; a feature may be a list of texts, and numbers need a column "
            "each; name those of lists of items, as in `fields` ranking=a"
        )
    lengths: Any = pc.fill_null(pc.list_value_length(column), 0)
    rows = np.repeat(np.arange(len(column)), lengths.to_numpy(zero_copy_only=False))
    values = column.flatten()
    given = given_in(values)
    for row in np.unique(rows[~given]).tolist():
        found.wrong.setdefault(row, _reason(feature, column[row].as_py(), named))
    if pa.types.is_null(of):
        return
    texts, codes, wrong = coded(values, feature)
    for element, reason in wrong.items():
        found.wrong.setdefault(int(rows[element]), reason)
    named_here = codes >= 0
    rows, codes = rows[named_here], codes[named_here]
    _, first = np.unique(rows * max(1, len(texts)) + codes, return_index=True)
    first.sort()
    _add_texts(found, feature, texts, rows[first], codes[first])


def _add_texts(found: Features, feature: str, texts: list[str], rows: Array, codes: Array) -> None:
    if len(rows):
        found.categories.append(Categories(feature, texts, rows, codes))


def coded(column: Any, feature: str) -> tuple[list[str], Array, dict[int, str]]:
    """The names that the values of a column are, the name of each value as a place among them, or -1, and what names nothing."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    place_of: dict[str, int] = {}
    places, wrong = [], {}
    for place, value in enumerate(encoded.dictionary.to_pylist()):
        text = ""
        if value is not None:
            try:
                text = category_text(feature, value)
            except FeatureError as error:
                wrong[place] = str(error)
        places.append(place_of.setdefault(text, len(place_of)) if text else -1)
    indices: Any = pc.fill_null(encoded.indices, -1)
    at = np.asarray(indices.to_numpy(zero_copy_only=False), np.int64)
    rows = np.flatnonzero(np.isin(at, [*wrong])).tolist() if wrong else []
    reasons = {row: wrong[int(at[row])] for row in rows}
    return list(place_of), np.array([*places, -1], np.int64)[at], reasons


def _can_name(kind: Any) -> bool:
    return bool(is_number(kind) or pa.types.is_boolean(kind))


def _reason(feature: str, value: Any, named: bool) -> str:
    """Why a value is none that a feature can have."""
    try:
        features_of({feature: value}, [feature] if named else [])
    except FeatureError as error:
        return str(error)
    return ""
