"""The order that makes a run safe: sinks, snapshot, offsets; and what happens where one of the three fails."""

from pathlib import Path
from typing import Any

import pytest

from stream_rank.checkpoint.checkpointer import Checkpointer
from stream_rank.checkpoint.snapshot import Snapshot
from stream_rank.checkpoint.store import SnapshotStore
from stream_rank.errors import RecoverableError, RetriableKafkaError
from stream_rank.ingest.position import RowPosition
from stream_rank.pipeline.progress import Progress
from stream_rank.pipeline.run_control import RunControl
from stream_rank.sinks.sink import NullSink

STEPS = ["flush", "write", "commit"]


class Recorder:
    """A checkpointer whose steps are noted, and one of which fails."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.steps: list[str] = []
        self.fails: dict[str, Exception] = {}
        self.committed: list[Any] = []
        self.progress = Progress(RowPosition.from_json)
        recorder = self

        class Sink(NullSink):
            def flush(self) -> None:
                recorder.step("flush")

        class Store(SnapshotStore):
            def write(self, snapshot: Snapshot, records: int, now: Any = None) -> tuple[str, int]:
                recorder.step("write")
                return super().write(snapshot, records, now)

        self.store = Store(str(folder))
        self.store.prepare()
        self.made = Checkpointer(
            [self.progress], {"rejects": Sink()}, self.store, self.progress, self.commit, **more
        )

    def step(self, name: str) -> None:
        self.steps.append(name)
        if name in self.fails:
            raise self.fails[name]

    def commit(self, position: Any) -> None:
        self.step("commit")
        self.committed.append(position)

    def learn(self, records: int) -> None:
        self.progress.counts.learned += records
        self.progress.position = RowPosition(self.progress.counts.records)


def test_sinks_then_snapshot_then_offsets(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    recorder.learn(5)
    recorder.made.commit()
    assert recorder.steps == STEPS
    assert recorder.committed == [RowPosition(5)]
    latest = recorder.store.latest()
    assert latest is not None
    assert recorder.store.read(latest).part("progress").metadata["position"] == {"rows": 5}
    assert (recorder.made.written, recorder.made.unsaved) == (1, 0)


@pytest.mark.parametrize("error", [OSError(28, "No space left"), RetriableKafkaError("it is gone")])
@pytest.mark.parametrize("step", STEPS[:2])
def test_what_fails_stops_the_steps_after_it_and_can_be_tried_again(
    step: str, error: Exception, tmp_path: Path
) -> None:
    recorder = Recorder(tmp_path)
    recorder.learn(5)
    recorder.fails[step] = error
    with pytest.raises(RecoverableError):
        recorder.made.commit()
    assert recorder.steps == STEPS[: STEPS.index(step) + 1]
    assert recorder.store.latest() is None
    assert (recorder.made.written, recorder.made.unsaved, recorder.committed) == (0, 5, [])
    recorder.fails.clear()
    recorder.made.commit()
    assert recorder.committed == [RowPosition(5)]
    assert recorder.made.written == 1


def test_when_it_is_due(tmp_path: Path) -> None:
    now, control = 0.0, RunControl()
    recorder = Recorder(
        tmp_path, every_events=10, every_seconds=30.0, control=control, clock=lambda: now
    )
    due = []
    for seconds, records in ((40.0, 0), (41.0, 9), (42.0, 0), (75.0, 0), (76.0, 10)):
        now = seconds
        recorder.learn(records)
        due.append(recorder.made.due)
        if recorder.made.due:
            recorder.made.commit()
    # nothing new; 30 s since the beginning; nothing new; nothing new; ten records
    assert due == [False, True, False, False, True]
    control.snapshot_requested = True
    assert recorder.made.due
    recorder.made.commit()
    assert not control.snapshot_requested
