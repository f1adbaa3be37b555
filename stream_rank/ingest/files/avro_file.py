"""The source for Avro's object container files, which have their schema inside."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from stream_rank.errors import EventError, InputError
from stream_rank.ingest.avro.schema import AvroSchema
from stream_rank.ingest.chunk import MOST_BYTES, Records, as_records
from stream_rank.ingest.files.avro_blocks import Block, blocks, header_of
from stream_rank.ingest.position import BlockPosition

__all__ = ["AvroFile"]

_FIRST_RECORDS, _MOST_RECORDS = 64, 1 << 13
"""Of the first chunk, as of lines, and of others."""
_CHUNK_BYTES = 1 << 18
"""Of a chunk, whose JSON is many times as long."""


class AvroFile:
    """A file; what a block has behind a record that is damaged is one reject, and the next block is read."""

    def __init__(self, path: Path) -> None:
        self.name, self._path = str(path), path

    def chunks(self, position: BlockPosition | None) -> Iterator[Records | None]:
        """Events from a position on."""
        begun = position is not None
        try:
            with self._path.open("rb") as file:
                header = header_of(file, self.name)
                schema = AvroSchema(header.schema)
                at = position or BlockPosition(header.end)
                file.seek(at.bytes)
                for block in blocks(file, header, self.name):
                    for chunk in self._chunks(block, schema, at, begun):
                        begun = True
                        yield chunk
                    at = BlockPosition(block.end)
        except OSError as error:
            raise InputError(f"{self.name} cannot be read: {error}") from error

    def _chunks(
        self, block: Block, schema: AvroSchema, at: BlockPosition, begun: bool
    ) -> Iterator[Records]:
        """The records of a block, behind those that were read of it."""
        ends, lost = _ends(block, schema, self.name)
        begins, done = [0, *ends], at.records
        while done < len(ends):
            most = _MOST_RECORDS if begun else _FIRST_RECORDS
            last = int(np.searchsorted(ends, begins[done] + _CHUNK_BYTES, "right"))
            last = max(done + 1, min(last, done + most, len(ends)))
            yield self._records(block, schema, begins[done : last + 1], done, lost)
            done, begun = last, True

    def _records(
        self, block: Block, schema: AvroSchema, bounds: list[int], done: int, lost: str
    ) -> Records:
        """Some of the records; `lost` is what is wrong with the last one of the block, if anything is."""
        values = [block.text[a:b] for a, b in pairwise(bounds)]
        damaged = -1
        if lost and bounds[-1] == len(block.text):
            damaged = len(values) - 1
            values[-1] = values[-1][:MOST_BYTES]

        def json_of(record: int) -> bytes:
            if record == damaged:
                raise EventError(lost)
            return schema.json(values[record])

        return as_records(
            values,
            lambda count: BlockPosition(block.begin, done + count),
            lambda record: f"{self.name}: record {done + record + 1} of the block at {block.begin}",
            blank_is_nothing=False,
            json_of=json_of,
        )

    def position_from(self, stored: Any) -> BlockPosition:
        """The position stored in a snapshot."""
        return BlockPosition.from_json(stored)

    def progress(self, position: BlockPosition | None) -> float | None:
        """The share of the bytes that was read."""
        size = self._path.stat().st_size
        return None if not size else (position.bytes if position else 0) / size


def _ends(block: Block, schema: AvroSchema, name: str) -> tuple[list[int], str]:
    """Where the records of a block end; and what is wrong with the last, if it is all that cannot be read, not one of them."""
    text, size = np.frombuffer(block.text, np.uint8), len(block.text)
    ends: list[int] = []
    at, lost = 0, ""
    while not lost and len(ends) < block.n_records:
        if at == size:
            raise InputError(
                f"{name} is damaged: the block at byte {block.begin:,} has {len(ends):,} records, not {block.n_records:,}"
            )
        try:
            at = schema.end(text, at, size)
        except EventError as error:
            lost = (
                f"{error}; {block.n_records - len(ends) - 1:,} more records of the block are lost"
            )
        else:
            ends.append(at)
    if not lost and at < size:
        lost = f"{size - at:,} bytes of Avro are left over behind the last record of the block"
    if lost:
        ends.append(size)
    return ends, lost
