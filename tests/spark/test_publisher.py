"""What is published: whole, by value, and the same however often a trigger comes again."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from stream_rank import average, load
from stream_rank.checkpoint.model_file import state_digest
from stream_rank.checkpoint.snapshot import unpack
from stream_rank.config.spark import ShardConfig, SparkConfig
from stream_rank.errors import MergeError
from stream_rank.learners.base.state import digest_of
from stream_rank.spark import publisher
from stream_rank.spark.publisher import Publisher, check_rule
from stream_rank.spark.query import begun
from stream_rank.spark.worker import learned
from tests.spark.conftest import portion, ratings

LEARNER = "scale | recursive-mprank"


class Output(NamedTuple):
    """As much of a DataFrame as is asked for."""

    rows: list[Any]

    def persist(self) -> None: ...

    def unpersist(self) -> None: ...

    def collect(self) -> list[Any]:
        return self.rows


@pytest.fixture(autouse=True)
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher, "states", lambda output: output)


def settings(learner: str = LEARNER) -> str:
    given = {
        "learners": ["raw | prank", learner] if learner == LEARNER else [learner],
        "n_ranks": 5,
    }
    given["learners"] = given["learners"][::-1]  # type: ignore[index]
    return ShardConfig.model_validate(given).model_dump_json(exclude_unset=True)


def trigger(
    states: dict[str, bytes | None], lines: list[bytes], offsets: range, *shards: str
) -> Output:
    rows = []
    for shard in shards:
        states[shard], frame = learned(
            settings(), shard, states.get(shard), portion(lines, offsets), True
        )
        rows += list(frame[frame.kind == "state"].itertuples(index=False))
    return Output(rows)


def files(folder: Path) -> dict[str, Any]:
    """What is in all files; of snapshots their digests, since the header's entries are in any order."""
    found = {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*.*")}
    return {
        name: digest_of(*unpack(content)) if name.endswith(".safetensors") else content
        for name, content in found.items()
    }


def test_shards_without_records_stay_and_triggers_come_again(tmp_path: Path) -> None:
    lines, states = ratings(300), dict[str, bytes | None]()
    publish = Publisher(str(tmp_path), side_outputs=False)
    first = trigger(states, lines, range(100), "ratings-0", "ratings-1")
    second = trigger(states, lines, range(100, 300), "ratings-1")
    publish(first, 0)
    publish(Output([]), 1)
    publish(second, 2)
    once = files(tmp_path)
    models = [load(str(tmp_path / f"shards/ratings-{i}.safetensors"), LEARNER) for i in (0, 1)]
    merged = load(str(tmp_path / "model.safetensors"))
    assert state_digest(merged) == state_digest(average(models))
    assert json.loads((tmp_path / "published.json").read_text()) == {
        "batch": 2,
        "shards": 2,
        "records": 400,
    }
    Publisher(str(tmp_path), side_outputs=False)(second, 2)  # by another driver, after a kill
    assert files(tmp_path) == once


def test_a_driver_that_died_in_between_is_made_good(tmp_path: Path) -> None:
    lines, states = ratings(200), dict[str, bytes | None]()
    some = trigger(states, lines, range(100), "a", "b", "c")
    Publisher(str(tmp_path / "whole"), side_outputs=False)(some, 0)
    half = Publisher(str(tmp_path / "died"), side_outputs=False)
    half(Output(some.rows[:2]), 0)
    Publisher(str(tmp_path / "died"), side_outputs=False)(some, 0)
    assert files(tmp_path / "died") == files(tmp_path / "whole")


def test_what_has_no_average_is_refused_or_published_alone(tmp_path: Path) -> None:
    state, frame = learned(
        settings("hedge(raw | prank, scale | prank)"),
        "a",
        None,
        portion(ratings(20), range(20)),
        True,
    )
    some = Output(list(frame[frame.kind == "state"].itertuples(index=False)))
    with pytest.raises(MergeError, match="let shards be published alone"):
        Publisher(str(tmp_path), side_outputs=False)(some, 0)
    Publisher(str(tmp_path), merges=False, side_outputs=False)(some, 0)
    assert (tmp_path / "shards/a.safetensors").read_bytes() == state
    assert not (tmp_path / "model.safetensors").exists()


def test_a_champion_without_an_average_is_refused_before_anything_is_learned() -> None:
    """The default learner is one."""
    with pytest.raises(MergeError, match=r"hedge cannot be published as one rule.*`merge` no"):
        begun(SparkConfig.model_validate({"topics": ["t"], "n_ranks": 3}), None)
    for each in ("scale | oap-bpm", "raw | prank", "scale | ordinal-logit", "recursive-mprank"):
        given = {"topics": ["t"], "learners": [each], "n_ranks": 3}
        check_rule(SparkConfig.model_validate(given))
