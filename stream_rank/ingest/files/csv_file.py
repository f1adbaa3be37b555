"""The CSV source: records after RFC 4180, each an event."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from stream_rank.ingest.chunk import Columns, Records
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.files.columns import as_columns
from stream_rank.ingest.files.csv_options import CsvOptions
from stream_rank.ingest.files.csv_records import CsvRecords
from stream_rank.ingest.files.csv_table import CsvTables
from stream_rank.ingest.files.lines import Followed, LineFile, StandardInput
from stream_rank.ingest.position import BytePosition

__all__ = ["Csv"]


class Csv:
    """Records of a CSV, which quotes may hold together over several lines, as columns.

    What a cell is depends on the cell alone (`csv_cells`). A record that does not fit is a reject, and reading goes on at the
    next; of several lines that quotes hold together only the first is rejected, and the next is read by itself: the quote may
    be the mistake. Positions count records.
    """

    def __init__(
        self,
        lines: LineFile | StandardInput | Followed,
        mapping: Mapping,
        options: CsvOptions | None = None,
    ) -> None:
        self.name, self._lines, self._mapping = lines.name, lines, mapping
        self._options = options or CsvOptions()

    def position_from(self, stored: Any) -> BytePosition:
        """The position stored in a snapshot."""
        return BytePosition.from_json(stored)

    def progress(self, position: BytePosition | None) -> float | None:
        """The progress of the underlying lines."""
        return self._lines.progress(position)

    def chunks(self, position: BytePosition | None) -> Iterator[Columns | None]:
        """Events from a position on."""
        whole = isinstance(self._lines, LineFile)
        records = CsvRecords(self._options, self._mapping.named, self.name, whole)
        if position is not None and position.header is not None:
            records.know(position.delimiter, position.header)
        tables: CsvTables | None = None
        for chunk in self._lines.chunks(position, records.find):
            if chunk is None:
                yield None
                continue
            dialect = records.dialect
            assert dialect is not None  # or no record would have been found
            if tables is None:
                layout = self._mapping.of(dialect.names, self.name)
                tables = CsvTables(dialect, layout, self._mapping, self._options.na_values)
            first = 0
            if records.header_is_next:
                blank = [not chunk.raw(record).strip() for record in range(len(chunk))]
                first = len(blank) if all(blank) else blank.index(False) + 1
                records.header_is_next = all(blank)
            columns = self._columns(chunk, first, tables)
            if len(columns):
                yield columns
            else:
                chunk.release()

    def _columns(self, chunk: Records, first: int, tables: CsvTables) -> Columns:
        """Some records as columns."""
        table, kept, wrong = tables.table(chunk, first)
        names, delimiter = tables.dialect.names, tables.dialect.delimiter

        def position_after(done: int) -> BytePosition:
            after = len(chunk) if done == len(kept) else int(kept[done - 1]) + 1
            position = chunk.position_after(after)
            assert isinstance(position, BytePosition)
            return replace(position, header=names, delimiter=delimiter)

        def raw(record: int) -> bytes:
            return chunk.raw(int(kept[record])).removesuffix(b"\r")

        return as_columns(
            *(table, self._mapping, self.name, position_after),
            lambda record: chunk.place_of(int(kept[record])),
            *(wrong, raw, chunk.release, True),
        )
