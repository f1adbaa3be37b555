"""Records packed for the way from the JVM to a shard: all of a shard that come together are one row, not one each.

A row of Spark's costs a microsecond or two wherever it is sorted, grouped or handed to Python; a record of some numbers is learned in less.
Workers that pack have no need of the engine, and this module does not import it: that takes seconds on each of them.
"""

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["PACKED", "columns_of", "pack"]

Array = npt.NDArray[Any]

PACKED = "shard string, topic string, partition int, offsets binary, lengths binary, content binary"
"""The columns of packed records, as Spark writes them."""
_SCHEMA = pa.schema(
    [
        ("shard", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offsets", pa.binary()),
        ("lengths", pa.binary()),
        ("content", pa.binary()),
    ]
)
_MOST_BYTES = 32_000_000
"""A task keeps as many bytes of values before it sends them on."""


def columns_of(values: Any) -> tuple[Array, bytes]:
    """The lengths of values in an Arrow array, and the values one behind the other; one that is missing has no bytes.

    >>> columns_of(pa.array([b"one", None, b"three"]))
    (array([3, 0, 5]), b'onethree')
    """
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    whole = pc.fill_null(whole, b"") if whole.null_count else whole
    ends: Array = np.frombuffer(whole.buffers()[1], np.int32)[whole.offset :][: len(whole) + 1]
    if not len(whole) or whole.buffers()[2] is None:
        return np.zeros(len(whole), np.int64), b""
    content = whole.buffers()[2].slice(int(ends[0]), int(ends[-1] - ends[0])).to_pybytes()
    return np.diff(ends).astype(np.int64), content


def pack(batches: Iterable[Any]) -> Iterator[Any]:
    """Arrow batches of `topic, partition, offset, value`, perhaps with a `shard`, as batches of `PACKED`, for `mapInArrow`.

    >>> rows = {"topic": ["t"] * 2, "partition": [0, 0], "offset": [4, 5], "value": [b"a", b"bc"]}
    >>> packed = next(pack([pa.RecordBatch.from_pydict(rows)])).to_pylist()[0]
    >>> packed["shard"], packed["content"]
    ('t-0', b'abc')
    """
    kept: dict[tuple[str, str, int], list[tuple[Array, Array, bytes]]] = {}
    size = 0
    for batch in batches:
        for key, rows in _by_partition(batch):
            lengths, content = columns_of(rows.column("value"))
            offsets = rows.column("offset").to_numpy(zero_copy_only=False)
            kept.setdefault(key, []).append((np.array(offsets), lengths, content))
            size += len(content)
        if size >= _MOST_BYTES:
            yield _packed(kept)
            kept, size = {}, 0
    if kept:
        yield _packed(kept)


def _by_partition(batch: Any) -> Iterator[tuple[tuple[str, str, int], Any]]:
    """The rows of each shard and partition. Usually all of a batch are of one, or of few.

    Without a shard, partitions are shards: text for each row would cost the JVM as much as all else of it.
    """
    names = [name for name in ("shard", "topic", "partition") if name in batch.schema.names]
    several = pa.Table.from_batches([batch.select(names)]).group_by(names).aggregate([])
    for each in several.to_pylist():
        shard = each.get("shard", f"{each['topic']}-{each['partition']}")
        key = shard, each["topic"], each["partition"]
        if len(several) == 1:
            yield key, batch
            continue
        alike = [pc.equal(batch.column(name), each[name]) for name in names]
        yield key, batch.filter(reduce(pc.and_, alike))


def _packed(kept: dict[tuple[str, str, int], list[tuple[Array, Array, bytes]]]) -> Any:
    rows: dict[str, list[Any]] = {name: [] for name in _SCHEMA.names}
    for (shard, topic, partition), parts in kept.items():
        offsets, lengths, contents = zip(*parts, strict=True)
        found = (
            *(shard, topic, partition),
            np.concatenate(offsets).astype("<i8").tobytes(),
            np.concatenate(lengths).astype("<i8").tobytes(),
            b"".join(contents),
        )
        for name, value in zip(rows, found, strict=True):
            rows[name].append(value)
    return pa.RecordBatch.from_pydict(rows, _SCHEMA)
