"""Sources: all events, from any position on, whatever they are in."""

import dataclasses
import gzip
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from stream_rank.checkpoint.model_file import state_digest
from stream_rank.codec.decoder import Decoder
from stream_rank.datasets.oap_blocks import blocks
from stream_rank.errors import InputError
from stream_rank.ingest.chunk import MOST_BYTES, Records
from stream_rank.ingest.files import lines as lines_module
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.files.lines import Followed
from stream_rank.ingest.files.open_source import open_source
from stream_rank.ingest.files.synthetic import Synthetic
from stream_rank.ingest.position import BytePosition, ChainPosition, RowPosition
from tests.pipeline.conftest import Kept, loop_of

N = 3_000


def table(n_events: int = N) -> Any:
    X, y = next(blocks(1, "quadratic"))
    repeats = -(-n_events // len(y))
    X, y = np.tile(X, (repeats, 1))[:n_events], np.tile(y, repeats)[:n_events]
    return pa.table({**{f"x{i}": X[:, i] for i in range(6)}, "y": y})


def write_lines(path: Path, opener: Callable[..., Any] = open) -> None:
    with opener(path, "wb") as file:
        for row in table().to_pylist():
            y = row.pop("y")
            file.write(json.dumps({"x": row, "y": y}).encode() + b"\n")


def write_arrow(path: Path, writer: Any) -> None:
    with pa.OSFile(str(path), "wb") as sink, writer(sink, table().schema) as file:
        for batch in table().to_batches(max_chunksize=700):
            file.write_batch(batch)


def write_zstd(path: Path) -> None:
    plain = path.with_suffix("")
    write_lines(plain)
    path.write_bytes(pa.compress(plain.read_bytes(), "zstd", asbytes=True))


def write_avro(path: Path) -> None:
    x = [{"name": f"x{i}", "type": "double"} for i in range(6)]
    fields = [{"name": "x", "type": {"type": "record", "name": "X", "fields": x}}, {"name": "y", "type": "long"}]  # fmt: skip
    rows = ({"x": row, "y": row.pop("y")} for row in table().to_pylist())
    with path.open("wb") as file:
        fastavro.writer(file, {"type": "record", "name": "Event", "fields": fields}, rows)


WRITERS: dict[str, Callable[[Path], None]] = {
    "events.jsonl": write_lines,
    "events.jsonl.gz": lambda path: write_lines(path, gzip.open),
    "events.ndjson.zst": write_zstd,
    "events.csv": lambda path: pa_csv.write_csv(table(), path),
    "events.parquet": lambda path: pq.write_table(table(), path, row_group_size=1_000),
    "events.arrow": lambda path: write_arrow(path, pa.ipc.new_file),
    "events.feather": lambda path: write_arrow(path, pa.ipc.new_stream),
    "events.avro": write_avro,
}


def learned(names: list[str], loop: Any = None, until: int | None = None, **more: Any) -> Any:
    """A loop that has learned the events of a source from its position on, at least so many."""
    loop = loop or loop_of(["oap-bpm:n_members=9"])
    for chunk in open_source(names, **more).chunks(loop.progress.position):
        if chunk is not None:
            for _ in loop.take(chunk):
                pass
        if until is not None and loop.progress.counts.records >= until:
            break
    return loop


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("plain") / "events.jsonl"
    write_lines(path)
    return state_digest(learned([str(path)]).contestants[0].model)


@pytest.mark.parametrize("name", WRITERS)
def test_all_formats_are_the_same_stream(
    name: str, tmp_path: Path, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", 20_000)
    path = tmp_path / name
    WRITERS[name](path)
    whole = learned([str(path)])
    assert whole.progress.counts.learned == N
    assert state_digest(whole.contestants[0].model) == expected
    for until in (1, 64, 700, 1_500, N):  # and goes on from wherever it was
        part = learned([str(path)], until=until)
        stored = json.loads(json.dumps(part.progress.position.to_json()))
        part.progress.position = open_source([str(path)]).position_from(stored)
        assert learned([str(path)], part).progress.counts.learned == N
        assert state_digest(part.contestants[0].model) == expected


def test_files_one_behind_the_other(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.parquet"):
        WRITERS["events" + Path(name).suffix](tmp_path / name)
    names = [str(tmp_path / "a.jsonl"), str(tmp_path / "b.parquet")]
    whole = learned(names)
    assert whole.progress.counts.learned == 2 * N
    part = learned(names, until=N + 10)
    assert state_digest(learned(names, part).contestants[0].model) == state_digest(
        whole.contestants[0].model
    )
    stored = learned(names, until=10).progress.position.to_json()
    with pytest.raises(InputError, match="give the same inputs in the same order"):
        open_source(names[::-1]).position_from(stored)


def test_the_synthetic_stream_goes_on_from_anywhere() -> None:
    X = np.concatenate([X for _, (X, _) in zip(range(4), blocks(3, "raw"), strict=False)])
    source = Synthetic(4_000, seed=3, features="raw")
    for begin in (0, 1, 1_023, 1_024, 3_999, 4_000):
        rows = [chunk.features for chunk in source.chunks(RowPosition(begin)) if chunk]
        found = np.concatenate([each["x0"] for each in rows]) if rows else np.empty(0)
        assert np.array_equal(found, X[begin:4_000, 0])


def test_lines_may_be_blank_overlong_or_without_an_end(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    event = b'{"x": {"a": 1}, "y": 1}'
    parts = [
        event,
        b"",
        b"  \r",
        b"x" * (3 * MOST_BYTES),
        event + b"\r",
        b"y" * (MOST_BYTES + 1),
        event,
    ]
    path.write_bytes(b"\n".join(parts))
    kept = Kept()
    loop = learned([str(path)], loop_of(["prank"], kept=kept))
    assert loop.progress.counts.learned == 3
    assert [reason for reason, _, _ in kept.rejects] == ["longer than 1,000,000 bytes"] * 2
    assert [place.rpartition(":")[2] for _, place, _ in kept.rejects] == ["4", "6"]
    assert loop.progress.position == ChainPosition(
        0, str(path), BytePosition(path.stat().st_size, 7)
    )


def test_bad_cells_of_a_csv_are_rejects(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    rows = [
        "a,b,stars,who",
        "1,2,3,u",
        "1,2,x,u",
        "1,,2,v",
        ",,2,v",
        "1,2",
        "1,2,9,w",
        "nan,1,1,w",
        "4,5,1,w",
        '1,2,"3","q,r"',
    ]
    path.write_text("\n".join(rows) + "\n")
    kept = Kept()
    loop = loop_of(["online-mprank", "prank"], kept=kept)
    mapping = Mapping(x=("a", "b"), y="stars", group="who")
    learned([str(path)], loop, mapping=mapping)
    assert loop.progress.counts.learned == 4
    reasons = [reason for reason, _, _ in kept.rejects]
    for reason, words in zip(reasons, ["y: Input should be a valid number, not 'x'", "at least 1 item",
                                       "2 cells", "9 is not one of", "feature 'a' is nan"], strict=True):  # fmt: skip
        assert words in reason
    assert kept.rejects[0][2] == b"1,2,x,u"
    assert kept.rejects[0][1].endswith(":3")
    assert [*loop.contestants[0].model._groups._row_of] == ["u", "v", "w", "q,r"]


def test_missing_cells_are_missing_features(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    nulls = pa.table(
        {"a": [1.0, None, 2.0], "b": [None, 3, 4], "y": [1, None, 2], "id": ["p", "q", "r"]}
    )
    pq.write_table(nulls, path)
    kept = Kept()
    loop = learned([str(path)], loop_of(["prank"], kept=kept))
    assert (loop.progress.counts.learned, loop.progress.counts.requests) == (2, 1)
    assert kept.predictions[0][0] == "q"
    bad = pa.table({"a": [b"bytes"], "y": [1]})
    pq.write_table(bad, path)
    with pytest.raises(InputError, match="`fields`"):
        learned([str(path)])
    with pytest.raises(InputError, match="has no column 'stars'"):
        learned([str(path)], mapping=Mapping(y="stars"))


def test_damaged_files_say_so(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl.gz"
    write_lines(path, gzip.open)
    path.write_bytes(path.read_bytes()[:-2_000])
    loop = loop_of(["prank"])
    with pytest.raises(InputError, match=r"events\.jsonl\.gz cannot be read on"):
        learned([str(path)], loop)
    broken = tmp_path / "events.parquet"
    broken.write_bytes(b"PAR1 nonsense")
    with pytest.raises(InputError, match="cannot be read"):
        learned([str(broken)])
    with pytest.raises(InputError, match=r"is not a file; there is .*events\.parquet"):
        learned([str(tmp_path / "event.parquet")])
    (tmp_path / "events").write_text("")
    with pytest.raises(InputError, match="`format`"):
        learned([str(tmp_path / "events")])


def test_a_followed_file_is_learned_within_100_ms(tmp_path: Path) -> None:
    """Lines come one by one and in halves; none is learned before it is whole, each soon after."""
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"")
    written: list[float] = []

    def write() -> None:
        with path.open("ab", buffering=0) as file:
            for _ in range(40):
                file.write(b'{"x": {"a": 1}, ')
                time.sleep(0.01)
                written.append(time.monotonic())
                file.write(b'"y": 1}\n')
                time.sleep(0.02)

    writer, seen = threading.Thread(target=write), []
    writer.start()
    for chunk in Followed(path).chunks(None):
        if isinstance(chunk, Records):
            seen += [time.monotonic()] * len(chunk)
        if len(seen) == 40:
            break
    writer.join()
    delays = sorted(b - a for a, b in zip(written, seen, strict=True))
    assert delays[20] < 0.1  # the machine may be busy, but not half of the time
    path.write_bytes(b"")
    with pytest.raises(InputError, match="became shorter"):
        list(Followed(path).chunks(BytePosition(10, 1)))


def test_standard_input_is_learned_as_it_comes() -> None:
    program = (
        "import sys, time\n"
        "from stream_rank.ingest.files.lines import StandardInput\n"
        "for chunk in StandardInput().chunks(None):\n"
        "    if chunk is not None: print(len(chunk), flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(3):
            process.stdin.write(b"{}\n{}\n")
            process.stdin.flush()
            assert process.stdout.readline() == b"2\n"  # before the next ones are written
        process.stdin.close()
        assert process.wait() == 0


def test_lines_of_csv_are_never_joined_or_split(tmp_path: Path) -> None:
    """A cell of two lines and a bare carriage return, which cancel out when lines are only counted."""
    path = tmp_path / "events.csv"
    path.write_bytes(b'x,y,id\n1,1,"a\nb"\n1,2,c\r3,1,d\n\n4,5,"e"\r\n')
    kept = Kept()
    loop = learned([str(path)], loop_of(["prank"], kept=kept))
    assert loop.progress.counts.learned == 2
    assert [raw for _, _, raw in kept.rejects] == [b"1,2,c\r3,1,d"]
    assert loop.progress.position.at.bytes == path.stat().st_size


def test_a_line_of_csv_is_read_alike_whatever_is_beside_it(tmp_path: Path) -> None:
    cells = [
        '"1"2',
        '"1" ',
        '""1""',
        '1"',
        '"1',
        "1_0",
        "\u0661",
        '"1"',
        "+1",
        " 1",
        "1e2",
        "inf",
        '"a"b',
        '"',
    ]
    for cell in cells:
        found = []
        for beside in ("2,2", "bad,2"):
            path = tmp_path / "events.csv"
            path.write_text(f"a,y\n{cell},2\n{beside}\n")
            kept = Kept()
            loop = learned([str(path)], loop_of(["widrow-hoff"], kept=kept))
            first = [reason for reason, place, _ in kept.rejects if place.endswith(":2")]
            found.append(
                (first, loop.contestants[0].model.weights.get("a") if first == [] else None)
            )
        assert found[0][0] == found[1][0], cell
        is_reject = cell in ('"1"2', '"1" ', '""1""', '1"', '"1', "inf", '"a"b', '"')
        assert bool(found[0][0]) == is_reject, cell
        assert is_reject or (found[1][1] is None) == (cell in ("1_0", "\u0661")), cell


def test_too_many_columns_are_as_too_many_features(tmp_path: Path) -> None:
    rows = [
        {"a": 1.0},
        {"b": 1.0, "c": 1.0},
        {"a": 2.0, "d": 1.0},
        {"c": 1.0},
        {"a": -0.0},
        {"d": 1.0},
    ]
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps({"x": x, "y": -0.0}) + "\n" for x in rows))
    columns = {name: [row.get(name) for row in rows] for name in "abcd"}
    pq.write_table(pa.table({**columns, "y": [-0.0] * 6}), tmp_path / "events.parquet")
    for most in (1, 2, 3, 4):
        found = []
        for name in ("events.jsonl", "events.parquet"):
            kept = Kept()
            loop = loop_of(["pairwise-ranker", "online-mprank"], n_ranks=None, kept=kept)
            limits = dataclasses.replace(loop.decoder.limits, max_features=most)
            loop.decoder = Decoder(limits)
            learned([str(tmp_path / name)], loop)
            states = [state_digest(each.model) for each in loop.contestants]
            found.append(
                (states, loop.decoder.index.names, [reason for reason, _, _ in kept.rejects])
            )
        assert found[0] == found[1], most


def test_strange_columns(tmp_path: Path) -> None:
    """Times and ids that JSON would not have are rejects; columns that cannot be used say so."""
    import datetime

    path, x = tmp_path / "events.arrow", pa.array([1.0, 2.0])

    def write(**columns: Any) -> None:
        content = pa.table({"a": x, "y": [1, 2], **columns})
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, content.schema) as file:
            file.write_table(content)

    good = datetime.date(2026, 1, 2)
    for column, rejects in (
        ({"ts": pa.array([10**18, 10**12])}, 1),
        ({"ts": pa.array([2**63 + 5, 10**12], pa.uint64())}, 1),
        ({"ts": pa.array([True, False])}, 2),
        ({"ts": pa.array([good, good])}, 0),
        ({"ts": pa.array(["--5", "2026-01-02T00:00:00Z"])}, 1),
        ({"id": pa.array([2**64 - 1, 1], pa.uint64())}, 1),
    ):
        write(**column)
        loop = learned([str(path)], loop_of(["prank"]))
        assert (loop.progress.counts.rejects, loop.progress.counts.learned) == (
            rejects,
            2 - rejects,
        ), column
    for table, words in (
        (pa.Table.from_arrays([x, x, x], names=["a", "a", "y"]), "column 'a' twice"),
        (pa.table({}), "no column of features"),
    ):
        pq.write_table(table, tmp_path / "events.parquet")
        with pytest.raises(InputError, match=words):
            learned([str(tmp_path / "events.parquet")])


def test_columns_are_met_as_features_of_json_are(tmp_path: Path) -> None:
    rows = [{"b": 1.0}, {"b": 2.0, "a": -0.0}, {"c": 1.0}, {"a": 1.0, "b": 1.0}]
    labels = [1, 9, None, 3]  # the second is a reject, the third a request
    path = tmp_path / "events.jsonl"
    events = ({"x": x} | ({} if y is None else {"y": y}) for x, y in zip(rows, labels, strict=True))
    path.write_text("\n".join(map(json.dumps, events)))
    columns = {name: [row.get(name) for row in rows] for name in ("a", "b", "c")}
    pq.write_table(pa.table({**columns, "y": labels}), tmp_path / "events.parquet")
    kept = [Kept(), Kept()]
    specs = ["prank:kernel=gaussian(0.5)", "online-mprank:kernel=gaussian(0.5)"]
    loops = [
        learned([str(tmp_path / name)], loop_of(specs, kept=each))
        for name, each in zip(("events.jsonl", "events.parquet"), kept, strict=True)
    ]
    one, other = loops
    assert one.decoder.index.names == other.decoder.index.names == ["b", "a"]
    assert kept[0].predictions == kept[1].predictions
    assert [reason for reason, _, _ in kept[0].rejects] == [
        reason for reason, _, _ in kept[1].rejects
    ]
    for i in range(len(specs)):
        assert state_digest(one.contestants[i].model) == state_digest(other.contestants[i].model)


def test_a_mark_of_byte_order_is_none_of_the_event(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"x": [1], "y": 1}\n{"x": [1], "y": 1}\n')
    loop = learned([str(path)])
    assert (loop.progress.counts.learned, loop.progress.position.at.bytes) == (
        2,
        path.stat().st_size,
    )


def test_a_chunk_belongs_to_whoever_took_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many chunks are asked for meanwhile, from this thread or another; memory is used again once it was released."""
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", 2_000)
    path = tmp_path / "events.jsonl"
    events = [b'{"x": {"a": %d}, "y": 1}' % number for number in range(5_000)]
    path.write_bytes(b"\n".join(events) + b"\n")
    held = [chunk for chunk in lines_module.LineFile(path).chunks(None) if chunk is not None]
    assert len(held) > 50
    assert [each.raw(i) for each in held for i in range(len(each))] == events
    memories = {id(each.text) for each in held}
    assert len(memories) > 50
    for each in held:
        each.release()
    memories, chunks = set(), lines_module.LineFile(path).chunks(None)
    before = next(chunks)  # one is learned while the next is read, as the daemon does
    for chunk in chunks:
        assert before is not None
        before.release()
        before = chunk
        if chunk is not None:
            memories.add(id(chunk.text))
    assert len(memories) == 2
