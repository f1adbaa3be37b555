"""From Arrow tables (of Parquet, Arrow and CSV) to `Columns` of events."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from stream_rank.engine.reading.timestamps import NO_TIME
from stream_rank.ingest.chunk import Columns
from stream_rank.ingest.files.column_mapping import Mapping, TableLayout
from stream_rank.ingest.files.item_lists import items_of
from stream_rank.ingest.files.kinds import is_text
from stream_rank.ingest.files.numbers import joined, numbers
from stream_rank.ingest.files.values import Features, features_in
from stream_rank.ingest.label_scale import LabelScale
from stream_rank.ingest.position import Position
from stream_rank.ingest.timestamps import FIRST, LAST, TimeUnit, moment_of
from stream_rank.learners.base.values import LONGEST_NAME

__all__ = ["as_columns"]

NOTHING = "Dictionary should have at least 1 item after validation, not 0"
"""The schema's words for an item without features."""
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
    cells: bool = False,
) -> Columns:
    """An Arrow table or record batch as columns of events; of a CSV (`cells`) dictionary-encoded text is cells."""
    layout = mapping.of(table.schema.names, source)
    roles, wrong = layout.roles, dict(wrong or {})
    items = others = None
    of_table = table, source, mapping.categories, cells
    if layout.orders is not None:
        items = items_of(table, layout, layout.orders, source, mapping.categories, cells, wrong)
        features = Features()  # what the chosen items have is among the items
    elif layout.others is not None:
        features, others = _two_items(layout, of_table, wrong)
    else:
        features = _features("x", layout.features, of_table, wrong)
    labels = times = ids = groups = None
    if others is not None:
        labels = _magnitudes(table, roles, source, wrong)
    elif "y" in roles:
        column = joined(table.column(roles["y"]))
        labels = _ranks(column, roles["y"], source, wrong, mapping.labels)
        empty = np.isnan(labels)
        if empty.any():
            given = ~pc.is_null(column).to_numpy(zero_copy_only=False)
            for record in np.flatnonzero(empty & given).tolist():
                wrong.setdefault(record, "y: Input should be a finite number, not NaN")
    if "ts" in roles:
        times = _times(joined(table.column(roles["ts"])), wrong, mapping.ts_unit)
    if "id" in roles:
        ids = _names(joined(table.column(roles["id"])), "id", wrong)
    if "group" in roles:
        groups = _names(joined(table.column(roles["group"])), "group", wrong)

    def row(record: int) -> bytes:
        return json.dumps(table.slice(record, 1).to_pylist()[0], default=str).encode()

    return Columns(
        *(features.numbers, features.missing, labels, times, ids, groups),
        wrong=wrong,
        count=table.num_rows,
        raw=raw or row,
        position_after=position_after,
        place_of=place_of,
        release=release,
        others=None if others is None else others.numbers,
        others_missing={} if others is None else others.missing,
        items=items,
        categories=features.categories,
        others_categories=[] if others is None else others.categories,
    )


def _features(
    role: str,
    columns: dict[str, str] | None,
    of_table: tuple[Any, str, tuple[str, ...], bool],
    wrong: dict[int, str],
) -> Features:
    """The features of what has a role; rows of which a value is none are added to `wrong`."""
    table, source, categories, cells = of_table
    found = features_in(table, columns or {}, source, categories, cells)
    for row, reason in found.wrong.items():
        wrong.setdefault(row, f"{role}: {reason}")
    return found


def _two_items(
    layout: TableLayout, of_table: tuple[Any, str, tuple[str, ...], bool], wrong: dict[int, str]
) -> tuple[Features, Features]:
    """The features of the two items of preferences, which have some of their own beside the context that they share."""
    n_rows = of_table[0].num_rows
    context, items = _features("context", layout.context, of_table, wrong), []
    for role, columns in (("preferred", layout.features), ("other", layout.others)):
        items.append(_features(role, columns, of_table, wrong))
        for row in np.flatnonzero(~items[-1].given(n_rows)).tolist():
            wrong.setdefault(row, f"{role}: {NOTHING}")
    preferred, other = items
    return preferred.beside(context), other.beside(context)


def _labels(
    column: Any, role: str, name: str, source: str, wrong: dict[int, str]
) -> npt.NDArray[np.float64]:
    """The numbers of a column, or of cells that must be numbers."""
    if not pa.types.is_dictionary(column.type):
        return numbers(column, name, source)
    values = np.array([*map(_label, column.dictionary.to_pylist()), np.nan])
    codes: Any = pc.fill_null(column.indices, -1).to_numpy(zero_copy_only=False)
    for row in np.flatnonzero(np.isnan(values[codes]) & (codes >= 0)).tolist():
        cell = column[row].as_py()
        if cell.strip(" \t").lstrip("+-").lower() != "nan":
            wrong.setdefault(row, f"{role}: Input should be a valid number, not {cell!r}")
    return np.asarray(values[codes], np.float64)


