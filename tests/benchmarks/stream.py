"""The pipeline: decoding, replaying files, and many learners on one stream."""

import json
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from stream_rank import OAPBPM
from stream_rank.codec.decoder import Decoder
from stream_rank.codec.limits import Limits
from stream_rank.contestants.learner_spec import contestants_of
from stream_rank.contestants.limits import limits_of
from stream_rank.datasets.oap_stream import OAPStream
from stream_rank.evaluation.scoreboard import Scoreboard
from stream_rank.ingest.chunk import as_records
from stream_rank.ingest.files.open_source import open_source
from stream_rank.ingest.position import RowPosition
from stream_rank.pipeline.loop import Loop
from stream_rank.pipeline.progress import Progress
from stream_rank.sinks.sink import NullSink
from tests.benchmarks.measure import Line, side_by_side
from tests.codec.test_key_tree import colliding

__all__ = ["NoRejects", "decoding", "loop_of", "replays", "texts"]

_EVENTS = 40_000
_CHUNK = 8_000


def _objects(names: list[str]) -> Any:
    """Msgspec's fastest decoder for such events: a struct that has their very features."""
    features = msgspec.defstruct("Features", [(name, float) for name in names], gc=False)
    event = msgspec.defstruct("Event", [("x", features), ("y", float)], gc=False)
    return msgspec.json.Decoder(event).decode


class _ListEvent(msgspec.Struct, gc=False):
    x: list[float]
    y: float


def decoding() -> Iterator[Line]:
    """JSON into a batch, against JSON into objects."""
    generator = np.random.default_rng(0)
    names = [f"feature_{i}" for i in range(20)]
    rows = generator.random((_EVENTS, 20)).tolist()
    named = [json.dumps({"x": dict(zip(names, row, strict=True)), "y": 3}).encode() for row in rows]
    listed = [json.dumps({"x": row, "y": 3}).encode() for row in rows]
    decode, decode_list = _objects(names), msgspec.json.Decoder(_ListEvent).decode

    def batches(values: list[bytes], decoder: Decoder) -> None:
        for begin in range(0, _EVENTS, _CHUNK):
            decoder.decode(as_records(values[begin : begin + _CHUNK]))

    by_name, by_place = Decoder(Limits(n_ranks=5)), Decoder(Limits(n_ranks=5))
    ours, objects, ours_listed, objects_listed = side_by_side(
        lambda: batches(named, by_name),
        lambda: [decode(value) for value in named],
        lambda: batches(listed, by_place),
        lambda: [decode_list(value) for value in listed],
    )
    yield Line(
        "JSON to a batch, 20 named features",
        f"{_EVENTS / ours / 1e3:.0f} k events/s",
        f"msgspec to objects {_EVENTS / objects / 1e3:.0f} k",
        objects / ours,
        1.0,
    )
    yield Line(
        "the same, a list of 20 numbers",
        f"{_EVENTS / ours_listed / 1e3:.0f} k events/s",
        f"msgspec to objects {_EVENTS / objects_listed / 1e3:.0f} k",
        objects_listed / ours_listed,
        1.0,
    )
    yield Line(
        "a list of 20 numbers against 20 named features",
        f"{_EVENTS / ours_listed / 1e3:.0f} k events/s",
        f"{_EVENTS / ours / 1e3:.0f} k",
        ours / ours_listed,
        1.0,
    )


def texts() -> Iterator[Line]:
    """Numbers and texts into a batch, and names that were made to collide."""
    generator = np.random.default_rng(0)
    for values in (1_000, 20_000):
        numbers = generator.random((_CHUNK, 10)).tolist()
        chosen = generator.integers(0, values, (_CHUNK, 5)).tolist()
        events = [
            json.dumps(
                {
                    "x": {f"number_{i}": value for i, value in enumerate(row)}
                    | {f"text_{i}": f"value_{value}" for i, value in enumerate(words)},
                    "y": 3,
                }
            ).encode()
            for row, words in zip(numbers, chosen, strict=True)
        ]
        fields: list[tuple[str, type]] = [(f"number_{i}", float) for i in range(10)]
        fields += [(f"text_{i}", str) for i in range(5)]
        features = msgspec.defstruct("Features", fields, gc=False)
        event = msgspec.defstruct("Event", [("x", features), ("y", float)], gc=False)
        decode, decoder = msgspec.json.Decoder(event).decode, Decoder(Limits(max_features=200_000))
        chunk = as_records(events)
        ours, objects = side_by_side(
            partial(decoder.decode, chunk), partial(_decode_all, decode, events), rounds=20
        )
        yield Line(
            f"JSON to a batch, 10 numbers and 5 texts of {values:,} different values",
            f"{_CHUNK / ours / 1e3:.0f} k events/s",
            f"msgspec to objects {_CHUNK / objects / 1e3:.0f} k",
            objects / ours,
            1.0,
        )
    attack, others = colliding(50_000), [f"{i:096d}" for i in range(50_000)]
    made, plain = side_by_side(partial(_first_met, attack), partial(_first_met, others), rounds=3)
    yield Line(
        "50,000 names made to collide under an unkeyed hash, first met and then read",
        f"{made * 1e3:.0f} ms",
        f"50,000 others {plain * 1e3:.0f} ms",
        plain / made,
        0.33,
    )


