"""Avro becomes the JSON that the same event would be, and nothing that anybody can send does more than be rejected."""

import json
import struct
from io import BytesIO
from typing import Any

import fastavro
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_rank.errors import InputError, UnreadableError
from stream_rank.ingest.avro.schema import AvroSchema
from tests.ingest.avro.strategies import Case, cases, encoded


def of(schema: Any) -> AvroSchema:
    return AvroSchema(json.dumps(schema))


def integer(value: int) -> bytes:
    return encoded("long", value)


@given(cases())
@settings(max_examples=400, deadline=None)
def test_values_are_as_in_json(case: Case) -> None:
    raw, schema = encoded(case.schema, case.value), of(case.schema)
    assert schema.end(np.frombuffer(raw + b"more", np.uint8), 0, len(raw) + 4) == len(raw)
    found = json.loads(schema.json(raw))
    assert repr(found) == repr(json.loads(json.dumps(case.content)))


@given(cases(), st.data())
@settings(max_examples=600, deadline=None)
def test_what_is_damaged_is_rejected_or_read_as_fastavro_does(case: Case, data: Any) -> None:
    raw = bytearray(encoded(case.schema, case.value) + data.draw(st.binary(max_size=3)))
    for _ in range(data.draw(st.integers(0, 3)) if raw else 0):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    raw = raw[: data.draw(st.integers(0, len(raw)))]
    try:
        text = of(case.schema).json(bytes(raw))
    except UnreadableError:
        return
    file = BytesIO(raw)
    again = fastavro.schemaless_reader(file, fastavro.parse_schema(case.schema), None)
    assert file.read() == b""
    assert set(json.loads(text) or ()) == set(again or ()) if isinstance(again, dict) else True


LIST = {"type": "record", "name": "L", "fields": [{"name": "next", "type": ["null", "L"]}]}
ENDLESS = {"type": "record", "name": "E", "fields": [{"name": "self", "type": "E"}]}
EMPTY = {"type": "record", "name": "Z", "fields": []}
ARRAY = {"type": "array", "items": "null"}


def twins(depth: int) -> Any:
    """A schema of some lines whose one value has 2^depth others in no bytes."""
    inner: Any = "null"
    for level in range(depth):
        fields = [{"name": "a", "type": inner}, {"name": "b", "type": f"T{level - 1}" if level else "null"}]  # fmt: skip
        inner = {"type": "record", "name": f"T{level}", "fields": fields}
    return inner


@pytest.mark.parametrize(("schema", "raw", "words"), [
    (ARRAY, integer(2**40) + b"\0", "more than 100,000 values"),
    (ARRAY, integer(2**62) * 3 + b"\0", "more than 100,000 values"),
    (ARRAY, integer(-(2**63)) + b"\0" * 9, "not Avro"),
    (ARRAY, integer(-3) + b"\0", "not Avro"),
    ({"type": "array", "items": EMPTY}, integer(2**40) + b"\0", "more than 100,000 values"),
    ({"type": "map", "values": "null"}, integer(2**40) + b"\0", "not Avro"),
    (LIST, b"\2" * 30_000 + b"\0", "more than 100 values"),
    (LIST, b"\2" * 999_999, "more than 100 values"),
    (ENDLESS, b"", "more than 100 values"),
    (twins(40), b"", "more than 100,000 values"),
    ("string", integer(2**62) + b"a", "not Avro"),
    ("string", integer(-1), "not Avro"),
    ("string", integer(2) + b"\xff\xfe", "codec can't decode"),
    ("bytes", b"\xff" * 10 + b"\1", "not Avro"),
    ("long", b"\x80" * 1000, "not Avro"),
    ("long", b"", "not Avro"),
    ("boolean", b"\2", "not Avro"),
    ("double", b"\0" * 7, "not Avro"),
    ("int", b"\2\2", "1 bytes are left over"),
    (["null", "int"], b"\4\2", "not Avro"),
    (["null", "int"], b"\1\2", "not Avro"),
    ({"type": "enum", "name": "E", "symbols": ["a", "b"]}, b"\1", "not Avro"),
    ({"type": "enum", "name": "E", "symbols": ["a", "b"]}, b"\4", "not Avro"),
    ({"type": "fixed", "name": "F", "size": 5}, b"\0" * 4, "not Avro"),
    ({"type": "long", "logicalType": "timestamp-millis"}, integer(2**62), "not Avro of its schema: "),
    ({"type": "int", "logicalType": "date"}, integer(2**31 - 1), "not Avro of its schema: "),
    ({"type": "string", "logicalType": "uuid"}, integer(1) + b"a", "not Avro of its schema: "),
    ({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2},
     integer(500_000) + b"\x7f" * 500_000, "not Avro"),
])  # fmt: skip
def test_hostile_values_are_rejected(schema: Any, raw: bytes, words: str) -> None:
    with pytest.raises(UnreadableError, match=words):
        of(schema).json(raw)


def test_numbers_that_json_has_not_are_for_whoever_needs_them() -> None:
    schema = of({"type": "array", "items": ["null", "double", "float"]})
    raw = integer(3) + b"\2" + struct.pack("<d", float("nan")) + b"\4" + struct.pack("<f", float("-inf")) + b"\0\0"  # fmt: skip
    assert schema.json(raw) == b"[1e999,1e999,null]"


def test_references_are_other_schemas() -> None:
    inner = '{"type": "record", "name": "shop.User", "fields": [{"name": "id", "type": "long"}]}'
    outer = '{"type": "record", "name": "Event", "fields": [{"name": "user", "type": "shop.User"}]}'
    assert AvroSchema(outer, [inner]).json(integer(17)) == b'{"user":{"id":17}}'
    with pytest.raises(InputError, match=r"an Avro schema cannot be read: .*shop.User"):
        AvroSchema(outer)


@pytest.mark.parametrize("text", [
    "", "nothing", "3", "null", "true", "[3]", '"shop.User"', "[" * 100_000, '{"type": "array"}',
    '{"type": "record", "name": "R", "fields": 3}', '{"type": "fixed", "name": "F", "size": -4}',
    '{"type": "fixed", "name": "F", "size": "a"}', '{"type": "fixed", "name": "F", "size": 1e30}', '{"type": {"type": {}}}',
    f'{{"type": "fixed", "name": "F", "size": {10**30}}}',
    '{"type": "fixed", "name": "F", "size": 600, "logicalType": "decimal", "precision": 4}',
    '{"type":"array","items":' * 3_000 + '"int"' + "}" * 3_000,
    json.dumps({"type": "record", "name": "R", "fields": [{"name": "a" * 600, "type": "int"}]}),
])  # fmt: skip
def test_schemas_that_cannot_be(text: str) -> None:
    with pytest.raises(InputError, match="an Avro schema cannot be read"):
        AvroSchema(text)
