"""Sinks go back to their own marks, and to nobody else's."""

from pathlib import Path

import pytest

from stream_rank.checkpoint.checkpointer import Checkpointer
from stream_rank.checkpoint.store import SnapshotStore
from stream_rank.errors import WriteError
from stream_rank.ingest.kafka.memory_broker import MemoryBroker, MemoryProducer
from stream_rank.ingest.position import RowPosition
from stream_rank.pipeline.progress import Progress
from stream_rank.sinks.dead_letters import dead_letter_topic
from stream_rank.sinks.rejects import reject_file
from stream_rank.sinks.sink import Rejected, Sink

REJECT = Rejected("no event", "schema", "file:1", b"raw")


def checkpointer(sink: Sink[Rejected], folder: Path) -> Checkpointer:
    progress = Progress(RowPosition.from_json)
    return Checkpointer([progress], {"rejects": sink}, SnapshotStore(str(folder)), progress)


def test_a_file_goes_back_to_its_mark(tmp_path: Path) -> None:
    sink = reject_file(tmp_path / "rejects.jsonl")
    sink.restore(0)
    sink.put(REJECT)
    sink.flush()
    mark = sink.mark()
    sink.put(REJECT)
    sink.close()
    again = reject_file(tmp_path / "rejects.jsonl")
    again.restore(mark)
    again.close()
    assert (tmp_path / "rejects.jsonl").stat().st_size == mark
    (tmp_path / "rejects.jsonl").write_bytes(b"")
    with pytest.raises(WriteError, match="it is not the file of this run"):
        again.restore(mark)
    again.close()


def test_a_run_may_change_from_a_topic_to_a_file_and_back(tmp_path: Path) -> None:
    """A mark counts messages of the one and bytes of the other: neither is cut by what was the other's."""
    broker = MemoryBroker()
    broker.create("letters")
    letters = dead_letter_topic(MemoryProducer(broker), "letters")
    before = checkpointer(letters, tmp_path)
    before.restore(None)
    snapshot = before.snapshot()
    assert snapshot.metadata["sinks"] == {"rejects": ["messages", 0]}
    path = tmp_path / "rejects.jsonl"
    path.write_bytes(b"of an earlier time\n")
    file = reject_file(path)
    now = checkpointer(file, tmp_path)
    now.restore(snapshot)
    file.put(REJECT)
    file.flush()
    assert path.read_bytes().startswith(b"of an earlier time\n{")
    back = checkpointer(letters, tmp_path)
    back.restore(now.snapshot())
    assert letters.mark() == 0
    file.close()