def _decode_all(decode: Any, values: list[bytes]) -> None:
    for value in values:
        decode(value)


def _first_met(names: list[str]) -> None:
    """Decode events that bring these names, and once more when they are known."""
    decoder = Decoder(Limits())
    events = [
        json.dumps({"x": dict.fromkeys(names[begin : begin + 100], 1.0), "y": 3}).encode()
        for begin in range(0, len(names), 100)
    ]
    for _ in range(2):
        decoder.decode(as_records(events))


class NoRejects(NullSink):
    """Takes rejects, of which there are none here."""

    def put(self, item: object) -> None:
        raise AssertionError(item)


def loop_of(specs: list[str]) -> Loop:
    """The loop as commands run it."""
    contestants = contestants_of(specs, 5, 1)
    return Loop(
        contestants,
        Decoder(limits_of(contestants, 5, 1_000, delayed=False)),
        [],
        Scoreboard(contestants, 5, 5_000),
        Progress(RowPosition.from_json),
        NoRejects(),
        NullSink(),
    )


def _replay(path: Path, specs: list[str]) -> None:
    """The loop as the command runs it, without its process."""
    loop = loop_of(specs)
    for chunk in open_source([str(path)]).chunks(None):
        if chunk is not None:
            for _ in loop.take(chunk):
                pass


def _decode_only(path: Path) -> None:
    decoder = Decoder(Limits(n_ranks=5))
    for chunk in open_source([str(path)]).chunks(None):
        decoder.decode(chunk)  # type: ignore[arg-type]


def replays() -> Iterator[Line]:
    """The synthetic stream of six features, OAPBPM with 100 members."""
    n_events = 1_000_000
    X, y = OAPStream(seed=1, features="quadratic").arrays(n_events)
    names = [f"x{i}" for i in range(6)]
    decode = _objects(names)
    with tempfile.TemporaryDirectory() as folder:
        lines, table = Path(folder) / "s.jsonl", Path(folder) / "s.parquet"
        rows = zip(X.tolist(), y.tolist(), strict=True)
        events = ({"x": dict(zip(names, row, strict=True)), "y": rank} for row, rank in rows)
        lines.write_text("".join(json.dumps(event) + "\n" for event in events))
        pq.write_table(pa.table({**dict(zip(names, X.T, strict=True)), "y": y}), table)
        values = lines.read_bytes().splitlines()[:200_000]
        eight = [f"oap-bpm:seed={seed}" for seed in range(8)]
        times = side_by_side(
            lambda: _replay(lines, eight[:1]),
            lambda: [decode(value) for value in values],
            lambda: _replay(table, eight[:1]),
            lambda: OAPBPM(5, 100, 0.3, seed=0).test_then_train(X, y),
            lambda: _replay(lines, eight),
            lambda: _decode_only(lines),
            rounds=4,
        )
    from_lines, objects, from_table, engine, together, decoded = times
    objects *= n_events / len(values)  # all objects at once would not fit the caches any better
    yield Line(
        "replay from JSONL, OAPBPM 100 members, d = 6",
        f"{n_events / from_lines / 1e3:.0f} k events/s",
        f"msgspec decoding the same lines {n_events / objects / 1e3:.0f} k",
        objects / from_lines,
        0.6,
    )
    yield Line(
        "the same from Parquet",
        f"{n_events / from_table / 1e3:.0f} k events/s",
        f"the engine alone {n_events / engine / 1e3:.0f} k",
        engine / from_table,
        0.5,
    )
    saved = 8 * from_lines - together
    yield Line(
        "eight learners on one stream: what is saved",
        f"{saved * 1e3:.0f} ms of {8 * from_lines * 1e3:.0f} ms",
        f"seven decodes {7 * decoded * 1e3:.0f} ms",
        saved / (7 * decoded),
        1.0,
    )
