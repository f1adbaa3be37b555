"""How much memory learners take is known before they take it, and bounded."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from stream_rank.config.replay import ReplayConfig
from stream_rank.config.run import RunConfig
from stream_rank.contestants.learner_spec import contestants_of
from stream_rank.contestants.room import room_for
from stream_rank.errors import ConfigError
from stream_rank.runtime.replay import Replay
from tests.learners.conftest import LEARNERS

MEBI = 1 << 20


@pytest.mark.parametrize("name", LEARNERS)
def test_the_estimate_is_what_the_memories_have(name: str) -> None:
    model: Any = LEARNERS[name](n_ranks=5)
    count = 2_048
    said, twin = model.memory_at(count), LEARNERS[name](n_ranks=5)
    exact = twin._size_with(count)
    exact = 2 * exact + twin._size_with(count * 3 // 2)
    assert abs(said - exact) <= 0.02 * exact + 4_096
    assert model.features == []


def test_all_learners_share_what_there_is() -> None:
    contestants = contestants_of(["prank", "oap-bpm", "online-mprank"], 5, 1)
    room = room_for(contestants, 100_000, 256 * MEBI)
    assert sum(each.memory_at(room.max_features) for each in contestants) <= 256 * MEBI
    assert sum(each.memory_at(room.max_features + 1) for each in contestants) > 256 * MEBI
    assert "left out of events" in str(room)
    enough = room_for(contestants, 1_000, 256 * MEBI)
    assert enough.max_features == room.max_features
    assert str(enough).startswith("learners take up to ")
    with pytest.raises(ConfigError, match="`learner_memory_limit`"):
        room_for(contestants, 1_000, MEBI)
    river = contestants_of(["river.linear_model.LinearRegression"], None, 1)
    assert "not known" in str(room_for(river, 1_000, MEBI))


@pytest.mark.long(15)
@pytest.mark.parametrize("learner", ["online-mprank", "raw | online-mprank", "cross:a*b | oap-bpm"])
def test_no_message_takes_more_than_is_allowed(learner: str, tmp_path: Path) -> None:
    wide = {"x": {f"f{i}": 1.0 for i in range(6_000)}, "y": 3}
    crossed = {"x": {"a": [f"u{i}" for i in range(40)], "b": [f"v{i}" for i in range(40)]}, "y": 2}
    events = [json.dumps(each) for each in (wide, crossed, wide, crossed)]
    (tmp_path / "events.jsonl").write_text("\n".join(events))
    given = {
        "inputs": [str(tmp_path / "events.jsonl")],
        "out": tmp_path / "run",
        "n_ranks": 5,
        "learners": [learner],
        "learner_memory_limit": "8Mi",
        "max_reject_ratio": 0,
    }
    with Replay(ReplayConfig.model_validate(given), lambda _: None) as replay:
        replay.run()  # what is compiled is none of the learners' memory
    given["out"] = tmp_path / "again"
    with Replay(ReplayConfig.model_validate(given), lambda _: None) as replay:
        most = replay.learning.room.max_features
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        replay.run()
        peak = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
        (contestant,) = replay.learning.contestants
        assert len(contestant.model.features) <= most < 6_000
        assert replay.learning.loop.decoder.index.admission.dropped > 0
    # names, events and the scoreboard are beside the learners
    assert peak < (8 + 24) * MEBI


def test_bytes_are_written_as_kubernetes_does(tmp_path: Path) -> None:
    def limit(given: Any) -> int:
        more = {} if given is None else {"learner_memory_limit": given}
        return RunConfig.model_validate({"out": tmp_path, **more}).learner_memory_limit

    assert [limit(each) for each in (None, "512Mi", "1.5G", 4_096, "4096")] == [
        *(2 << 30, 512 << 20, 1_500_000_000, 4_096, 4_096)
    ]
    for wrong in ("2 Gallons", "", "-1", 0, True, [2]):
        with pytest.raises(ValueError, match="learner_memory_limit"):
            limit(wrong)
