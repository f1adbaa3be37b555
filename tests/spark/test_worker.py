"""What workers do with records: tables of many shards, and shards that begin as others."""

from pathlib import Path

import pyarrow as pa
import pytest

from stream_rank import load, save
from stream_rank.checkpoint.snapshot import unpack
from stream_rank.config.spark import ShardConfig
from stream_rank.errors import ConfigError
from stream_rank.ingest.kafka.port import Partition
from stream_rank.spark.kept import KeptShards
from stream_rank.spark.outputs import ARROW, PREDICTION
from stream_rank.spark.shard import Shard
from stream_rank.spark.worker import learned, learned_in_order
from tests.spark.conftest import PARTITION, parts_of, portion, ratings, replayed

GIVEN = {"learners": ["scale | prank"], "n_ranks": 5, "by": "group"}


def settings(**more: object) -> str:
    return ShardConfig.model_validate({**GIVEN, **more}).model_dump_json(
        by_alias=True, exclude_unset=True
    )


def test_a_table_is_learned_shard_by_shard(tmp_path: Path) -> None:
    streams = {f"g{number}": ratings(50, seed=number) for number in range(3)}
    rows = [(name, line) for name, lines in streams.items() for line in lines]
    parts = [rows[begin : begin + 40] for begin in range(0, 150, 40)]
    batches = [
        pa.RecordBatch.from_pylist([{"shard": name, "value": line} for name, line in part])
        for part in parts
    ]
    found = {}
    for frame in learned_in_order(settings(), batches, True):
        for row in frame[frame.kind == "state"].itertuples():
            assert (row.records, row.learned) == (50, 50)
            found[row.shard] = parts_of(row.state)
    for name, lines in streams.items():
        more = {"learners": GIVEN["learners"], "n_ranks": 5, "window": 100}
        assert found[name] == replayed(tmp_path / name, lines, **more), name


def test_shards_begin_with_what_was_published_or_a_model(tmp_path: Path) -> None:
    """With a shard's own state it goes on to the bit; with a model, each begins as it."""
    lines = ratings(200)
    before, _ = learned(settings(), "g", None, portion(lines, range(100)), False)
    kept = KeptShards(str(tmp_path))
    kept.prepare()
    kept.write(KeptShards.name_of("g"), before)
    whole, _ = learned(settings(), "g", before, portion(lines, range(100, 200)), False)
    again = settings(begin_with=str(tmp_path))
    assert parts_of(learned(again, "g", None, portion(lines, range(200)), False)[0]) == parts_of(
        whole
    )
    other, _ = learned(again, "h", None, portion(lines, range(100)), False)
    assert parts_of(other) == parts_of(before)
    model = load(str(tmp_path / "shards" / KeptShards.name_of("g")))
    save(model, tmp_path / "model.safetensors")
    begun, _ = learned(
        settings(begin_with=str(tmp_path / "model.safetensors")),
        *("h", None, portion(lines, range(100, 200)), False),
    )
    key = "learners/scale | prank"
    assert parts_of(begun)[key] == parts_of(whole)[key]
    assert parts_of(begun)["scoreboard"] != parts_of(whole)["scoreboard"]


def test_a_shard_begins_where_a_daemon_was(tmp_path: Path) -> None:
    """The daemon's snapshot has the offsets of all partitions: what it learned is not learned again."""
    lines = ratings(60)
    daemon = Shard(ShardConfig.model_validate({**GIVEN, "by": "partition"}))
    daemon.take(portion(lines, range(40)))
    (tmp_path / "daemon.safetensors").write_bytes(daemon.dump())
    shard = Shard(
        ShardConfig.model_validate(
            {**GIVEN, "by": "partition", "begin_with": str(tmp_path / "daemon.safetensors")}
        )
    )
    for _ in range(2):  # it is read once
        shard.load(None)
        outcome = shard.take(portion(lines, range(60)))
        assert (outcome.records, outcome.repeated) == (20, 40)
        assert shard.position == {PARTITION: 60}
    daemon.take(portion(lines, range(40, 60)))
    key = "learners/scale | prank"
    assert parts_of(shard.dump())[key] == parts_of(daemon.dump())[key]
    assert unpack(shard.dump()).part("progress").metadata["counts"]["learned"] == 20
    with pytest.raises(
        ConfigError, match="give the learner, its stages and settings as in the model"
    ):
        Shard(
            ShardConfig.model_validate(
                {**GIVEN, "learners": ["prank"], "begin_with": str(tmp_path / "daemon.safetensors")}
            )
        ).load(None)


def test_rows_say_of_which_shard_they_are() -> None:
    lines = [b"{", b'{"x": {"a": 1.0}, "id": 7}', *ratings(3)]
    _, frame = learned(settings(), "g", None, portion(lines, range(5)), False)
    assert set(frame.shard) == {"g"}
    (reject,) = frame[frame.kind == "reject"].itertuples()
    assert (reject.topic, reject.partition, reject.offset) == (*PARTITION, 0)
    assert Partition(reject.topic, reject.partition) == PARTITION
    (prediction,) = frame[frame.kind == "prediction"].itertuples()
    assert (prediction.id, prediction.learner) == ("7", "scale | prank")
    (board,) = frame[frame.kind == "scoreboard"].itertuples()
    assert board.terms == 3
    (state,) = frame[frame.kind == "state"].itertuples()
    assert (state.state, state.records, state.rejected, state.requests) == (None, 5, 1, 1)


@pytest.mark.parametrize(
    ("labels", "column", "expected"), [("bad,good", "content", "good"), ("0,0.5", "value", 0.5)]
)
def test_labels_are_predicted_as_they_are_called(
    labels: str, column: str, expected: object
) -> None:
    """A column of Spark's has one type: what is text has another than numbers."""
    given = settings(labels=labels, n_ranks=None, learners=["raw | prank"])
    label = labels.split(",")[1] if column == "value" else '"good"'
    lines = [b'{"x": [1.0], "y": %s}' % label.encode(), b'{"x": [1.0], "id": "q"}']
    _, frame = learned(given, "g", None, portion(lines, range(2)), False)
    rows = pa.RecordBatch.from_pandas(frame, ARROW, preserve_index=False).to_pylist()
    (asked,) = [row for row in rows if row["kind"] == PREDICTION]
    assert (asked["id"], asked[column]) == ("q", expected)