def _ranks(
    column: Any, name: str, source: str, wrong: dict[int, str], scale: LabelScale | None
) -> npt.NDArray[np.float64]:
    """The labels of a column: numbers, or their ranks on a scale."""
    coded = pa.types.is_dictionary(column.type)
    kind = column.type.value_type if coded else column.type
    if is_text(kind) and not coded:  # as cells, which say of each record what is wrong with it
        column = joined(column.dictionary_encode())
    if scale is None or not (scale.of_texts and is_text(kind)):
        labels = _labels(column, "y", name, source, wrong)
        if scale is None:
            return labels
        ranks = scale.ranks_of(labels)
        for row in np.flatnonzero(ranks == 0).tolist():
            wrong.setdefault(row, str(scale.unknown(labels[row])))
        return ranks
    known = {label: rank for rank, label in enumerate(scale.labels, 1)}
    texts = column.dictionary.to_pylist()
    ranks = np.array([*(known.get(text, 0) for text in texts), np.nan])
    codes: Any = pc.fill_null(column.indices, -1).to_numpy(zero_copy_only=False)
    for row in np.flatnonzero(ranks[codes] == 0).tolist():
        wrong.setdefault(row, str(scale.unknown(texts[codes[row]])))
    return np.asarray(ranks[codes], np.float64)


def _label(cell: str) -> float:
    try:
        if not cell.isascii() or "_" in cell:  # only Python accepts these in numbers
            return float("nan")
        return float(cell)
    except ValueError:
        return float("nan")


def _magnitudes(
    table: Any, roles: dict[str, str], source: str, wrong: dict[int, str]
) -> npt.NDArray[np.float64]:
    """The magnitudes of preferences: 1 where nothing is given, and 0 of ties."""
    magnitudes: npt.NDArray[np.float64] = np.full(table.num_rows, np.nan)
    if "magnitude" in roles:
        column = joined(table.column(roles["magnitude"]))
        magnitudes = _labels(column, "magnitude", roles["magnitude"], source, wrong) + 0.0
        given = ~pc.is_null(column).to_numpy(zero_copy_only=False)
        for record in np.flatnonzero(given & ~(magnitudes >= 0)).tolist():
            wrong.setdefault(record, "magnitude: Input should be a number from 0, a tie, on")
    if "tie" in roles:
        tied = _ties(joined(table.column(roles["tie"])), roles["tie"], source, wrong)
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
    found = numbers(column, name, source)
    for record in np.flatnonzero(~np.isnan(found) & (found != 0) & (found != 1)).tolist():
        wrong.setdefault(record, f"tie: Input should be 0 or 1, not {found[record]:g}")
    return found


def _times(column: Any, wrong: dict[int, str], unit: TimeUnit) -> npt.NDArray[np.int64]:
    kind = column.type
    if pa.types.is_date(kind):
        column, kind = pc.cast(column, pa.timestamp("ms")), pa.timestamp("ms")
    if pa.types.is_timestamp(kind):
        column = pc.cast(column, pa.timestamp("ms", kind.tz), safe=False)
        column = pc.cast(column, pa.int64())
    if pa.types.is_integer(column.type) and column.type != pa.uint64():
        filled: Any = pc.fill_null(pc.cast(column, pa.int64()), NO_TIME)
        found = np.asarray(filled.to_numpy(zero_copy_only=False), np.int64)
        first, last = FIRST, LAST
        if pa.types.is_integer(kind) and unit != "ms":
            if unit == "s":
                first, last = FIRST // 1000, LAST // 1000
            else:
                per = 1_000 if unit == "us" else 1_000_000
                found = np.where(found == NO_TIME, NO_TIME, found // per)
        out_of_range = (found != NO_TIME) & ((found < first) | (found > last))
        for record in np.flatnonzero(out_of_range).tolist():
            wrong.setdefault(record, f"ts: time {found[record]} is not in the years 1 to 9999")
        if last < LAST:
            found = np.where(out_of_range | (found == NO_TIME), NO_TIME, found * 1000)
        return found
    times = np.full(len(column), NO_TIME)
    for record, given in enumerate(column.to_pylist()):
        if given is not None:
            try:
                if isinstance(given, str) and _WHOLE.fullmatch(given):
                    given = int(given)
                fraction = unit == "s" and isinstance(given, float)
                if isinstance(given, bool) or not (fraction or isinstance(given, str | int)):
                    raise ValueError(f"time {given!r} is neither text nor a whole number")
                times[record] = moment_of(given, unit)
            except ValueError as error:
                wrong.setdefault(record, f"ts: {error}")
    return times


def _names(column: Any, role: str, wrong: dict[int, str]) -> list[Any]:
    names: list[Any] = column.to_pylist()
    if is_text(column.type):
        lengths = pc.fill_null(pc.utf8_length(column), 0).to_numpy(zero_copy_only=False)
        for record in np.flatnonzero(lengths > LONGEST_NAME).tolist():
            wrong.setdefault(
                record,
                f"{role}: text of {lengths[record]:,} characters, and at most {LONGEST_NAME} are needed",
            )
    plain = pa.types.is_integer(column.type) and column.type != pa.uint64()
    if not (plain or pa.types.is_string(column.type)):
        for record, name in enumerate(names):
            good = name is None or isinstance(name, str)
            good |= isinstance(name, int) and not isinstance(name, bool) and name < 2**63
            if not good:
                wrong.setdefault(record, f"{role}: {name!r} is neither text nor a whole number")
    return names
