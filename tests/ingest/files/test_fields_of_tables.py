"""Patterns of columns, and units of their times."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stream_rank.codec.decoder import Decoder
from stream_rank.codec.limits import Limits
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.files.open_source import open_source


def batch_of(path: Path, mapping: Mapping) -> Any:
    (chunk,) = open_source([str(path)], None, mapping).chunks(None)
    assert chunk is not None
    return Decoder(Limits()).decode(chunk)


def test_patterns_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("stars,specs.hp,specs.w,page,price\n1,2,3,4,5\n")
    for x, expected in (
        (("price", "specs.*"), {"price": 5.0, "specs.hp": 2.0, "specs.w": 3.0}),
        (("*",), {"specs.hp": 2.0, "specs.w": 3.0, "page": 4.0, "price": 5.0}),
        (None, {"specs.hp": 2.0, "specs.w": 3.0, "page": 4.0, "price": 5.0}),
    ):
        batch = batch_of(path, Mapping(y="stars", x=x))
        assert [*batch.rows.dicts()] == [expected]


@pytest.mark.parametrize(
    ("unit", "given", "expected"),
    [
        ("ms", [1, None, 10**16], [1, None]),
        ("s", [1, None, 10**13], [1_000, None]),
        ("us", [1_500, None, 10**18], [1, None]),
        ("ns", [1_500_000, None, -(10**18)], [1, None, -(10**12)]),
        ("s", [1.5, None, float("inf")], [1_500, None]),
    ],
)
def test_units_of_times(unit: Any, given: list[Any], expected: list[Any], tmp_path: Path) -> None:
    """What is in no year is a reject."""
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"a": [1.0] * len(given), "y": [1] * len(given), "ts": given}), path)
    batch = batch_of(path, Mapping(ts_unit=unit))
    found = [None if time == -(2**63) else time for time in batch.times.tolist()]
    assert found == expected
    assert len(batch.rejects) == len(given) - len(expected)
