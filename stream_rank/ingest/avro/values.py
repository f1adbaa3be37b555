"""Values of messages that are Avro: in the framing of the schema registry, or as they are."""

from collections import Counter
from collections.abc import Iterable
from typing import Protocol

from stream_rank.errors import UnreadableError
from stream_rank.ingest.avro.schema import AvroSchema

__all__ = ["BareAvro", "FramedAvro", "Schemas"]

_FRAME = 5
"""Bytes before the value: 0, and the id of its schema."""


class Schemas(Protocol):
    """Where schemas are, by their id."""

    def fetch(self, ids: Iterable[int]) -> None:
        """Get those that are not here yet; raises a `RecoverableError` while that is not possible."""

    def schema_of(self, number: int) -> AvroSchema:
        """One that was fetched; raises an `EventError` if there is none."""


class FramedAvro:
    """Values behind the byte 0 and the id of their schema in four bytes.

    >>> from stream_rank.ingest.avro.schema import AvroSchema
    >>> FramedAvro(AvroSchema('{"type": "map", "values": "int"}')).json(bytes([0, 0, 0, 0, 7, 2, 2, 97, 4, 0]))
    b'{"a":2}'
    """

    def __init__(self, schemas: Schemas | AvroSchema) -> None:
        """With one schema for all, ids are not looked at."""
        self._schemas = schemas

    def prepare(self, values: Iterable[bytes]) -> None:
        """Get what these values need to be read; raises a `RecoverableError` while that is away."""
        if not isinstance(self._schemas, AvroSchema):
            heads = Counter(
                value[:_FRAME] for value in values if len(value) >= _FRAME and not value[0]
            )
            # what many values need comes first: not all are asked for where there is garbage
            first = sorted(heads, key=lambda head: (-heads[head], head))
            self._schemas.fetch(int.from_bytes(head[1:], "big") for head in first)

    def json(self, value: bytes) -> bytes:
        """A value as JSON; raises an `EventError` if it is none."""
        if len(value) < _FRAME or value[0]:
            raise UnreadableError(
                "not Avro in the framing of the schema registry, which begins with the byte 0 and the id of a schema"
            )
        schemas = self._schemas
        if not isinstance(schemas, AvroSchema):
            schemas = schemas.schema_of(int.from_bytes(value[1:_FRAME], "big"))
        return schemas.json(value[_FRAME:])


class BareAvro:
    """Values of one schema, without anything before them."""

    def __init__(self, schema: AvroSchema) -> None:
        self.json = schema.json

    def prepare(self, values: Iterable[bytes]) -> None:
        """Nothing is needed."""
