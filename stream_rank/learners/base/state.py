"""The state of a part of a run, in the form that snapshots store."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.engine.memory import Memory
from stream_rank.errors import SnapshotError

__all__ = ["State", "arrays_of", "as_text", "digest_of", "fill", "trimmed"]

Array = npt.NDArray[Any]


class State(NamedTuple):
    """The state of a part of a run: metadata that JSON can hold, and arrays."""

    metadata: dict[str, Any]
    arrays: dict[str, Array]


def arrays_of(memories: Mapping[str, Memory]) -> dict[str, Array]:
    """The sections that memories keep, by `memory/section`."""
    return {
        f"{kind}/{name}": section
        for kind, memory in memories.items()
        for name, section in memory.kept().items()
    }


def trimmed(arrays: Mapping[str, Array], room: Mapping[str, Array]) -> dict[str, Array]:
    """Arrays cut to the shapes of others; what is cut off was spare capacity."""
    return {
        name: arrays[name][tuple(map(slice, np.minimum(arrays[name].shape, section.shape)))]
        for name, section in room.items()
    }


def fill(memories: Mapping[str, Memory], arrays: Mapping[str, Array]) -> None:
    """Put arrays into memories; a `ValueError` if they are not of these memories, or of another size."""
    parts: dict[str, dict[str, Array]] = {}
    for name, array in arrays.items():
        kind, _, section = name.partition("/")
        parts.setdefault(kind, {})[section] = array
    if parts.keys() != memories.keys():
        raise ValueError(f"memories {sorted(parts)} instead of {sorted(memories)}")
    for kind, memory in memories.items():
        if {name: array.shape for name, array in parts[kind].items()} != {
            name: array.shape for name, array in memory.kept().items()
        }:
            raise ValueError(f"memory {kind} is of another size than its parameters say")
        memory.adopt(parts[kind])


def as_text(metadata: Mapping[str, Any]) -> str:
    """Metadata as JSON, the same text for the same metadata; a `SnapshotError` if it cannot be."""
    try:
        return json.dumps(metadata, sort_keys=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise SnapshotError(f"cannot be written as JSON: {error}") from error


def digest_of(metadata: Mapping[str, Any] | bytes, arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """The digest of metadata, which may be JSON already, and arrays, in hexadecimal digits."""
    text = metadata if isinstance(metadata, bytes) else as_text(metadata).encode()
    digest = hashlib.sha256(text)
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(np.ascontiguousarray(array).data if array.size else b"")
    return digest.hexdigest()
