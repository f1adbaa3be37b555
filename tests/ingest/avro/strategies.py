"""Avro schemas and values of them, for Hypothesis, with the JSON that the value should become."""

import base64
import uuid
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from io import BytesIO
from typing import Any, NamedTuple

import fastavro
from hypothesis import strategies as st

__all__ = ["Case", "cases", "encoded"]


class Case(NamedTuple):
    """A schema, a value that fastavro writes by it, and the same as parsed JSON has it."""

    schema: Any
    value: Any
    content: Any


def encoded(schema: Any, value: Any) -> bytes:
    file = BytesIO()
    fastavro.schemaless_writer(file, fastavro.parse_schema(schema), value)
    return file.getvalue()


_TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _same(schema: Any, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Case]:
    return values.map(lambda value: Case(schema, value, value))


def _millis(millis: int) -> Case:
    moment = _EPOCH + timedelta(milliseconds=millis)
    text = moment.isoformat().replace("+00:00", "Z")
    return Case({"type": "long", "logicalType": "timestamp-millis"}, moment, text)


def _day(day: date) -> Case:
    return Case({"type": "int", "logicalType": "date"}, day, day.isoformat())


def _decimal(unscaled: int) -> Case:
    value = Decimal(unscaled).scaleb(-2)
    schema = {"type": "bytes", "logicalType": "decimal", "precision": 18, "scale": 2}
    return Case(schema, value, float(value))


def _uuid(value: uuid.UUID) -> Case:
    return Case({"type": "string", "logicalType": "uuid"}, value, str(value))


_LEAVES = st.one_of(
    _same("null", st.none()),
    _same("boolean", st.booleans()),
    _same("int", st.integers(-(2**31), 2**31 - 1)),
    _same("long", st.integers(-(2**63), 2**63 - 1)),
    _same("float", st.floats(allow_nan=False, allow_infinity=False, width=32)),
    _same("double", st.floats(allow_nan=False, allow_infinity=False)),
    _same("string", _TEXTS),
    st.binary(max_size=6).map(lambda raw: Case("bytes", raw, base64.b64encode(raw).decode())),
    st.integers(-62_135_596_800_000, 253_402_300_799_999).map(_millis),
    st.dates().map(_day),
    st.integers(-(10**17), 10**17).map(_decimal),
    st.uuids().map(_uuid),
)


@st.composite
def _inner(draw: st.DrawFn, inner: st.SearchStrategy[Case]) -> Case:
    """An array, a map, a union or a record of others."""
    form = draw(st.sampled_from(["array", "map", "optional", "record", "enum", "fixed"]))
    name = "n" + draw(st.uuids()).hex
    if form == "enum":
        symbols = draw(st.lists(st.from_regex(r"[a-z]\w{0,5}", fullmatch=True), min_size=1, max_size=4, unique=True))  # fmt: skip
        symbol = draw(st.sampled_from([s for s in symbols if s.isascii()] or ["a"]))
        symbols = [s for s in symbols if s.isascii()] or ["a"]
        return Case({"type": "enum", "name": name, "symbols": symbols}, symbol, symbol)
    if form == "fixed":
        raw = draw(st.binary(max_size=5))
        schema = {"type": "fixed", "name": name, "size": len(raw)}
        return Case(schema, raw, base64.b64encode(raw).decode())
    if form == "record":
        parts = draw(st.lists(inner, max_size=4))
        fields = [{"name": f"f{i}", "type": part.schema} for i, part in enumerate(parts)]
        return Case(
            {"type": "record", "name": name, "fields": fields},
            {f"f{i}": part.value for i, part in enumerate(parts)},
            {f"f{i}": part.content for i, part in enumerate(parts)},
        )
    one = draw(inner)
    if form == "array":
        count = draw(st.integers(0, 3))
        return Case(
            {"type": "array", "items": one.schema}, [one.value] * count, [one.content] * count
        )
    if form == "map":
        keys = draw(st.lists(_TEXTS, max_size=3, unique=True))
        return Case(
            {"type": "map", "values": one.schema},
            dict.fromkeys(keys, one.value),
            dict.fromkeys(keys, one.content),
        )
    if one.schema == "null" or isinstance(one.schema, list):
        return one
    branches = draw(st.permutations(["null", one.schema]))
    if draw(st.booleans()):
        return Case(branches, None, None)
    return Case(branches, one.value, one.content)


def cases() -> st.SearchStrategy[Case]:
    return st.recursive(_LEAVES, _inner, max_leaves=12)
