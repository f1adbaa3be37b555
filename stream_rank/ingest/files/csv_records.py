"""Finding the records of a CSV in the bytes that come, when its dialect is known or told."""

from collections.abc import Collection
from typing import Any

import numpy as np

from stream_rank.engine.reading.csv_records import find_records
from stream_rank.engine.reading.newlines import find_lines
from stream_rank.ingest.chunk import MOST_BYTES
from stream_rank.ingest.files.csv_dialect import SAMPLE_BYTES, Dialect, dialect_of
from stream_rank.ingest.files.csv_options import CsvOptions

__all__ = ["CsvRecords"]

_QUOTE = 34


class CsvRecords:
    """Finds records. The dialect of a whole file is told from its first `SAMPLE_BYTES`, that of a stream from what is there."""

    def __init__(
        self, options: CsvOptions, roles: Collection[str], source: str, whole: bool
    ) -> None:
        self._options, self._roles, self._source = options, roles, source
        self._whole = whole
        self.dialect: Dialect | None = None
        self.header_is_next = False
        """Whether the next record that is not blank has the names of the columns."""

    def know(self, delimiter: str, names: tuple[str, ...]) -> None:
        """Go on with a dialect that was told before."""
        self.dialect = Dialect(delimiter, names, header=False)

    def find(
        self, text: Any, begin: int, end: int, starts: Any, ends: Any, ended: bool
    ) -> tuple[int, int]:
        """The next whole records, for `Lines`."""
        if self.dialect is None:
            if self._whole and not ended and end - begin < SAMPLE_BYTES:
                return 0, begin
            given = self._options, self._roles, self._source
            self.dialect = dialect_of(text, begin, end, *given)
            if self.dialect is None and not ended:
                return 0, begin
            self.dialect = self.dialect or Dialect(",", (), header=False)
            self.header_is_next = self.dialect.header
        if not (text[begin:end] == _QUOTE).any():  # then lines are found much faster, and the same
            count, rest = find_lines(text, begin, end, starts, ends)
        else:
            sign, width = np.uint8(ord(self.dialect.delimiter)), len(self.dialect.names)
            count, rest = find_records(
                text, begin, end, starts, ends, sign, width, MOST_BYTES, ended
            )
        return count, rest
