"""From Arrow tables (of Parquet, Arrow and CSV) to `Columns` of events."""

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from stream_rank.engine.reading.timestamps import NO_TIME
from stream_rank.errors import InputError
from stream_rank.ingest.chunk import Columns
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.position import Position
from stream_rank.ingest.timestamps import FIRST, LAST, moment_of

__all__ = ["as_columns", "header_of"]

_WHOLE = re.compile(r"-?[0-9]{1,18}")


def as_columns(
    table: Any,
    mapping: Mapping,
    source: str,
    position_after: Callable[[int], Position],
    place_of: Callable[[int], str],
    wrong: dict[int, str] | None = None,
    raw: Callable[[int], bytes] | None = None,
    release: Callable[[], None] = lambda: None,
) -> Columns:
    """An Arrow table or record batch as columns of events."""
    names, roles = mapping.of(table.schema.names, source)
    wrong = dict(wrong or {})
    features, missing = {}, {}
    for name in names:
        column = _joined(table.column(name))
        features[name] = _numbers(column, name, source)
        if column.null_count:
            missing[name] = pc.is_null(column).to_numpy(zero_copy_only=False)
    labels = times = ids = groups = None
    if "y" in roles:
        column = _joined(table.column(roles["y"]))
        labels = _numbers(column, roles["y"], source)
        empty = np.isnan(labels)
        if empty.any():
            given = ~pc.is_null(column).to_numpy(zero_copy_only=False)
            for record in np.flatnonzero(empty & given).tolist():
                wrong.setdefault(record, "y: Input should be a finite number, not NaN")
    if "ts" in roles:
        times = _times(_joined(table.column(roles["ts"])), wrong)
    if "id" in roles:
        ids = _names(_joined(table.column(roles["id"])), "id", wrong)
    if "group" in roles:
        groups = _names(_joined(table.column(roles["group"])), "group", wrong)

    def row(record: int) -> bytes:
        return json.dumps(table.slice(record, 1).to_pylist()[0], default=str).encode()

    return Columns(
        *(features, missing, labels, times, ids, groups, wrong, table.num_rows, raw or row),
        *(position_after, place_of, None, release),
    )


def _joined(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _numbers(column: Any, name: str, source: str) -> npt.NDArray[np.float64]:
    """A column as float64."""
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise InputError(
            f"column {name!r} of {source} is of {kind}; numbers are needed: name the columns of features, "
            "as in `columns` x=a,b"
        )
    if kind == pa.float64():
        return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)
    return np.asarray(
        pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64
    )


def _times(column: Any, wrong: dict[int, str]) -> npt.NDArray[np.int64]:
    kind = column.type
    if pa.types.is_date(kind):
        column, kind = pc.cast(column, pa.timestamp("ms")), pa.timestamp("ms")
    if pa.types.is_timestamp(kind):
        column = pc.cast(column, pa.timestamp("ms", kind.tz), safe=False)
        column = pc.cast(column, pa.int64())
    if pa.types.is_integer(column.type) and column.type != pa.uint64():
        filled: Any = pc.fill_null(pc.cast(column, pa.int64()), NO_TIME)
        found = np.asarray(filled.to_numpy(zero_copy_only=False), np.int64)
        out_of_range = (found != NO_TIME) & ((found < FIRST) | (found > LAST))
        for record in np.flatnonzero(out_of_range).tolist():
            wrong.setdefault(record, f"ts: time {found[record]} is not in the years 1 to 9999")
        return found
    times = np.full(len(column), NO_TIME)
    for record, given in enumerate(column.to_pylist()):
        if given is not None:
            try:
                if isinstance(given, str) and _WHOLE.fullmatch(given):
                    given = int(given)
                if isinstance(given, bool) or not isinstance(given, str | int):
                    raise ValueError(f"time {given!r} is neither text nor a whole number")
                times[record] = moment_of(given)
            except ValueError as error:
                wrong.setdefault(record, f"ts: {error}")
    return times


def _names(column: Any, role: str, wrong: dict[int, str]) -> list[Any]:
    names: list[Any] = column.to_pylist()
    plain = pa.types.is_integer(column.type) and column.type != pa.uint64()
    if not (plain or pa.types.is_string(column.type)):
        for record, name in enumerate(names):
            good = name is None or isinstance(name, str)
            good |= isinstance(name, int) and not isinstance(name, bool) and name < 2**63
            if not good:
                wrong.setdefault(record, f"{role}: {name!r} is neither text nor a whole number")
    return names


def header_of(line: bytes, source: str) -> list[str]:
    """The names in the first line of a CSV."""
    try:
        names = next(csv.reader(io.StringIO(line.decode("utf-8-sig"))))
    except (StopIteration, UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            f"the first line of {source} is no list of column names: {error}"
        ) from None
    if len(set(names)) < len(names):
        raise InputError(f"{source} has a column twice: {', '.join(names)}")
    return names
