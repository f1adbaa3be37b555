"""Tables of text are the same stream as JSON, to the bit, in any file and from any row on."""

import csv
import json
import random
import threading
import time
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stream_rank.checkpoint.model_file import state_digest
from stream_rank.codec.decoder import Decoder
from stream_rank.codec.form import EventForm
from stream_rank.ingest.chunk import Columns
from stream_rank.ingest.files import arrow_file, avro_file
from stream_rank.ingest.files import lines as lines_module
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.files.csv_file import Csv
from stream_rank.ingest.files.lines import Followed
from stream_rank.ingest.files.open_source import open_source
from tests.pipeline.conftest import loop_of

MAPPING = Mapping(categories=("user",))
LEARNERS = ["prank", "averaged-prank", "oap-bpm:n_members=9"]


def events(count: int = 400) -> list[dict[str, Any]]:
    """Ratings with names that go on coming, numbers among words, and text over several lines."""
    generator = random.Random(3)
    made = []
    for number in range(count):
        x = {
            "price": generator.choice([0.5, 2.0, "N/A", None]),
            "brand": generator.choice(["ann", "bob", f"late {number // 40}", None]),
            "said": generator.choice(['so "good",\nreally', "007", "x" * 300]),
            "user": 2**53 + generator.randint(0, number // 5),
        }
        made.append({"x": x, "y": float(generator.randint(1, 5)), "id": f"e{number}"})
    return made


def loop() -> Any:
    made = loop_of(LEARNERS)
    form = EventForm(frozenset(MAPPING.categories))
    made.decoder = Decoder(made.decoder.limits, form=form)
    return made


def learned(path: Path, made: Any = None, until: int | None = None) -> Any:
    made = made or loop()
    for chunk in open_source([str(path)], None, MAPPING).chunks(made.progress.position):
        if chunk is not None:
            for _ in made.take(chunk):
                pass
        if until is not None and made.progress.counts.records >= until:
            break
    return made


def states(made: Any) -> Any:
    names = made.decoder.index.names
    return [state_digest(each.model) for each in made.contestants], names


def write(folder: Path) -> list[Path]:
    made = events()
    columns = {name: [event["x"][name] for event in made] for name in made[0]["x"]}
    columns |= {name: [event[name] for event in made] for name in ("y", "id")}
    (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in made))
    with (folder / "events.csv").open("w", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    prices = columns.pop("price")  # of which some are text: typed columns have a kind each
    texts = [each if isinstance(each, str) else None for each in prices]
    struct = [{"price": each if isinstance(each, float) else None} for each in prices]
    table = pa.table({**columns, "brand": pa.array(columns["brand"]).dictionary_encode()})
    kept = [{**event, "x": {**event["x"], "price": None}} for event in made]
    for event, text, number in zip(kept, texts, struct, strict=True):
        event["x"] |= {"note": text, "size": number}
    (folder / "typed.jsonl").write_text("".join(json.dumps(event) + "\n" for event in kept))
    table = table.append_column("note", pa.array(texts)).append_column("size", pa.array(struct))
    pq.write_table(table, folder / "typed.parquet", row_group_size=70)
    path = str(folder / "typed.arrow")
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table, max_chunksize=90)
    write_avro(folder / "typed.avro", kept)
    return [folder / name for name in ("events.csv", "typed.parquet", "typed.arrow", "typed.avro")]


def write_avro(path: Path, made: list[dict[str, Any]]) -> None:
    """A container file of small blocks, whose schema has the types that the values have."""
    size = {"type": "record", "name": "Size", "fields": [{"name": "price", "type": ["null", "double"]}]}  # fmt: skip
    types = {"price": "null", "brand": ["null", "string"], "said": "string", "user": "long", "note": ["null", "string"], "size": size}  # fmt: skip
    fields = [{"name": name, "type": kind} for name, kind in types.items()]
    x = {"type": "record", "name": "Features", "fields": fields}
    event = [{"name": "x", "type": x}, {"name": "y", "type": "float"}, {"name": "id", "type": "string"}]  # fmt: skip
    schema = {"type": "record", "name": "Event", "fields": event}
    with path.open("wb") as file:
        fastavro.writer(file, schema, made, "snappy", sync_interval=3_000)


def test_tables_of_text_are_the_same_stream_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_file, "_NUMBERS", 200)
    monkeypatch.setattr(arrow_file, "_FEWEST_ROWS", 20)
    monkeypatch.setattr(avro_file, "_MOST_RECORDS", 10)
    for path in write(tmp_path):
        expected = states(learned(path.with_suffix(".jsonl")))
        for block in (1 << 20, 3_000):
            monkeypatch.setattr(lines_module, "_BLOCK_BYTES", block)
            whole = learned(path)
            assert whole.progress.counts.learned == 400, path.name
            assert states(whole) == expected, path.name
        for until in (1, 64, 250):
            part = learned(path, until=until)
            stored = json.loads(json.dumps(part.progress.position.to_json()))
            part.progress.position = open_source([str(path)]).position_from(stored)
            assert states(learned(path, part)) == expected, (path.name, until)


def test_a_growing_csv_is_read_record_by_record(tmp_path: Path) -> None:
    """A record is whole with the newline after its last quote."""
    path = tmp_path / "events.csv"
    path.write_bytes(b"")
    pieces = [b"a;y\n", b'"one\n', b'two";1\n"th', b'ree";2', b"\n4", b";3\n"]

    def grow() -> None:
        with path.open("ab", buffering=0) as file:
            for piece in pieces:
                file.write(piece)
                time.sleep(0.12)

    writer, texts = threading.Thread(target=grow), []
    writer.start()
    for chunk in Csv(Followed(path), Mapping()).chunks(None):
        if isinstance(chunk, Columns):
            texts += [chunk.raw(record) for record in range(len(chunk))]
        if len(texts) == 3:
            break
    writer.join()
    assert texts == [b'"one\ntwo";1', b'"three";2', b"4;3"]
