"""Avro's object container files: in any codec, from any record on, and whatever is damaged costs its block at most."""

import random
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_rank.codec.decoder import Decoder
from stream_rank.codec.limits import Limits
from stream_rank.errors import ConfigError, InputError
from stream_rank.ingest.files import avro_blocks
from stream_rank.ingest.files.avro_file import AvroFile
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.files.open_source import open_source
from stream_rank.ingest.position import BlockPosition
from tests.ingest.avro.strategies import encoded

X = {"type": "map", "values": ["null", "double", "string"]}
SCHEMA = {
    "type": "record",
    "name": "Event",
    "fields": [{"name": "x", "type": X}, {"name": "y", "type": "int"}],
}
SYNC = b"0123456789abcdef"


def events(count: int = 300) -> list[dict[str, Any]]:
    return [{"x": {"a": i / 7, "of": f"v{i % 9}", "no": None}, "y": i % 5} for i in range(count)]


def block(texts: list[bytes], count: int | None = None, pack: Any = bytes) -> bytes:
    packed: bytes = pack(b"".join(texts))
    counted = encoded("long", len(texts) if count is None else count)
    whole: bytes = counted + encoded("long", len(packed)) + packed + SYNC
    return whole


def container(blocks: list[bytes], codec: str = "null", schema: Any = SCHEMA) -> bytes:
    file = BytesIO()
    fastavro.writer(file, schema, [], sync_marker=SYNC)
    return file.getvalue().replace(b"\x08null", encoded("string", codec)) + b"".join(blocks)


def labels(path: Path, position: BlockPosition | None = None) -> tuple[list[float], list[str]]:
    """The labels, and why the rejects are none."""
    decoder, found, reasons = Decoder(Limits()), list[float](), list[str]()
    for chunk in AvroFile(path).chunks(position):
        assert chunk is not None
        batch = decoder.decode(chunk)
        found += batch.labels.tolist()
        reasons += [reject.reason for reject in batch.rejects]
        for record in range(len(chunk)):
            assert chunk.place_of(record).startswith(f"{path}: record ")
    return found, reasons


def crc(text: bytes) -> bytes:
    return zlib.crc32(text).to_bytes(4, "big")


