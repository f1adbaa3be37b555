"""Records on their way to a shard: nothing is lost, and nothing is another's."""

import pyarrow as pa

from stream_rank.ingest.kafka.port import Partition
from stream_rank.spark.packing import columns_of, pack
from stream_rank.spark.unpacking import portion_of, unpacked


class Row:
    """As Spark hands a row of a frame over."""

    def __init__(self, values: dict[str, object]) -> None:
        vars(self).update(values)


def batch(*rows: tuple[str, int, int, bytes | None]) -> pa.RecordBatch:
    shards, partitions, offsets, values = zip(*rows, strict=True)
    types = [pa.string(), pa.string(), pa.int32(), pa.int64(), pa.binary()]
    names = ["shard", "topic", "partition", "offset", "value"]
    columns = [shards, ["t"] * len(rows), partitions, offsets, values]
    arrays = [pa.array(each, kind) for each, kind in zip(columns, types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names)


def test_records_come_out_as_they_went_in() -> None:
    """Of several shards and partitions in one batch, over several batches, one of which is a part of a longer one."""
    first = batch(("a", 0, 7, b"one"), ("b", 0, 8, None), ("a", 1, 3, b"two"), ("a", 0, 9, b""))
    more = batch(("b", 2, 0, b"left out"), ("a", 0, 10, b"three"), ("a", 0, 11, b"four"))
    rows = [each for packed in pack([first, more.slice(1)]) for each in packed.to_pylist()]
    assert [(each["shard"], each["partition"]) for each in rows] == [("a", 0), ("b", 0), ("a", 1)]
    found = unpacked(Row(each) for each in rows if each["shard"] == "a")
    assert found.partitions == [Partition("t", 0), Partition("t", 1)]
    assert found.offsets.tolist() == [7, 9, 10, 11, 3]
    assert found.numbers.tolist() == [0, 0, 0, 0, 1]
    assert found.lengths.tolist() == [3, 0, 5, 4, 3]
    assert found.values == b"onethreefourtwo"
    assert portion_of(pa.Table.from_batches([first.slice(1, 2)])).partitions == [
        Partition("t", 0),
        Partition("t", 1),
    ]


def test_what_a_part_of_a_column_has_is_its_own() -> None:
    whole = pa.array([b"zero", b"one", None, b"three"])
    lengths, content = columns_of(whole.slice(1, 2))
    assert (lengths.tolist(), content) == ([3, 0], b"one")
    assert columns_of(pa.array([], pa.binary()))[1] == b""
    chunked = pa.chunked_array([[b"a"], [b"bc", b"d"]])
    assert columns_of(chunked)[1] == b"abcd"
