"""Sources for Parquet and Arrow IPC files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from stream_rank.errors import InputError
from stream_rank.ingest.chunk import Columns
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.files.columns import as_columns
from stream_rank.ingest.position import RowPosition

__all__ = ["ArrowFile", "ParquetFile"]

_NUMBERS, _FEWEST_ROWS, _MOST_ROWS = 1 << 18, 256, 1 << 14
"""Numbers, and bounds of rows, in a chunk: it fits into a cache, and has enough events to share its fixed cost."""


def _rows(width: int, in_lists: int = 0) -> int:
    """How many rows of so many columns, and of so many numbers in lists, are in a chunk."""
    rows = max(_FEWEST_ROWS, min(_MOST_ROWS, _NUMBERS // max(1, width)))
    return max(1, min(rows, _NUMBERS // max(1, in_lists)))


class _Table:
    """Base of both sources: positions are row counts."""

    def __init__(self, path: Path, mapping: Mapping) -> None:
        self.name, self._path, self._mapping = str(path), path, mapping

    def chunks(self, position: RowPosition | None) -> Iterator[Columns | None]:
        """Events from a position on."""
        done = position.rows if position else 0
        try:
            for begin, batch in self._batches(done):
                skip = max(0, done - begin)
                if skip < batch.num_rows:
                    yield self._columns(batch.slice(skip), begin + skip)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self.name} cannot be read: {error}") from error

    def _columns(self, batch: Any, begin: int) -> Columns:
        return as_columns(
            *(batch, self._mapping, self.name),
            lambda done: RowPosition(begin + done),
            lambda record: f"{self.name}: row {begin + record + 1}",
        )

    def _batches(self, done: int) -> Iterator[tuple[int, Any]]:
        """Record batches, each with its first row; batches that end before row `done` may be skipped."""
        raise NotImplementedError

    def _count(self) -> int | None:
        raise NotImplementedError

    def position_from(self, stored: Any) -> RowPosition:
        """The position stored in a snapshot."""
        return RowPosition.from_json(stored)

    def progress(self, position: RowPosition | None) -> float | None:
        """The share of the rows that was read."""
        count = self._count()
        return None if not count else (position.rows if position else 0) / count


class ParquetFile(_Table):
    """A Parquet file; resuming starts at the row group that contains the position."""

    def _batches(self, done: int) -> Iterator[tuple[int, Any]]:
        with pq.ParquetFile(self._path) as file:
            layout = self._mapping.of(file.schema_arrow.names, self.name)
            wanted, in_lists = layout.columns, _in_lists(file.metadata, layout.orders)
            begin = 0
            groups: list[int] = []
            for group in range(file.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                if begin + rows <= done and not groups:
                    begin += rows
                else:
                    groups.append(group)
            for batch in file.iter_batches(
                _rows(len(wanted), in_lists), row_groups=groups, columns=wanted, use_threads=False
            ):
                yield begin, batch
                begin += batch.num_rows

    def _count(self) -> int | None:
        return int(pq.read_metadata(self._path).num_rows)


class ArrowFile(_Table):
    """An Arrow IPC file, in the file or the streaming format."""

    def _batches(self, done: int) -> Iterator[tuple[int, Any]]:
        begin = 0
        with pa.OSFile(str(self._path)) as file:
            for batch in _record_batches(file):
                orders = self._mapping.of(batch.schema.names, self.name).orders
                # in numbers of eight bytes, be it numbers or text
                in_lists = batch.nbytes // (8 * max(1, batch.num_rows)) if orders else 0
                step = _rows(batch.num_columns, in_lists)
                for first in range(0, batch.num_rows, step):
                    yield begin + first, batch.slice(first, step)
                begin += batch.num_rows

    def _count(self) -> int | None:
        return None


def _in_lists(metadata: Any, orders: dict[str, str] | None) -> int:
    """How many numbers the lists of a row have, or eighths of a text, in the row group where they have the most."""
    most, names = 0, tuple(f"{name}." for name in (orders or {}).values())
    for number in range(metadata.num_row_groups if orders else 0):
        group, values = metadata.row_group(number), 0
        for leaf in map(group.column, range(group.num_columns)):
            if f"{leaf.path_in_schema}.".startswith(names):
                values += max(leaf.num_values, leaf.total_uncompressed_size // 8)
        most = max(most, values // max(1, group.num_rows))
    return most


def _record_batches(file: Any) -> Iterator[Any]:
    try:
        reader = pa.ipc.open_file(file)
    except pa.ArrowInvalid:
        file.seek(0)
        yield from pa.ipc.open_stream(file)
        return
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)
