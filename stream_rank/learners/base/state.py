"""What a part of a run keeps, in the form in which snapshots hold it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.engine.memory import Memory

__all__ = ["State", "arrays_of", "fill", "trimmed"]

Array = npt.NDArray[Any]


class State(NamedTuple):
    """What a part of a run keeps: text that JSON can hold, and arrays."""

    metadata: dict[str, Any]
    arrays: dict[str, Array]


def arrays_of(memories: Mapping[str, Memory]) -> dict[str, Array]:
    """What memories keep, by `memory/section`."""
    return {
        f"{kind}/{name}": section
        for kind, memory in memories.items()
        for name, section in memory.kept().items()
    }


def trimmed(arrays: Mapping[str, Array], room: Mapping[str, Array]) -> dict[str, Array]:
    """Arrays cut to the shapes of others; what is cut off was held in reserve."""
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
