"""A parsed Avro schema as the rows of numbers that the engine walks by."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.engine.reading import avro
from stream_rank.learners.base.values import LONGEST_NAME

__all__ = ["Nodes", "nodes_of"]

_PRIMITIVES = {
    "null": avro.NULL,
    "boolean": avro.BOOLEAN,
    "int": avro.INTEGER,
    "long": avro.INTEGER,
    "float": avro.FLOAT,
    "double": avro.DOUBLE,
    "bytes": avro.BYTES,
    "string": avro.BYTES,
}
_MOST_BYTES = 2**31
_MOST_OF_DECIMALS = 512
"""Bytes of a decimal: what it takes to write one in digits grows with the square of them."""


class Nodes(NamedTuple):
    """The nodes of a schema, the root first, and their children."""

    rows: npt.NDArray[np.int64]
    children: npt.NDArray[np.int64]


def nodes_of(schema: Any, named: Mapping[str, Any]) -> Nodes:
    """The nodes of a schema as fastavro parsed it, with the types that have names.

    Each type is there once, so a schema that leads to itself, or to one type by many ways, costs no more than its text.

    >>> nodes_of({"type": "array", "items": "long"}, {}).rows.tolist()
    [[8, 1, 0], [2, 2147483648, 0]]
    """
    builder = _Builder(named)
    builder.add(schema)
    rows = np.array(builder.rows, np.int64)
    return Nodes(rows, np.array([*builder.children, 0], np.int64))


class _Builder:
    def __init__(self, named: Mapping[str, Any]) -> None:
        self._named, self._found = named, dict[str, int]()
        self.rows: list[tuple[int, int, int]] = []
        self.children: list[int] = []

    def add(self, schema: Any) -> int:
        """The node of a schema."""
        if isinstance(schema, str) and schema not in _PRIMITIVES:
            if schema in self._found:
                return self._found[schema]
            schema = self._named[schema]
        kind = schema if isinstance(schema, str) else "union"
        if isinstance(schema, dict):
            kind = schema["type"]
            if not isinstance(kind, str) or (kind not in _PRIMITIVES and kind not in _KINDS):
                return self.add(kind)
        node, most = len(self.rows), _MOST_BYTES
        if isinstance(schema, dict) and schema.get("logicalType") == "decimal":
            most = _MOST_OF_DECIMALS
        self.rows.append((_PRIMITIVES.get(kind, avro.NULL), most, 0))
        if kind in ("record", "error"):
            self._found[schema["name"]] = node
            names = [field["name"] for field in schema["fields"]]
            if any(len(name) > LONGEST_NAME for name in names):
                raise ValueError(f"a field has a name of more than {LONGEST_NAME} characters")
            self._put(node, avro.RECORD, [self.add(field["type"]) for field in schema["fields"]])
        elif kind == "union":
            self._put(node, avro.UNION, [self.add(branch) for branch in schema])
        elif kind in ("array", "map"):
            inner = self.add(schema["items" if kind == "array" else "values"])
            self.rows[node] = (avro.ARRAY if kind == "array" else avro.MAP, inner, 0)
        elif kind == "fixed":
            self._found[schema["name"]] = node
            if not (isinstance(schema["size"], int) and 0 <= schema["size"] <= most):
                raise ValueError(f"a fixed has no size of {schema['size']!r:.40} bytes")
            self.rows[node] = (avro.FIXED, schema["size"], 0)
        elif kind == "enum":
            self._found[schema["name"]] = node
            self.rows[node] = (avro.ENUM, len(schema["symbols"]), 0)
        return node

    def _put(self, node: int, kind: int, children: list[int]) -> None:
        self.rows[node] = (kind, len(self.children), len(children))
        self.children += children


_KINDS = ("record", "error", "array", "map", "fixed", "enum")
