"""Records of a CSV as Arrow tables."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from stream_rank.engine.reading.csv_records import (
    BLANK,
    BREAK,
    CELLS,
    GOOD,
    OPEN,
    check_records,
    mark_codes,
)
from stream_rank.ingest.chunk import MOST_BYTES, Records
from stream_rank.ingest.files.column_mapping import Mapping, TableLayout
from stream_rank.ingest.files.csv_cells import NUMBER
from stream_rank.ingest.files.csv_dialect import Dialect

__all__ = ["CsvTables"]

Array = npt.NDArray[Any]

_CODED = pa.dictionary(pa.int32(), pa.string())
_NEWLINE, _RETURN = 10, 13
_UNREADABLE = -1
"""The fault of a record whose bytes are no text."""


class CsvTables:
    """Makes tables of records: columns of float64 where all cells of a chunk are numbers, otherwise dictionary-encoded text.

    Which of both says nothing about a cell: `csv_cells` reads the text as Arrow reads numbers, and has the last word on what
    Arrow would take for one, such as `007`. Columns that had text in a chunk are read as text in the next, for speed alone.
    """

    def __init__(
        self, dialect: Dialect, layout: TableLayout, mapping: Mapping, na_values: tuple[str, ...]
    ) -> None:
        self.dialect = dialect
        self._names, self._delimiter = list(dialect.names), dialect.delimiter
        self._sign = np.uint8(ord(dialect.delimiter))
        self._numbers = list(dict.fromkeys(layout.of_numbers))
        features = {*layout.features.values(), *(layout.others or {}).values()}
        self._features = features | {*(layout.context or {}).values()}
        self._always = layout.categorical(mapping.categories)
        if mapping.labels is not None and mapping.labels.of_texts and "y" in layout.roles:
            self._always.add(layout.roles["y"])
        self._text: set[str] = set()
        self._nulls = ["", *na_values]
        self._marks = np.empty(0, np.bool_)

    def table(self, chunk: Records, first: int) -> tuple[Any, Array, dict[int, str]]:
        """The records from the first on that are not blank: their table, which they are, and what is wrong with some of them."""
        kept = np.arange(first, len(chunk))
        if not len(kept):
            return self._read(b"", set(self._numbers), False), kept, {}
        begin, end = int(chunk.starts[first]), int(chunk.ends[-1])
        text = chunk.text[begin:end]
        plain = len(self._names) > 1 and not (text == _RETURN).any() and not (text == 34).any()
        plain = plain and int((chunk.ends[first:] - chunk.starts[first:]).max()) <= MOST_BYTES
        coded = self._always | self._text
        suspect = self._may_have_codes(chunk.text, begin, end)
        if plain and not suspect:
            table = self._typed(text, coded, False)
            if table is not None and table.num_rows == len(kept):
                return table, kept, {}
        return self._checked(chunk, kept, coded)

    def _may_have_codes(self, text: Array, begin: int, end: int) -> bool:
        """Whether a cell may be a whole number with zeros before it."""
        if end - begin > len(self._marks):
            self._marks = np.empty(2 * (end - begin), np.bool_)
        head = np.concatenate([np.full(2, _NEWLINE, np.uint8), text[begin : begin + 3]])
        for part, size in ((head, 2), (text[begin : end + 1], end - begin - 2)):
            if size > 0 and len(part) >= size + 3:
                marks = self._marks[:size]
                mark_codes(part, part[1:], part[2:], part[3:], self._sign, marks)
                if marks.any():
                    return True
        return False

    def _checked(
        self, chunk: Records, kept: Array, coded: set[str]
    ) -> tuple[Any, Array, dict[int, str]]:
        """The table of records that were looked at one by one; those that do not fit are rows without values."""
        starts, ends, width = chunk.starts[kept], chunk.ends[kept], len(self._names)
        faults, counts = np.zeros(len(kept), np.int8), np.zeros(len(kept), np.int64)
        zeros = np.zeros(width, np.bool_)
        several = check_records(chunk.text, starts, ends, self._sign, width, faults, counts, zeros)
        long = ends - starts > MOST_BYTES
        faults[long & (faults != BLANK)] = OPEN
        here = faults != BLANK
        kept, faults, counts, long = kept[here], faults[here], counts[here], long[here]
        codes = {name for name, zero in zip(self._names, zeros.tolist(), strict=True) if zero}
        coded = coded | (codes & self._features)
        wrong = {
            row: f"longer than {MOST_BYTES:,} bytes"
            if long[row]
            else self._reason(faults[row], counts[row])
            for row in np.flatnonzero(faults != GOOD).tolist()
        }
        text: Any = b""
        if here.all() and not wrong:
            text = chunk.text[starts[0] : ends[-1]]
        elif len(kept):
            text = self._text_of(chunk, kept, wrong)
        table = self._typed(text, coded, several > 0)
        if table is None:  # some bytes are no text
            for row, record in enumerate(kept.tolist()):
                if row not in wrong:
                    try:
                        chunk.raw(record).decode()
                    except UnicodeDecodeError as error:
                        wrong[row] = str(error)
            table = self._typed(self._text_of(chunk, kept, wrong), coded, several > 0)
        assert table is not None
        assert table.num_rows == len(kept)
        return table, kept, wrong

    def _reason(self, fault: int, count: int) -> str:
        width = len(self._names)
        if fault == CELLS:
            return f"{count} cells, where the header has {width}"
        if fault == OPEN:
            return f"a quote begins a cell that does not end in a record of {width} cells"
        if fault == BREAK:
            return "a carriage return stands outside of quotes, and no newline after it"
        return "quotes stand around whole cells only, and twice within them"

    def _text_of(self, chunk: Records, kept: Array, wrong: dict[int, str]) -> bytes:
        """The text of some records, with empty cells in place of those that are wrong."""
        empty = self._delimiter.encode() * (len(self._names) - 1) or b'""'
        return b"\n".join(
            empty if row in wrong else chunk.raw(record).removesuffix(b"\r")
            for row, record in enumerate(kept.tolist())
        )

    def _typed(self, text: Any, coded: set[str], quoted: bool) -> Any:
        """A table of all the text, each column typed; None if Arrow cannot read it."""
        numbers = {name for name in self._numbers if name not in coded}
        table = self._read(text, numbers, quoted) if numbers else None
        again = set()
        if table is None:
            again, table = numbers, self._read(text, set(), quoted)
            if table is None:
                return None
        else:
            for name in numbers:
                total = pc.sum(table.column(name)).as_py()
                if total is not None and not np.isfinite(total):  # nan, inf, or nothing of it
                    again.add(name)
            if again:
                table = self._read(text, numbers - again, quoted)
        self._text = {name for name in (again | coded) & self._features if _has_text(table, name)}
        return table

    def _read(self, text: Any, numbers: set[str], quoted: bool) -> Any:
        """Text as a table; None if Arrow cannot parse all of it."""
        kinds = dict.fromkeys(self._names, pa.string())
        kinds |= dict.fromkeys(self._numbers, _CODED) | dict.fromkeys(numbers, pa.float64())
        if not len(text):
            return pa.table({name: pa.array([], kind) for name, kind in kinds.items()})
        try:
            return pa_csv.read_csv(
                pa.BufferReader(pa.py_buffer(text)),
                read_options=pa_csv.ReadOptions(
                    column_names=self._names, use_threads=False, block_size=len(text) + 1
                ),
                parse_options=pa_csv.ParseOptions(
                    delimiter=self._delimiter, newlines_in_values=quoted
                ),
                convert_options=pa_csv.ConvertOptions(
                    column_types=kinds, null_values=self._nulls, strings_can_be_null=True
                ),
            )
        except pa.ArrowInvalid:
            return None


def _has_text(table: Any, name: str) -> bool:
    """Whether a column has a cell that is no number."""
    distinct = table.column(name).combine_chunks().dictionary
    return not pc.all(pc.match_substring_regex(distinct, NUMBER)).as_py()
