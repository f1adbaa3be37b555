"""A shard's run without Spark: the same bits as a replay of its records, however they come."""

from pathlib import Path
from random import Random

import pytest

from stream_rank.checkpoint.snapshot import unpack
from stream_rank.config.spark import ShardConfig
from stream_rank.errors import ConfigError, SnapshotError
from stream_rank.ingest.kafka.port import Partition
from stream_rank.spark.portion import Portion
from stream_rank.spark.shard import Shard
from tests.pipeline.conftest import mixed
from tests.spark.conftest import PARTITION, parts_of, portion, ratings, replayed

LEARNERS = ["raw | prank", "scale | oap-bpm:n_members=9", "raw | recursive-mprank"]


def config(**more: object) -> ShardConfig:
    return ShardConfig.model_validate({"learners": LEARNERS, "n_ranks": 5, "delay": 10, **more})


def test_any_portions_are_a_replay(tmp_path: Path) -> None:
    """Chunks of any size, reordered, with records that came before, and a restart from bytes in between."""
    lines, random = mixed(600), Random(4)
    expected = replayed(tmp_path, lines, learners=LEARNERS, n_ranks=5, delay=10)
    for longest in (600, 70):
        shard, begin, repeated = Shard(config()), 0, 0
        while begin < len(lines):
            again, end = max(0, begin - 20), min(len(lines), begin + random.randint(1, longest))
            offsets = [*range(again, end), *range(begin, end)]
            random.shuffle(offsets)
            outcome = shard.take(portion(lines, offsets))
            repeated += outcome.repeated
            assert outcome.records == end - begin
            fresh = Shard(config())
            fresh.load(shard.dump())
            shard, begin = fresh, end
        assert parts_of(shard.dump()) == expected
        assert shard.position == {PARTITION: len(lines)}
        assert repeated > len(lines)


def test_one_object_is_the_run_of_many_shards(tmp_path: Path) -> None:
    """Decoders that are used again, of other features in another order, and blank states between, leave no trace."""
    streams = {"a": mixed(200, seed=1), "b": mixed(200, seed=2), "c": ratings(200)}
    warm, states = Shard(config()), dict[str, bytes]()
    for begin in range(0, 200, 25):
        for name, lines in streams.items():
            warm.load(states.get(name))
            warm.take(portion(lines, range(begin, begin + 25)))
            states[name] = warm.dump()
    for name, lines in streams.items():
        expected = replayed(tmp_path / name, lines, learners=LEARNERS, n_ranks=5, delay=10)
        assert parts_of(states[name]) == expected, name


def test_records_of_several_partitions_are_learned_by_partition() -> None:
    lines = ratings(40)
    partitions = [Partition("ratings", 1), Partition("others", 0)]
    whole = Portion.of(PARTITION, range(40), lines)
    given = whole._replace(partitions=partitions, numbers=whole.offsets % 2)
    shard = Shard(config())
    assert shard.take(given).records == 40
    assert shard.position == {partitions[0]: 39, partitions[1]: 40}
    assert shard.take(given).repeated == 40


def test_rejects_and_predictions_say_where_they_are_from() -> None:
    lines = [b'{"x": [1.0], "y": 2}', b"{", b'{"x": [2.0], "id": "u7"}', b""]
    outcome = Shard(config()).take(portion(lines, [3, 2, 1, 0]))
    assert [each.origin for each in outcome.rejects] == [(PARTITION, 1)]
    assert [each.id for each in outcome.predictions] == ["u7"]
    assert set(outcome.predictions[0].values) == set(LEARNERS)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"learners": ["raw | prank:dtype=float32"]}, "`learners`"),
        ({"learners": ["scale | prank"]}, "`learners`"),
        ({"n_ranks": 6}, "thresholds and losses are those of so many ranks"),
        ({"fields": {"y": "stars"}}, "`fields`"),
        ({"by": "user"}, "`by`"),
    ],
)
def test_a_state_of_other_settings_is_refused(changed: dict[str, object], said: str) -> None:
    before = Shard(config(learners=["raw | prank"]))
    before.take(portion(ratings(9), range(9)))
    with pytest.raises(ConfigError, match=said):
        Shard(config(**{"learners": ["raw | prank"], **changed})).load(before.dump())
    with pytest.raises(SnapshotError):
        before.load(before.dump()[:-1])


def test_a_shard_has_no_foreign_learner() -> None:
    with pytest.raises(ConfigError, match="is not a learner of stream-rank"):
        Shard(config(learners=["river.linear_model.LinearRegression"], n_ranks=None))


def test_of_keys_little_is_kept() -> None:
    of_keys = ShardConfig.model_validate
    assert of_keys({"by": "user"}).window == 100 < of_keys({}).window
    assert of_keys({"by": "user", "window": 7}).window == 7
    state = unpack(Shard(config(learners=["raw | prank"], by="user", delay=0)).dump())
    assert sum(array.nbytes for array in state.arrays.values()) < 20_000
    with pytest.raises(ValueError, match="for keys"):
        of_keys({"expiry_seconds": 5})


def test_a_long_stream_is_one_of_restarts_too() -> None:
    """More blocks of losses than a history has parts: what halves them must come through a restart."""
    lines, learners = ratings(110_000), ["raw | prank", "raw | recursive-mprank"]
    whole, again = Shard(config(learners=learners)), Shard(config(learners=learners))
    whole.take(portion(lines, range(110_000)))
    for begin in range(0, 110_000, 22_000):
        again.load(again.dump())
        again.take(portion(lines, range(begin, begin + 22_000)))
    assert parts_of(again.dump()) == parts_of(whole.dump())
