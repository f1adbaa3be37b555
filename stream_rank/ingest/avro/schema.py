"""`AvroSchema`: values of a schema as JSON, by fastavro."""

import io
import json
from collections.abc import Sequence
from math import isfinite
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from stream_rank.engine.reading import avro
from stream_rank.engine.reading.avro import walk
from stream_rank.errors import ConfigError, InputError, UnreadableError
from stream_rank.ingest.avro.nodes import Nodes, nodes_of

try:
    import fastavro
except ImportError as error:
    raise ConfigError(f"Avro needs fastavro: pip install 'stream-rank[avro]' ({error})") from None

__all__ = ["AvroSchema"]

_MOST_VALUES = 100_000
"""As many values may a record have, with those inside: an event has fewer, and each becomes an object of some dozen bytes."""
_DEEPEST = 100
"""As many values may stand one in the other. Fastavro reads them by recursion that knows no end: a message of 30 kB would end the
process."""
_REASONS = {
    avro.NOT_AVRO: "not Avro of its schema: it ends too early, or has what the schema does not allow",
    avro.TOO_MANY: f"more than {_MOST_VALUES:,} values of Avro",
    avro.TOO_DEEP: f"more than {_DEEPEST} values of Avro, one in the other",
}
_INFINITE = msgspec.Raw(b"1e999")
"""JSON for what is no finite number: whoever needs the number rejects it, and nobody else has to know."""
_encode = msgspec.json.Encoder(decimal_format="number").encode


class AvroSchema:
    """A schema, by which its values become JSON.

    A record and a map are an object, an array is a list, the value of a union is the value alone, an enum is its symbol. Dates,
    times and UUIDs are text, decimals are numbers, bytes are text in base 64 (as Kafka Connect has it).

    Cost: a walk in compiled code, which allows nothing to fastavro that it could not bear; then some microseconds a value.

    >>> schema = AvroSchema('{"type": "record", "name": "Event", "fields": [{"name": "y", "type": ["null", "int"]}]}')
    >>> schema.json(bytes([2, 10])), schema.json(bytes([0]))
    (b'{"y":5}', b'{"y":null}')
    """

    def __init__(self, text: str, references: Sequence[str] = ()) -> None:
        """The schema of a text, which may name types of its `references`; raises an `InputError` if it cannot be read."""
        named: dict[str, Any] = {}
        try:
            for each in references:
                fastavro.parse_schema(json.loads(each), named)
            self._parsed = fastavro.parse_schema(json.loads(text), named)
            self._nodes = nodes_of(self._parsed, named)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError,
                fastavro.schema.SchemaParseException) as error:  # fmt: skip
            raise InputError(f"an Avro schema cannot be read: {error!r:.200}") from None

    def end(self, text: npt.NDArray[np.uint8], begin: int, end: int) -> int:
        """Where the value ends that begins at a place; raises an `UnreadableError` if there is none."""
        nodes: Nodes = self._nodes
        found = int(walk(text, begin, end, *nodes, _MOST_VALUES, _DEEPEST))
        if found < 0:
            raise UnreadableError(_REASONS[found])
        return found

    def json(self, raw: bytes) -> bytes:
        """A value as JSON; raises an `UnreadableError` if it is none of the schema, to the last byte."""
        over = len(raw) - self.end(np.frombuffer(raw, np.uint8), 0, len(raw))
        if over:
            raise UnreadableError(f"not Avro of its schema: {over:,} bytes are left over")
        return self._as_json(raw)

    def _as_json(self, raw: bytes) -> bytes:
        try:
            content = fastavro.schemaless_reader(io.BytesIO(raw), self._parsed, None)
            text = _encode(content)
            # which is what the encoder makes of NaN and infinities, as if they were not there
            return _encode(_finite(content)) if b"null" in text else text
        except (ValueError, ArithmeticError) as error:  # text that is no UTF-8, a time out of range
            raise UnreadableError(f"not Avro of its schema: {error}") from None


def _finite(content: Any) -> Any:
    """The same, without numbers that JSON does not have."""
    if isinstance(content, float):
        return content if isfinite(content) else _INFINITE
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_finite(value) for value in content]
    return content
