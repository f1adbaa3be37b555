"""The dialect of a CSV: its delimiter and its column names, as given or as its first records show them."""

import csv
import io
import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.reading.csv_records import find_records
from stream_rank.errors import InputError
from stream_rank.ingest.chunk import MOST_BYTES
from stream_rank.ingest.files.csv_cells import NUMBER
from stream_rank.ingest.files.csv_options import CsvOptions

__all__ = ["SAMPLE_BYTES", "Dialect", "dialect_of"]

SAMPLE_BYTES = 1 << 16
"""So much of a file is looked at to tell its dialect."""
_SAMPLE_RECORDS = 1_000
_DELIMITERS = ",;\t|"
_is_number = re.compile(NUMBER).match


class Dialect(NamedTuple):
    """How a CSV is read."""

    delimiter: str
    names: tuple[str, ...]
    """Of the columns."""
    header: bool
    """Whether they stand in the first record."""


def dialect_of(
    text: Any, begin: int, end: int, options: CsvOptions, roles: Collection[str], source: str
) -> Dialect | None:
    """The dialect of a CSV that begins there; None if there is no whole record yet. `roles` are columns that have a role.

    Delimiters are tried on the first `SAMPLE_BYTES`: outside of quotes, the one is taken by which the most records have as many
    cells as the first, which are two at least. The first record has names unless a number is in it: then it is one of
    values, unless a column is called by a role, or has text there and numbers alone below.

    Cost: O(bytes of the sample).
    """
    rows: dict[str, list[list[str]]] = {}
    for delimiter in _DELIMITERS if options.delimiter is None else options.delimiter:
        rows[delimiter] = _rows(text, begin, min(end, begin + SAMPLE_BYTES), delimiter)
        rows[delimiter] = rows[delimiter] or _rows(text, begin, end, delimiter)[:1]
    if not any(rows.values()):
        return None
    delimiter = max(rows, key=lambda each: _consistent(rows[each]))  # of equals the first
    first, *others = rows[delimiter]
    header = options.header
    if header is None:
        header = _has_names(first, others, roles)
    names = first if header else [str(place) for place in range(len(first))]
    if len(set(names)) < len(names):
        raise InputError(f"{source} has a column twice: {', '.join(names)}")
    return Dialect(delimiter, tuple(names), header)


def _rows(text: Any, begin: int, end: int, delimiter: str) -> list[list[str]]:
    """The cells of the records that are whole, of one that cannot be read a single one."""
    starts, ends = np.empty(_SAMPLE_RECORDS, np.int64), np.empty(_SAMPLE_RECORDS, np.int64)
    sign = np.uint8(ord(delimiter))
    count, _ = find_records(text, begin, end, starts, ends, sign, 0, MOST_BYTES, False)
    rows = []
    for first, last in zip(starts[:count].tolist(), ends[:count].tolist(), strict=True):
        line = text[first:last].tobytes().removesuffix(b"\r")
        if not line.strip():
            continue
        try:
            row = next(csv.reader(io.StringIO(line.decode(), newline=""), delimiter=delimiter))
        except (UnicodeDecodeError, csv.Error, StopIteration):
            row = [line.decode(errors="replace")]
        rows.append(row)
    return rows


def _consistent(rows: Sequence[Sequence[str]]) -> float:
    """The share of records with as many cells as the first."""
    if not rows or len(rows[0]) < 2:
        return 0.0
    return sum(len(row) == len(rows[0]) for row in rows) / len(rows)


def _has_names(
    first: Sequence[str], others: Sequence[Sequence[str]], roles: Collection[str]
) -> bool:
    """Whether the first record has the names of the columns."""
    if not any(map(_is_number, first)) or any(
        name in roles and not _is_number(name) for name in first
    ):
        return True
    for place, name in enumerate(first):
        below = [row[place] for row in others if len(row) == len(first) and row[place]]
        if name and not _is_number(name) and below and all(map(_is_number, below)):
            return True
    return False
