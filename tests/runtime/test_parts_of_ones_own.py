"""A learner, a stage, a source and a sink of somebody's own, written against the protocols alone.

They go through a replay, snapshots, kills and resuming like the package's own parts. The file is also the
program that is killed: `python -m tests.runtime.test_parts_of_ones_own FOLDER`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest

from stream_rank.checkpoint.stateful import Stateful
from stream_rank.codec.batch import SKIPPED, Batch
from stream_rank.config.replay import ReplayConfig
from stream_rank.contestants.contestant import Contestant
from stream_rank.ingest.chunk import Chunk, as_records
from stream_rank.ingest.source import Source
from stream_rank.learners.base.capabilities import Insight, LearnerLimits, Rule
from stream_rank.learners.base.state import State
from stream_rank.learners.tables.rows import Rows
from stream_rank.pipeline.stage import Stage
from stream_rank.runtime.replay import Replay
from stream_rank.sinks.sink import Prediction, Sink

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

EVENTS, CHUNK = 3_000, 70


class RunningMean:
    """A learner of scores: it predicts the mean of the labels so far."""

    name = "running-mean"
    key = "learners/running-mean"
    predicts: Literal["ranks", "scores"] = "scores"
    limits = LearnerLimits(1e9, np.inf, np.inf)
    learns_groups = learns_preferences = gives_probabilities = has_users = finds_items = False
    chain: tuple[str, ...] = ()
    votes_of: tuple[str, ...] = ()
    model = None

    def __init__(self) -> None:
        self._count, self._sum = 0, 0.0

    @property
    def state(self) -> "RunningMean":
        return self

    def dump(self) -> State:
        return State({"count": self._count}, {"sum": np.array([self._sum])})

    def load(self, state: State) -> None:
        self._count, self._sum = state.metadata["count"], float(state.arrays["sum"][0])

    def digest(self) -> str:
        return f"{self._count} {self._sum!r}"

    def rule(self) -> Rule:
        return Rule({}, [], self._mean, True, [], [])

    def insight(self, rows: Rows | None = None) -> Insight:
        return Insight({}, [], None, [])

    def exchange(self, names: Mapping[Hashable, Hashable]) -> None:
        pass

    @property
    def _mean(self) -> float:
        return self._sum / max(1, self._count)

    def memory_at(self, n_features: int) -> int:
        return 0

    def bound(self, max_features: int) -> None:
        pass

    def test_then_train(self, rows: Rows, labels: Array, groups: Array | None) -> Array:
        found = np.empty(len(labels))
        for place, label in enumerate(labels.tolist()):
            found[place] = self._mean
            self._count += 1
            self._sum += label
        return found

    def learn(self, rows: Rows, labels: Array, groups: Array | None) -> None:
        self.test_then_train(rows, labels, groups)

    def learn_some(
        self,
        rows: Rows,
        labels: Array,
        groups: Array | None,
        asking: Mask,
        learning: Mask,
        shares: Array | None = None,
        watched: Any = None,
    ) -> Array:
        found = np.full(len(rows), np.nan)
        for place in range(len(rows)):
            one = slice(place, place + 1)
            if asking[place]:
                found[one] = self.predict(rows.part(place, place + 1), {})
            if learning[place]:
                self.learn(rows.part(place, place + 1), labels[one], None)
        return found

    def predict(self, rows: Rows, unknown_features: Mapping[int, dict[Any, float]]) -> Array:
        return np.full(len(rows), self._mean)

    def test_then_train_pairs(
        self, preferred: Rows, others: Rows, magnitudes: Array
    ) -> tuple[Array, Array]:
        return np.full(len(magnitudes), np.nan), np.full((len(magnitudes), 3), np.nan)


class Differences:
    """A stage with a memory: a label becomes its difference to the one before."""

    key = "differences"

    def __init__(self) -> None:
        self._last = 0.0

    def apply(self, batch: Batch) -> Iterator[Batch]:
        labels = batch.labels.copy()
        for place in np.flatnonzero(~np.isnan(labels)).tolist():
            labels[place], self._last = labels[place] - self._last, labels[place]
        yield replace(batch, labels=labels)

    def dump(self) -> State:
        return State({"last": self._last}, {})

    def load(self, state: State) -> None:
        self._last = state.metadata["last"]


@dataclass(frozen=True)
class Number:
    """A position: so many numbers were given out."""

    count: int

    def to_json(self) -> int:
        return self.count


class Numbers:
    """A source of numbered events, of which some wait for no label."""

    name = "numbers"
    size = CHUNK

    def chunks(self, position: Number | None) -> Iterator[Chunk | None]:
        begin = 0 if position is None else position.count
        while begin < EVENTS:
            first, end = begin, min(EVENTS, begin + self.size)
            events = [_event(number) for number in range(first, end)]
            yield as_records(events, partial(_after, first))
            begin = end

    def position_from(self, stored: Any) -> Number:
        return Number(int(stored))

    def progress(self, position: Number | None) -> float | None:
        return 0.0 if position is None else position.count / EVENTS


def _after(first: int, done: int) -> Number:
    return Number(first + done)


def _event(number: int) -> bytes:
    event: dict[str, Any] = {"x": {"a": number % 8 / 8}, "id": number}
    if number % 9:
        event["y"] = number * number % 101
    return json.dumps(event).encode()


class Ids:
    """A sink: the ids of requests, in a file that goes back to a mark."""

    unit = "bytes"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: Any = None

    def put(self, item: Prediction) -> None:
        self._file.write(f"{item.id} {item.values['running-mean']!r}\n".encode())

    def push(self) -> None:
        self._file.flush()

    def flush(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def mark(self) -> int:
        return int(self._file.tell())

    def restore(self, mark: int | None) -> None:
        self._file = self._path.open("ab")
        if mark is not None:
            self._file.truncate(mark)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def learn(folder: Path, dies_after: int | None = None) -> dict[str, Any]:
    """A replay of these parts; it dies as if killed when so many records were learned."""
    given = {
        "inputs": ["numbers"],
        "out": folder,
        "snapshot_events": 100,
        "resume": (folder / "snapshots").exists(),
    }
    with Replay(
        ReplayConfig.model_validate(given),
        lambda _: None,
        source=Numbers(),
        contestants=[RunningMean()],
        stages=[Differences()],
        predictions=Ids(folder / "ids.txt"),
    ) as replay:
        before = replay.learning.progress.counts.records

        def die() -> None:
            if dies_after and replay.learning.progress.counts.records >= before + dies_after:
                os._exit(137)  # nothing is flushed, closed or said

        replay.run(die)
        return replay.finish()


def test_they_keep_to_the_protocols() -> None:
    learner, source, stage = RunningMean(), Numbers(), Differences()
    as_contestant: Contestant = learner
    as_source: Source = source
    as_stage: Stage = stage
    as_sink: Sink[Prediction] = Ids(Path("nowhere"))
    assert all(isinstance(each, Stateful) for each in (as_contestant, as_stage))
    assert as_source.name == "numbers"
    as_sink.close()


def test_killed_and_resumed_they_end_as_if_nothing_had_been(tmp_path: Path) -> None:
    whole = learn(tmp_path / "whole")
    assert whole["learned"] + whole["requests"] == EVENTS
    assert whole["learners"]["running-mean"]["magnitude_loss"] > 0
    killed, kills = tmp_path / "killed", 0
    while True:
        program = [sys.executable, "-m", __name__, str(killed), "700"]
        code = subprocess.run(program, check=False, cwd=Path(__file__).parents[2]).returncode
        if code == 0:
            break
        assert code == 137
        kills += 1
    assert kills == 4
    summary = json.loads((killed / "summary.json").read_text())
    for name in ("learned", "requests", "learners", "position"):
        assert summary[name] == json.loads(json.dumps(whole[name])), name
    for name in ("ids.txt", "curve.csv"):
        assert (killed / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert (killed / "ids.txt").read_bytes().count(b"\n") == whole["requests"]


def test_two_parts_may_not_have_one_key(tmp_path: Path) -> None:
    """One would get the state of the other."""
    given = {"inputs": ["numbers"], "out": tmp_path}
    for stages in ([Differences(), Differences()], [Under(RunningMean.key + "/"), Differences()]):
        with pytest.raises(ValueError, match="two parts keep their state under"):
            Replay(
                ReplayConfig.model_validate(given),
                lambda _: None,
                source=Numbers(),
                contestants=[RunningMean()],
                stages=stages,
            )


class Under(Differences):
    """Its key lies below that of another part."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self.key = prefix + "below"


