"""Raw events: text and numbers from JSON to a learned rule, stages in front of learners, and dicts that lack features."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from itertools import islice
from typing import Any

import fastavro
import msgspec
import numpy as np
from river import linear_model, preprocessing

from stream_rank import Normalize, PRank, Scale
from stream_rank.codec.decoder import Decoder
from stream_rank.codec.limits import Limits
from stream_rank.ingest.avro.schema import AvroSchema
from stream_rank.ingest.avro.values import FramedAvro
from stream_rank.ingest.chunk import as_records
from tests.benchmarks.measure import Line, side_by_side
from tests.benchmarks.stream import loop_of

__all__ = ["arrays", "avro", "dicts", "messages"]

JsonOf = Callable[[bytes], bytes] | None

_EVENTS, _FEWER, _CHUNK = 60_000, 12_000, 6_000
_SPEC = "scale | normalize | prank"


def _events(values: int, as_numbers: bool) -> Iterator[dict[str, Any]]:
    """Events of ten numbers and five categories of so many values, as text or as numbers of such names."""
    generator = np.random.default_rng(0)
    numbers = generator.normal(3, 2, (_EVENTS, 10)).round(4).tolist()
    chosen = generator.integers(0, values, (_EVENTS, 5)).tolist()
    labels = generator.integers(1, 6, _EVENTS).tolist()
    for row, words, y in zip(numbers, chosen, labels, strict=True):
        x: dict[str, Any] = {f"number_{i}": value for i, value in enumerate(row)}
        for i, word in enumerate(words):
            x |= {f"text_{i}=value_{word}": 1} if as_numbers else {f"text_{i}": f"value_{word}"}
        yield {"x": x, "y": y}


def _lines(values: int, as_numbers: bool) -> list[bytes]:
    """The same as JSON."""
    return [json.dumps(event).encode() for event in _events(values, as_numbers)]


def _learned(loop: Any, lines: list[bytes], json_of: JsonOf = None) -> None:
    for begin in range(0, len(lines), _CHUNK):
        some = lines[begin : begin + _CHUNK]
        asked = None if json_of is None else partial(_json, json_of, some)
        for _ in loop.take(as_records(some, json_of=asked)):
            pass


def _json(json_of: Callable[[bytes], bytes], values: list[bytes], record: int) -> bytes:
    return json_of(values[record])


def _rate(seconds: float, events: int = _EVENTS) -> str:
    return f"{events / seconds / 1e3:.0f} k events/s"


def messages() -> Iterator[Line]:
    """From JSON to the scoreboard, once every text was met."""
    fields: list[tuple[str, type]] = [(f"number_{i}", float) for i in range(10)]
    fields += [(f"text_{i}", str) for i in range(5)]
    features = msgspec.defstruct("Features", fields, gc=False)
    decode = msgspec.json.Decoder(
        msgspec.defstruct("Event", [("x", features), ("y", float)], gc=False)
    ).decode
    for values in (1_000, 20_000):
        texts, numbers = _lines(values, False), _lines(values, True)
        loops = []
        for lines in (texts, numbers):
            loop = _new_loop()
            _learned(loop, lines)
            loops.append(loop)
        ours, named, objects = side_by_side(
            partial(_learned, loops[0], texts),
            partial(_learned, loops[1], numbers),
            partial(_all, decode, texts),
            rounds=4,
        )
        yield Line(
            f"JSON of 10 numbers and 5 texts of {values:,} different values each, {_SPEC}",
            _rate(ours),
            f"msgspec's typed decoding of the same lines {_rate(objects)}",
            objects / ours,
            0.5,
        )
        yield Line(
            'the same against features as `"user=17": 1`',
            _rate(ours),
            _rate(named),
            named / ours,
            1.0,
        )


def avro() -> Iterator[Line]:
    """The same events as Avro in the registry's framing: each value is read, and becomes JSON before it is an event."""
    fields = [{"name": f"number_{i}", "type": "double"} for i in range(10)]
    fields += [{"name": f"text_{i}", "type": "string"} for i in range(5)]
    features = {"type": "record", "name": "Features", "fields": fields}
    kinds = [{"name": "x", "type": features}, {"name": "y", "type": "int"}]
    schema = {"type": "record", "name": "Event", "fields": kinds}
    parsed, values = fastavro.parse_schema(schema), []
    for event in islice(_events(1_000, False), _FEWER):
        value = BytesIO()
        fastavro.schemaless_writer(value, parsed, event)
        values.append(bytes([0, 0, 0, 0, 7]) + value.getvalue())

    def read() -> None:
        for value in values:
            fastavro.schemaless_reader(BytesIO(value[5:]), parsed, None)

    loop, json_of = _new_loop(), FramedAvro(AvroSchema(json.dumps(schema))).json
    ours, objects = side_by_side(partial(_learned, loop, values, json_of), read, rounds=4)
    yield Line(
        f"Avro of 10 numbers and 5 texts of 1,000 different values each, in the registry's framing, {_SPEC}",
        _rate(ours, _FEWER),
        f"fastavro's reading of the same values {_rate(objects, _FEWER)}",
        objects / ours,
        None,
    )


