"""The order that makes a run safe: sinks, snapshot, offsets; and what happens where one of the three fails."""

import socket
import subprocess
import sys
import threading
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import s3fs
from moto.server import ThreadedMotoServer
from safetensors import SafetensorError

from stream_rank.checkpoint import checkpointer
from stream_rank.checkpoint.checkpointer import Checkpointer
from stream_rank.checkpoint.store import SnapshotStore
from stream_rank.errors import RecoverableError, RetriableKafkaError, SnapshotError
from stream_rank.ingest.position import RowPosition
from stream_rank.pipeline.progress import Progress
from stream_rank.pipeline.run_control import RunControl
from stream_rank.sinks.sink import NullSink

STEPS = ["flush", "write", "commit"]


class Recorder:
    """A checkpointer whose steps are noted, and one of which fails."""

    def __init__(self, folder: Path | str, **more: Any) -> None:
        self.steps: list[str] = []
        self.fails: dict[str, Exception] = {}
        self.committed: list[Any] = []
        self.may_write = Event()
        self.may_write.set()
        self.progress = Progress(RowPosition.from_json)
        recorder = self

        class Sink(NullSink):
            def flush(self) -> None:
                recorder.step("flush")

        class Store(SnapshotStore):
            def put(self, content: bytes, records: int, now: Any = None) -> str:
                recorder.step("write")
                assert recorder.may_write.wait(60)
                return super().put(content, records, now)

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


@pytest.mark.parametrize(
    "error", [MemoryError(), SnapshotError("a state too large"), SafetensorError("x"), ValueError()]
)
@pytest.mark.parametrize("where", ["dump", "write"])
def test_a_snapshot_that_fails_for_whatever_reason_is_tried_again(
    where: str, error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(tmp_path)
    recorder.learn(5)
    recorder.fails["write"] = error
    if where == "dump":

        def failing() -> None:
            raise error

        monkeypatch.setattr(recorder.progress, "dump", failing)
    with pytest.raises(RecoverableError, match=r"no snapshot could be written.*is whole"):
        recorder.made.commit()
    assert (recorder.committed, recorder.store.latest()) == ([], None)
    recorder.fails.clear()
    monkeypatch.undo()
    recorder.made.commit()
    assert recorder.committed == [RowPosition(5)]


def test_learning_goes_on_while_a_snapshot_is_written(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, every_events=2)
    recorder.may_write.clear()
    recorder.learn(5)
    assert recorder.made.due
    recorder.made.begin()
    recorder.learn(4)
    recorder.made.settle(wait=False)
    # it is as before: nothing is safe yet
    assert (recorder.committed, recorder.made.written, recorder.made.due) == ([], 0, False)
    assert recorder.made.unsaved == 9
    recorder.may_write.set()
    recorder.made.settle()
    assert recorder.committed == [RowPosition(5)]
    assert (recorder.made.unsaved, recorder.made.due) == (4, True)
    latest = recorder.store.latest()
    assert latest is not None
    assert recorder.store.read(latest).part("progress").metadata["position"] == {"rows": 5}


def test_a_commit_at_the_end_waits_for_the_one_that_is_under_way(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    recorder.may_write.clear()
    recorder.learn(5)
    recorder.made.begin()
    recorder.learn(4)
    threading.Timer(0.2, recorder.may_write.set).start()
    recorder.made.commit()
    assert recorder.steps == ["flush", "write", "commit", "flush", "write", "commit"]
    assert recorder.committed == [RowPosition(5), RowPosition(9)]
    # and one that failed is not missed: the last has all that it had
    recorder.learn(1)
    recorder.fails["write"] = OSError(28, "No space left")
    recorder.made.begin()
    recorder.fails["write"] = OSError(5, "Input/output error")
    with pytest.raises(RecoverableError, match="Input/output"):
        recorder.made.commit()
    recorder.fails.clear()
    recorder.made.commit()
    assert recorder.committed[-1] == RowPosition(10)


def test_a_snapshot_that_hangs_is_told_once_and_stays_the_only_one(tmp_path: Path) -> None:
    now = 0.0
    recorder = Recorder(tmp_path, every_events=2, clock=lambda: now)
    recorder.may_write.clear()
    recorder.learn(5)
    recorder.made.begin()
    told = []
    for minute in range(20):
        now = 60.0 * minute
        recorder.learn(5)
        try:
            recorder.made.settle(wait=False)
        except RecoverableError as error:
            told.append((minute, str(error)))
        assert not recorder.made.due
    ((minute, said),) = told
    assert minute == 5
    assert "since 300 seconds: the store is slow, or hangs" in said
    assert recorder.steps == ["flush", "write"]
    recorder.may_write.set()
    recorder.made.settle()
    assert recorder.committed == [RowPosition(5)]
    assert recorder.made.due


def test_closing_waits_for_what_is_being_written_but_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(tmp_path)
    recorder.made.close()
    recorder.may_write.clear()
    recorder.learn(5)
    recorder.made.begin()
    threading.Timer(0.2, recorder.may_write.set).start()
    recorder.made.close()
    assert recorder.store.latest() is not None
    monkeypatch.setattr(checkpointer, "_CLOSE_SECONDS", 0.05)
    recorder.made.settle()
    recorder.may_write.clear()
    recorder.made.begin()
    recorder.made.close()
    assert len(recorder.store.kept()) == 1
    recorder.may_write.set()
    recorder.made.settle()


def test_a_store_that_hangs_does_not_keep_the_process(tmp_path: Path) -> None:
    """Neither the end of the interpreter nor a run that ends with an error waits for it."""
    script = f"""
import threading
from stream_rank.checkpoint import checkpointer
from stream_rank.checkpoint.store import SnapshotStore
from stream_rank.pipeline.progress import Progress
checkpointer._CLOSE_SECONDS = 0.1
store = SnapshotStore({str(tmp_path)!r})
store.put = lambda *_: threading.Event().wait()
made = checkpointer.Checkpointer([], {{}}, store, Progress(int))
made.begin()
made.close()
print("closed")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=True
    )
    assert (done.stdout, done.stderr) == ("closed\n", "")


def test_an_object_store_that_goes_away_is_written_to_when_it_is_back(
    s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    s3fs.S3FileSystem.clear_instance_cache()
    recorder = Recorder(f"{s3}/away")
    recorder.learn(5)
    with pytest.raises(RecoverableError, match="no snapshot could be written"):
        recorder.made.commit()
    assert recorder.committed == []
    server = ThreadedMotoServer("127.0.0.1", port)  # with the same buckets
    server.start()
    try:
        recorder.made.commit()
        assert recorder.committed == [RowPosition(5)]
        assert recorder.store.latest() == recorder.made.last.name
    finally:
        server.stop()


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