def test_a_limit_counts_what_stages_leave(tmp_path: Path) -> None:
    """However the stream is cut into chunks, nothing is passed that was neither learned nor counted."""

    class Odd:
        def apply(self, batch: Batch) -> Iterator[Batch]:
            even = batch.labels % 2 == 0
            yield replace(batch, kinds=np.where(even, np.int8(SKIPPED), batch.kinds))

    found = []
    for size in (1, 7, 1_000):
        numbers = Numbers()
        numbers.size = size
        given = {"inputs": ["numbers"], "out": tmp_path / str(size), "max_events": 60}
        with Replay(
            ReplayConfig.model_validate(given),
            lambda _: None,
            source=numbers,
            contestants=[RunningMean()],
            stages=[Odd()],
        ) as replay:
            replay.run()
            counts = replay.learning.progress.counts
            assert counts.taken == 60
            assert replay.learning.progress.position == Number(counts.records)
            found.append((counts.as_dict(), replay.learning.contestants[0].digest()))
    assert found[0] == found[1] == found[2]


def test_a_part_of_another_run_is_refused(tmp_path: Path) -> None:
    """A state that a part cannot take is an error that names the part, not a traceback of its own."""
    from stream_rank.errors import SnapshotError

    class Forgetful(Differences):
        def load(self, state: State) -> None:
            raise KeyError("last")

    learn(tmp_path)
    given = {"inputs": ["numbers"], "out": tmp_path, "resume": True}
    with pytest.raises(SnapshotError, match="the snapshot's differences does not fit this run"):
        Replay(
            ReplayConfig.model_validate(given),
            lambda _: None,
            source=Numbers(),
            contestants=[RunningMean()],
            stages=[Forgetful()],
            predictions=Ids(tmp_path / "ids.txt"),
        )


if __name__ == "__main__":
    learn(Path(sys.argv[1]), int(sys.argv[2]))