@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2", "xz", "snappy", "zstandard"])
def test_every_codec(codec: str, tmp_path: Path) -> None:
    path, made = tmp_path / "events.avro", events()
    with path.open("wb") as file:
        if codec == "zstandard":  # which fastavro writes by another package
            texts = [encoded(SCHEMA, event) for event in made]
            blocks = [
                block(texts[i : i + 50], pack=lambda text: pa.compress(text, "zstd", asbytes=True))
                for i in range(0, 300, 50)
            ]
            file.write(container(blocks, "zstandard"))
        else:
            fastavro.writer(file, SCHEMA, made, codec, sync_interval=1_000)
    expected = [float(event["y"]) for event in made]
    assert labels(path) == (expected, [])
    chunks = [chunk for chunk in AvroFile(path).chunks(None) if chunk is not None]
    assert len(chunks) > 3
    done = 0
    for chunk in chunks:  # and from any record on
        for count in {1, len(chunk) // 2 or 1, len(chunk)}:
            stored = AvroFile(path).position_from(chunk.position_after(count).to_json())
            assert labels(path, stored) == (expected[done + count :], [])
        done += len(chunk)


def test_what_is_damaged_costs_the_rest_of_its_block(tmp_path: Path) -> None:
    path = tmp_path / "events.avro"
    texts = [encoded(SCHEMA, {"x": {"a": 1.0}, "y": y}) for y in range(6)]
    bad = texts[1][:-1] + b"\xff"
    path.write_bytes(container([
        block([texts[0], bad, texts[2]]),
        block([texts[3], texts[4] + b"\1\2\3"]),
        block([texts[5], b"\xff" * 3_000_000]),
        block(texts),
    ]))  # fmt: skip
    found, reasons = labels(path)
    assert found[0] == 0.0
    assert found[-6:] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert "more records of the block are lost" in "".join(reasons)
    assert "3 bytes of Avro are left over behind the last record" in reasons[1]
    assert len(reasons) == 3


@pytest.mark.parametrize(("text", "words"), [
    (b"", "is no Avro object container file"), (b"PAR1", "is no Avro object container file"),
    (b"Obj\1", "is damaged, or was not written to its end"), (b"Obj\1" + b"\xff" * 99, "is damaged"),
    (b"Obj\1" + encoded("long", 2**62) + b"\0" * 40, "is damaged"),
    (container([], "lz4"), "is compressed by 'lz4'"), (container([], schema="int")[:20], "is damaged"),
    (container([block([b"\0\0"], 2**40)]), "has 1 records, not 1,099,511,627,776"),
    (container([block([b"\0\0"], -1)]), "is damaged"), (container([block([b"\0\0"])])[:-1], "is damaged"),
    (container([block([b"\0\0"])[:-1] + b"!"]), "is damaged"),
    (container([b"\2" + encoded("long", 2**50)]), "is damaged"), (container([b"\2" + encoded("long", -2)]), "is damaged"),
    (container([block([b"\0\0"])], "deflate"), "cannot be read"), (container([block([b"\0\0"])], "snappy"), "cannot be read"),
    (container([block([b"\0\0"])], "xz"), "cannot be read"), (container([block([b"\0\0"])], "bzip2"), "cannot be read"),
    (container([block([b"\0\0"])], "zstandard"), "cannot be read"),
    (container([block([b"\0\0"])]).replace(b'"record"', b'"recorf"'), "an Avro schema cannot be read"),
    (container([block([b"\0\0"], pack=lambda text: b"\xff\xff\xff\xff\x7f" + crc(text))], "snappy"), "cannot be read"),
])  # fmt: skip
def test_files_that_cannot_be_read(text: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "events.avro"
    path.write_bytes(text)
    with pytest.raises(InputError, match=words):
        labels(path)


@pytest.mark.parametrize("codec", ["deflate", "zstandard", "bzip2", "xz", "snappy"])
def test_blocks_do_not_become_larger_than_memory_bears(
    codec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(avro_blocks, "_MOST_BYTES", 100_000)
    import bz2
    import lzma

    def deflate(text: bytes) -> bytes:
        stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        return stream.compress(text) + stream.flush()

    pack: Any = {
        "deflate": deflate,
        "zstandard": lambda text: pa.compress(text, "zstd", asbytes=True),
        "bzip2": bz2.compress,
        "xz": lzma.compress,
        "snappy": lambda text: pa.compress(text, "snappy", asbytes=True) + crc(text),
    }[codec]
    path = tmp_path / "events.avro"
    path.write_bytes(container([block([b"\0" * 1_000_000], pack=pack)], codec))
    with pytest.raises(InputError, match=r"has more than 100,000 bytes|LZMA|emory"):
        labels(path)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_no_damage_does_more_than_be_said(
    tmp_path_factory: pytest.TempPathFactory, data: Any
) -> None:
    seed = random.Random(data.draw(st.integers(0, 2**32)))
    texts = [encoded(SCHEMA, event) for event in events(20)]
    raw = bytearray(container([block(texts[:10]), block(texts[10:])]))
    for _ in range(seed.randint(1, 4)):
        raw[seed.randrange(len(raw))] = seed.randrange(256)
    path = tmp_path_factory.mktemp("damaged") / "events.avro"
    path.write_bytes(raw)
    try:
        found, reasons = labels(path)
    except InputError:
        return
    assert len(found) + len(reasons) <= 40


def test_what_cannot_be_said_of_it(tmp_path: Path) -> None:
    path = tmp_path / "events.avro"
    path.write_bytes(container([]))
    with pytest.raises(ConfigError, match="are of tables"):
        open_source([str(path)], mapping=Mapping(ranking="order"))
    with pytest.raises(InputError, match="avro can be read from whole files only"):
        open_source(["-"], "avro")
    assert open_source([str(path)]).progress(None) == 0.0
