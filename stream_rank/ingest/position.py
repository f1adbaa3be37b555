"""Positions: where reading resumes, as typed values that snapshots keep as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["BlockPosition", "BytePosition", "ChainPosition", "Position", "RowPosition"]


class Position(Protocol):
    """A place in a source. Only that source can resume from it, or read it back from JSON."""

    def to_json(self) -> Any:
        """The JSON that snapshots and summaries contain."""


@dataclass(frozen=True, slots=True)
class BytePosition:
    """The number of bytes and lines read; for CSV records, and also what was told from the first of them, which are not read
    again on resuming: the names of the columns, and the delimiter."""

    bytes: int = 0
    lines: int = 0
    header: tuple[str, ...] | None = None
    delimiter: str = ","

    def to_json(self) -> dict[str, Any]:
        """The JSON that snapshots contain.

        >>> BytePosition(120, 3).to_json()
        {'bytes': 120, 'lines': 3}
        """
        told: dict[str, Any] = {} if self.header is None else {"header": list(self.header)}
        told |= {} if self.delimiter == "," else {"delimiter": self.delimiter}
        return {"bytes": self.bytes, "lines": self.lines, **told}

    @staticmethod
    def from_json(stored: Mapping[str, Any]) -> "BytePosition":
        """A position that `to_json` wrote."""
        header = stored.get("header")
        return BytePosition(
            int(stored["bytes"]),
            int(stored["lines"]),
            None if header is None else tuple(map(str, header)),
            str(stored.get("delimiter", ",")),
        )


@dataclass(frozen=True, slots=True)
class RowPosition:
    """The number of table rows read."""

    rows: int = 0

    def to_json(self) -> dict[str, int]:
        """As snapshots have it."""
        return {"rows": self.rows}

    @staticmethod
    def from_json(stored: Mapping[str, Any]) -> "RowPosition":
        """A position that `to_json` wrote."""
        return RowPosition(int(stored["rows"]))


@dataclass(frozen=True, slots=True)
class BlockPosition:
    """Where a block begins, and the number of its records that were read."""

    bytes: int
    records: int = 0

    def to_json(self) -> dict[str, int]:
        """As snapshots have it."""
        return {"bytes": self.bytes, "records": self.records}

    @staticmethod
    def from_json(stored: Mapping[str, Any]) -> "BlockPosition":
        """A position that `to_json` wrote."""
        return BlockPosition(int(stored["bytes"]), int(stored["records"]))


@dataclass(frozen=True, slots=True)
class ChainPosition:
    """A position inside one of several sources."""

    source: int
    name: str
    at: Position

    def to_json(self) -> dict[str, Any]:
        """As snapshots have it."""
        return {"source": self.source, "name": self.name, "at": self.at.to_json()}