def _new_loop() -> Any:
    loop = loop_of([_SPEC])
    loop.decoder = Decoder(Limits(n_ranks=5, max_features=200_000))
    return loop


def arrays() -> Iterator[Line]:
    """A hundred numbers from an array, behind stages."""
    generator = np.random.default_rng(0)
    X = generator.normal(3, 2, (_EVENTS, 100))
    y = generator.integers(1, 6, _EVENTS)
    bare, prepared = PRank(5), Scale() | Normalize() | PRank(5)
    peer = preprocessing.StandardScaler() | linear_model.LinearRegression()
    few = [
        (dict(enumerate(row)), label)
        for row, label in zip(X[:2_000].tolist(), y.tolist(), strict=False)
    ]

    def loop() -> None:
        for x, label in few:
            peer.predict_one(x)
            peer.learn_one(x, label)

    alone, behind, river = side_by_side(
        lambda: bare.test_then_train(X, y), lambda: prepared.test_then_train(X, y), loop, rounds=6
    )
    river *= _EVENTS / len(few)
    yield Line(
        f"{_SPEC} from an array, 100 features: its time, at most 5 times",
        _rate(behind),
        f"a bare PRank {_rate(alone)}",
        alone / behind,
        0.2,
    )
    yield Line(
        "the same",
        _rate(behind),
        f"River's StandardScaler | LinearRegression {_rate(river)}",
        river / behind,
        20.0,
    )


def _all(decode: Any, lines: list[bytes]) -> None:
    for line in lines:
        decode(line)


def _one_by_one(model: Any, events: list[Any], labels: list[int]) -> None:
    for x, label in zip(events, labels, strict=True):
        model.predict_one(x)
        model.learn_one(x, label)


def dicts() -> Iterator[Line]:
    """Dicts that have some of the features."""
    generator = np.random.default_rng(0)
    count = 20_000
    names = [f"f{i}" for i in range(20)]
    labels = generator.integers(1, 6, count).tolist()
    half = [
        {names[i]: 0.5 for i in generator.choice(20, 10, replace=False).tolist()}
        for _ in range(count)
    ]
    rare = [
        {f"user={i}": 1.0 for i in generator.integers(0, 10_000, 20).tolist()} for _ in range(count)
    ]
    for what, events in (
        ("dicts with half of 20 known features", half),
        ("dicts with 20 indicators out of 10,000", rare),
    ):
        models: list[Any] = [PRank(5), linear_model.LinearRegression()]

        ours, river = side_by_side(
            *(partial(_one_by_one, model, events, labels) for model in models), rounds=4
        )
        yield Line(
            f"PRank, {what}",
            _rate(ours, count),
            f"River's LinearRegression {_rate(river, count)}",
            river / ours,
            1.0,
        )
