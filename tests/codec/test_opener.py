"""Records that are something else than JSON are read as the JSON of the same events, to the bit."""

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_rank.codec.batch import SKIPPED
from stream_rank.codec.decoder import Decoder
from stream_rank.codec.event import Kind
from stream_rank.codec.fields import Fields
from stream_rank.codec.form import EventForm
from stream_rank.codec.limits import Limits
from stream_rank.ingest.avro.schema import AvroSchema
from stream_rank.ingest.avro.values import FramedAvro
from stream_rank.ingest.chunk import MOST_BYTES, Records, as_records
from stream_rank.ingest.message import Headers
from tests.codec.test_fields import damaged
from tests.ingest.avro.strategies import Case, cases, encoded

BINARY: Headers = [
    ("ce_specversion", b"1.0"), ("ce_id", b"A-1"), ("ce_time", b"1970-01-01T00:00:01Z"),
    ("ce_source", b"/shop"), ("ce_type", b"rated"), ("content-type", b"application/json"), ("trace", None),
]  # fmt: skip
STRUCTURED: Headers = [("content-type", b"application/cloudevents+json; charset=UTF-8")]
CLOUDEVENTS = EventForm(envelope="cloudevents")
EVENT: dict[str, Any] = {"x": {"a": 1.5, "of": "ann"}, "y": 2}


def messages(values: list[bytes], headers: list[Headers]) -> Records:
    return as_records(values, blank_is_nothing=False, headers_of=headers.__getitem__)


def read(chunk: Records, decoder: Decoder) -> Any:
    """All that a batch says."""
    batch = decoder.decode(chunk)
    rejects = [(each.record, each.reason, each.raw) for each in batch.rejects]
    ids = None if batch.ids is None else batch.ids.tolist()
    columns = batch.kinds, batch.labels, batch.times, batch.records
    found = [column.tolist() for column in columns], ids, list(batch.rows.dicts())
    return repr(found), rejects


def decoder(form: EventForm = CLOUDEVENTS) -> Decoder:
    return Decoder(Limits(named=True), form=form)


def structured(event: dict[str, Any], name: str = "A-1") -> bytes:
    around = {"specversion": "1.0", "id": name, "time": "1970-01-01T00:00:01Z"}
    return json.dumps({**around, "data": event}).encode()


def test_binary_and_structured_cloudevents_are_the_same() -> None:
    generator, values, headers, expected = random.Random(1), list[bytes](), list[Headers](), []
    for number in range(400):
        event: dict[str, Any] = {"x": {"a": generator.random(), f"of{number % 7}": "ann"}, "y": number % 5}  # fmt: skip
        if number % 3 == 0:
            event |= {"id": number, "ts": 5}
        expected.append(structured(event, f"é{number}"))
        binary = number % 2 == 0
        values.append(json.dumps(event).encode() if binary else expected[-1])
        named = [(key, f"é{number}".encode() if key == "ce_id" else value) for key, value in BINARY]
        headers.append(named if binary else generator.choice([STRUCTURED, [], [*BINARY, *STRUCTURED]]))  # fmt: skip
    whole = read(messages(values, headers), decoder())
    assert whole[1] == []
    assert whole == read(as_records(expected), decoder())


def test_parts_of_a_chunk_have_their_own_headers_and_json() -> None:
    values = [b"%d" % i for i in range(6)]
    chunk = as_records(
        values, headers_of=lambda i: [("n", values[i])], json_of=lambda i: values[i] * 2
    )
    part = chunk.part(2, 5).part(1, 3)
    assert part.headers_of is not None
    assert part.json_of is not None
    assert [(part.raw(i), part.headers_of(i), part.json_of(i)) for i in range(2)] == [
        (b"3", [("n", b"3")], b"33"),
        (b"4", [("n", b"4")], b"44"),
    ]


def test_the_scanner_reads_binary_cloudevents() -> None:
    """None of them is left to others, once their names are known."""
    made, asked = decoder(), list[bytes]()
    values = [json.dumps({"x": {"a": i, "of": "ann"}, "y": 2}).encode() for i in range(50)]
    chunk = messages(values, [BINARY] * 50)
    made.decode(chunk)
    made._event = asked.append  # type: ignore[assignment, method-assign]
    batch = made.decode(chunk)
    assert (len(batch), asked) == (50, [])
    assert batch.ids is not None
    assert batch.ids.tolist() == ["A-1"] * 50


def test_headers_are_not_asked_for_without_need() -> None:
    def headers_of(record: int) -> Headers:
        raise AssertionError(record)

    chunk = as_records([json.dumps(EVENT).encode()], headers_of=headers_of)
    for form in (EventForm(), EventForm(envelope="debezium")):
        decoder(form).decode(chunk)


