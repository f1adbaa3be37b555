"""The CSV source: a header line, then one event per line."""

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from stream_rank.ingest.chunk import MOST_BYTES, Columns, Records
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.files.columns import as_columns, header_of
from stream_rank.ingest.position import BytePosition
from stream_rank.ingest.source import Source

__all__ = ["Csv"]


_CELL = rb'(?:[^",]*|"(?:[^"]|"")*")'
_fits = re.compile(rb"%s(?:,%s)*" % (_CELL, _CELL)).fullmatch


class Csv:
    """A source of lines, parsed as CSV. Empty cells are missing values; a cell cannot contain a newline."""

    def __init__(self, lines: Source, mapping: Mapping) -> None:
        self.name, self._lines, self._mapping = lines.name, lines, mapping

    def position_from(self, stored: Any) -> BytePosition:
        """The position stored in a snapshot."""
        return BytePosition.from_json(stored)

    def progress(self, position: BytePosition | None) -> float | None:
        """The progress of the underlying lines."""
        return self._lines.progress(position)

    def chunks(self, position: BytePosition | None) -> Iterator[Columns | None]:
        """Events from a position on."""
        header = None if position is None else position.header
        for chunk in self._lines.chunks(position):
            if chunk is None:
                yield None
                continue
            assert isinstance(chunk, Records)
            first = 0
            if header is None:
                header, first = tuple(header_of(chunk.raw(0), self.name)), 1
            if len(chunk) > first:
                yield self._columns(chunk, first, header)
            else:
                chunk.release()

    def _columns(self, chunk: Records, first: int, header: tuple[str, ...]) -> Columns:
        """Some lines as columns."""
        lines, kept = [], []
        for record in range(first, len(chunk)):
            line = chunk.raw(record).removesuffix(b"\r")
            if line.strip():
                lines.append(line)
                kept.append(record)
        names = list(header)
        layout = self._mapping.of(names, self.name)
        roles = [layout.roles[role] for role in ("y", "magnitude") if role in layout.roles]
        items = {*layout.features.values(), *(layout.others or {}).values(), *roles}
        numbers = [name for name in names if name in items]
        wrong: dict[int, str] = {}
        table = _read(lines, names, numbers) or self._read_slowly(lines, names, numbers, wrong)

        def position_after(done: int) -> BytePosition:
            after = len(chunk) if done == len(kept) else kept[done - 1] + 1
            position = chunk.position_after(after)
            assert isinstance(position, BytePosition)
            return replace(position, header=header)

        return as_columns(
            *(table, self._mapping, self.name, position_after),
            lambda record: chunk.place_of(kept[record]),
            wrong,
            lines.__getitem__,
            chunk.release,
        )

    def _read_slowly(
        self, lines: list[bytes], header: list[str], numbers: list[str], wrong: dict[int, str]
    ) -> Any:
        """Parse line by line; a line that cannot be parsed is noted in `wrong`, and becomes an empty row."""
        rows: list[dict[str, Any]] = []
        for record, line in enumerate(lines):
            row: dict[str, Any] = dict.fromkeys(header)
            try:
                if len(line) > MOST_BYTES:
                    raise ValueError(f"longer than {MOST_BYTES:,} bytes")
                if not _fits(line):
                    raise ValueError("quotes stand around whole cells only, and twice within them")
                cells = next(csv.reader([line.decode()], strict=True), [])
                if len(cells) != len(header):
                    raise ValueError(f"{len(cells)} cells, where the header has {len(header)}")
                row |= {name: cell or None for name, cell in zip(header, cells, strict=True)}
                for name in numbers:
                    row[name] = _number(row[name], name)
            except (ValueError, csv.Error) as error:
                wrong[record] = str(error)
                row = dict.fromkeys(header)
            rows.append(row)
        columns = {}
        for name in header:
            kind = pa.float64() if name in numbers else pa.string()
            columns[name] = pa.array([row[name] for row in rows], kind)
        return pa.table(columns)


def _number(cell: str | None, name: str) -> float | None:
    if cell is None:
        return None
    try:
        if not cell.isascii() or "_" in cell:  # only Python accepts these in numbers
            raise ValueError
        return float(cell)
    except ValueError:
        raise ValueError(f"{name}: Input should be a valid number, not {cell!r}") from None


def _read(lines: list[bytes], header: list[str], numbers: list[str]) -> Any:
    """Lines as a table; None if Arrow cannot parse all of them."""
    text = b"\n".join(lines)
    # Arrow would split or join these lines, and `_read_slowly` would reject cells of this length
    quoted = b'"' in text and any(b'"' in line and not _fits(line) for line in lines)
    if quoted or b"\r" in text:
        return None
    if max(map(len, lines), default=0) > csv.field_size_limit():
        return None
    try:
        table = pa_csv.read_csv(
            pa.BufferReader(text),
            read_options=pa_csv.ReadOptions(column_names=header, use_threads=False),
            parse_options=pa_csv.ParseOptions(newlines_in_values=False),
            convert_options=pa_csv.ConvertOptions(
                column_types={
                    name: pa.float64() if name in numbers else pa.string() for name in header
                },
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid:
        return None
    return table if table.num_rows == len(lines) else None
