"""The cells of a CSV, each a number, text, or missing."""

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from stream_rank.learners.base.values import LONGEST_TEXT, category_text

__all__ = ["NUMBER", "Cells", "cells_of", "names_of"]

Array = npt.NDArray[Any]

_WHOLE = "(?:0|[1-9][0-9]*)"
_DIGITS = r"(?:[0-9]+\.[0-9]*|\.[0-9]+)"
NUMBER = (
    rf"^[ \t]*[+-]?(?:{_WHOLE}|{_DIGITS}(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+"
    r"|(?i:nan|inf|infinity))[ \t]*$"
)
"""A cell that is a number: as in JSON, and with a plus, with spaces around, and without a digit before or after the point.

`007` is text, since zeros before a whole number are those of a code, and so are `1,234`, `0x10` and `1_000`. `nan` and `inf`
are numbers that no learner takes: such a record is rejected, unless `na_values` has the word.
"""


class Cells(NamedTuple):
    """A column of cells."""

    numbers: Array
    """NaN where a cell is text or missing."""
    is_number: npt.NDArray[np.bool_]
    texts: list[str]
    codes: Array
    """The text of each cell as a place in `texts`, or -1."""


def cells_of(column: Any) -> Cells:
    """The cells of a dictionary-encoded column, read one by one: what the others are makes no difference.

    Cost: O(cells) in compiled code, and O(distinct texts).

    >>> cells_of(pa.array(["12", "N/A", None, " 1e2 ", "007", "N/A"]).dictionary_encode())  # doctest: +NORMALIZE_WHITESPACE
    Cells(numbers=array([ 12.,  nan,  nan, 100.,  nan,  nan]), is_number=array([ True, False, False,  True, False, False]),
          texts=['N/A', '007'], codes=array([-1,  0, -1, -1,  1,  0]))
    """
    distinct = column.dictionary
    numeric = pc.match_substring_regex(distinct, NUMBER)
    trimmed = pc.utf8_trim(pc.if_else(numeric, distinct, None), " \t")
    values = pc.cast(trimmed, pa.float64())
    codes = _codes(column)
    is_number = np.append(_array(pc.fill_null(numeric, False)), False)
    texts = pc.if_else(numeric, None, distinct).to_pylist()
    found, of_text = _named([category_text("", text) if text else "" for text in texts])
    return Cells(
        np.append(_array(values).astype(np.float64), np.nan)[codes],
        is_number[codes],
        found,
        of_text[codes],
    )


def names_of(column: Any, feature: str) -> tuple[list[str], Array, dict[int, str]]:
    """The names in a dictionary-encoded column whose cells are all names, the name of each cell, or -1; and rows that have none.

    A number is named by its digits: `17.0` is `17`, and `007` is not `7`.
    """
    distinct = column.dictionary.to_pylist()
    numeric = pc.match_substring_regex(column.dictionary, NUMBER).to_pylist()
    names, wrong = [], {}
    for place, (cell, is_number) in enumerate(zip(distinct, numeric, strict=True)):
        try:
            names.append(category_text(feature, _value(cell) if is_number else cell or ""))
        except ValueError as error:
            names.append("")
            wrong[place] = str(error)
    codes = _codes(column)
    found, of_cell = _named(names)
    rows = np.flatnonzero(np.isin(codes, [*wrong])).tolist() if wrong else []
    return found, of_cell[codes], {row: wrong[int(codes[row])] for row in rows}


def _value(cell: str) -> int | float | str:
    text = cell.strip(" \t")
    if (
        len(text) > LONGEST_TEXT
    ):  # it names nothing, and Python refuses to convert any number of digits
        return text
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def _named(texts: Collection[str]) -> tuple[list[str], Array]:
    """The texts that name something, once each; and the place among them of each text, or -1, with a -1 at the end for none."""
    place_of: dict[str, int] = {}
    for text in texts:
        if text:
            place_of.setdefault(text, len(place_of))
    places = [place_of.get(text, -1) for text in texts]
    return list(place_of), np.array([*places, -1], np.int64)


def _codes(column: Any) -> Array:
    """The place of each cell in the dictionary, -1 where it is missing."""
    return np.asarray(_array(pc.fill_null(column.indices, -1)), np.int64)


def _array(column: Any) -> Array:
    found: Array = column.to_numpy(zero_copy_only=False)
    return found
