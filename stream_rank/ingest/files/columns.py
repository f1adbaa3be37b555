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
    layout = mapping.of(table.schema.names, source)
    roles, wrong = layout.roles, dict(wrong or {})
    features, missing = _features(table, layout.features, source)
    others, others_missing = (
        (None, {}) if layout.others is None else _features(table, layout.others, source)
    )
    labels = times = ids = groups = None
    if others is not None:
        labels = _magnitudes(table, roles, source, wrong)
    elif "y" in roles:
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
        *(position_after, place_of, None, release, others, others_missing),
    )


def _features(
    table: Any, columns: dict[str, str], source: str
) -> tuple[dict[str, npt.NDArray[np.float64]], dict[str, npt.NDArray[np.bool_]]]:
    """Features by name, and the masks of those with missing values."""
    features: dict[str, npt.NDArray[np.float64]] = {}
    missing: dict[str, npt.NDArray[np.bool_]] = {}
    for feature, name in columns.items():
        column = _joined(table.column(name))
        features[feature] = _numbers(column, name, source)
        if column.null_count:
            missing[feature] = pc.is_null(column).to_numpy(zero_copy_only=False)
    return features, missing


def _magnitudes(
    table: Any, roles: dict[str, str], source: str, wrong: dict[int, str]
) -> npt.NDArray[np.float64]:
    """The magnitudes of preferences: 1 where nothing is given, and 0 of ties."""
    magnitudes: npt.NDArray[np.float64] = np.full(table.num_rows, np.nan)
    if "magnitude" in roles:
        column = _joined(table.column(roles["magnitude"]))
        magnitudes = _numbers(column, roles["magnitude"], source) + 0.0
        given = ~pc.is_null(column).to_numpy(zero_copy_only=False)
        for record in np.flatnonzero(given & ~(magnitudes >= 0)).tolist():
            wrong.setdefault(record, "magnitude: Input should be a number from 0, a tie, on")
    if "tie" in roles:
        tied = _ties(_joined(table.column(roles["tie"])), roles["tie"], source, wrong)
        for record in np.flatnonzero((tied == 1) & (magnitudes > 0)).tolist():
            wrong.setdefault(record, "tie: a tie has no magnitude, or one of 0")
        for record in np.flatnonzero((tied == 0) & (magnitudes == 0)).tolist():
            wrong.setdefault(record, "tie: a magnitude of 0 is a tie")
        magnitudes = np.where(tied == 1, 0.0, magnitudes)
    return np.where(np.isnan(magnitudes), 1.0, magnitudes)


def _ties(column: Any, name: str, source: str, wrong: dict[int, str]) -> npt.NDArray[np.float64]:
    """1 where neither item is preferred, 0 where one is, NaN where nothing is said."""
    if pa.types.is_boolean(column.type):
        column = pc.cast(column, pa.float64())
    elif pa.types.is_string(column.type):
        words = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}
        found = np.full(len(column), np.nan)
        for record, word in enumerate(column.to_pylist()):
            if word is not None:
                found[record] = words.get(word.lower(), np.nan)
                if np.isnan(found[record]):
                    wrong.setdefault(record, f"tie: Input should be true or false, not {word!r}")
        return found
    found = _numbers(column, name, source)
    for record in np.flatnonzero(~np.isnan(found) & (found != 0) & (found != 1)).tolist():
        wrong.setdefault(record, f"tie: Input should be 0 or 1, not {found[record]:g}")
    return found


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