@pytest.mark.parametrize(("value", "headers", "words"), [
    (b'{"x": {"a": 1}},"data":{"x":{"a":2}', BINARY, "not JSON"), (b"", BINARY, None), (b"no", BINARY, "not JSON"),
    (b"[" * 100_000, BINARY, "not JSON"), (b'{"x":' * 50_000 + b"1" + b"}" * 50_000, BINARY, "not JSON"),
    (b'{"x": {"a": 1}', BINARY, "not JSON"), (b"\xff", BINARY, "not JSON"), (b"3", BINARY, "data: an object is needed"),
    (b'{"x": {"a": 1}}' + b" " * MOST_BYTES, BINARY, "longer than"), (b'{"x": {"a": [1]}}', BINARY, "feature 'a' is a list"),
    (b'{"x": {"a": 1}}', [("ce_specversion", b"1.0"), ("ce_id", b"\xff")], "ce_id: the header of a CloudEvent is no UTF-8"),
    (b'{"x": {"a": 1}}', [("ce_specversion", b"1.0"), ("ce_time", b"soon")], "ts: Value error, time 'soon'"),
    (b'{"x": {"a": 1}}', [("ce_id", b"7")], "data: Field required"), (b'{"x": {"a": 1}}', STRUCTURED, "data: Field required"),
])  # fmt: skip
def test_what_is_wrong_is_said_with_the_bytes_that_came(
    value: bytes, headers: Headers, words: str | None
) -> None:
    good = json.dumps(EVENT).encode()
    for values, which in (([value], 0), ([good, value, good], 1)):
        chunk = messages(values, [headers if each is value else BINARY for each in values])
        batch = decoder().decode(chunk)
        if words is None:
            assert batch.kinds[which] == SKIPPED
        else:
            (reject,) = batch.rejects
            assert words in reject.reason
            assert (reject.record, reject.raw) == (which, value)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_a_value_in_binary_mode_is_what_it_would_be_as_data(data: Any) -> None:
    """Nothing in a value makes more of it than an event."""
    text = '{"x": {"a": 1, "b": "c"}, "y": 2, "id": "}"}'
    raw = damaged(data.draw, text)
    try:
        json.loads(raw)
        event = b'{"id":"A-1","time":"1970-01-01T00:00:01Z","data":' + raw + b"}"
    except ValueError:
        event = raw
    found, rejects = read(messages([raw], [BINARY]), decoder())
    expected, others = read(messages([event], [STRUCTURED]), decoder())
    assert found == expected
    assert len(rejects) == len(others)


# Avro ---------------------------------------------------------------------------------------


@given(st.lists(cases(), min_size=1, max_size=4), st.lists(st.integers(0, 3), max_size=6))
@settings(max_examples=300, deadline=None)
def test_avro_is_learned_as_json_is(parts: list[Case], ranks: list[int]) -> None:
    names = [f"f{i}" for i in range(len(parts))]
    x = [{"name": name, "type": part.schema} for name, part in zip(names, parts, strict=True)]
    record = {"type": "record", "name": "X", "fields": x}
    event = [{"name": "x", "type": record}, {"name": "y", "type": ["null", "int"]}]
    schema = {"type": "record", "name": "Event", "fields": event}
    features = {name: part.value for name, part in zip(names, parts, strict=True)}
    content = {name: part.content for name, part in zip(names, parts, strict=True)}
    labels = [None, *ranks]
    values = [encoded(schema, {"x": features, "y": y}) for y in labels]
    avro = AvroSchema(json.dumps(schema))
    chunk = as_records(values, json_of=lambda record: avro.json(values[record]))
    text = as_records([json.dumps({"x": content, "y": y}).encode() for y in labels])
    found, rejects = read(chunk, decoder(EventForm()))
    expected, others = read(text, decoder(EventForm()))
    assert found == expected
    assert [each[:2] for each in rejects] == [each[:2] for each in others]
    assert all(raw == values[record] for record, _, raw in rejects)


def test_avro_may_have_attributes_too_and_debezium_s_form() -> None:
    schema = {"type": "map", "values": {"type": "map", "values": "double"}}
    avro, value = AvroSchema(json.dumps(schema)), encoded(schema, {"x": {"a": 1.5}})
    chunk = as_records([value], headers_of=lambda _: BINARY, json_of=lambda _: avro.json(value))
    batch = decoder().decode(chunk)
    assert batch.ids is not None
    assert (batch.ids.tolist(), batch.times.tolist()) == (["A-1"], [1000])
    row = {"type": "record", "name": "Row", "fields": [{"name": "stars", "type": "int"}, {"name": "price", "type": "float"}]}  # fmt: skip
    change = {"type": "record", "name": "Envelope", "fields": [
        {"name": "before", "type": ["null", row]}, {"name": "after", "type": ["null", "Row"]}, {"name": "op", "type": "string"},
    ]}  # fmt: skip
    schema_of_change = AvroSchema(json.dumps(change))
    rows = [{"before": None, "after": {"stars": 4, "price": 9.5}, "op": "c"}, {"before": {"stars": 4, "price": 9.5}, "after": None, "op": "d"}]  # fmt: skip
    values = [*(encoded(change, each) for each in rows), b""]
    chunk = as_records(values, blank_is_nothing=False, json_of=lambda i: schema_of_change.json(values[i]))  # fmt: skip
    form = EventForm(envelope="debezium", fields=Fields(y="stars"))
    batch = Decoder(Limits(), form=form).decode(chunk)
    assert batch.kinds.tolist() == [Kind.RATING, SKIPPED, SKIPPED]
    assert next(iter(batch.rows.dicts())) == {"price": 9.5}


def test_garbage_is_rejected_with_its_bytes() -> None:
    generator = random.Random(4)
    fields = [{"name": "x", "type": {"type": "map", "values": "double"}}, {"name": "y", "type": "int"}]  # fmt: skip
    schema = {"type": "record", "name": "Event", "fields": fields}
    good = b"\0\0\0\0\1" + encoded(schema, {"x": {"a": 1.0}, "y": 1})
    values = [good]
    for number in range(1_000):
        value = bytearray(generator.randbytes(generator.randrange(1, 40)))
        if number % 2:
            value = bytearray(good)
            value[generator.randrange(len(value))] = generator.randrange(256)
        values.append(bytes(value[: generator.randrange(1, len(value) + 1)]))
    framed = FramedAvro(AvroSchema(json.dumps(schema)))
    chunk = as_records(values, blank_is_nothing=False, json_of=lambda i: framed.json(values[i]))
    batch = decoder(EventForm()).decode(chunk)
    assert len(batch) + len(batch.rejects) == len(values)
    assert len(batch.rejects) > 700
    assert all(reject.raw == values[reject.record] for reject in batch.rejects)
