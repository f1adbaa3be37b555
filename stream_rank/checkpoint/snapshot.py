"""The snapshot format: one safetensors file, whose metadata is JSON in an array of bytes.

A snapshot contains no code, and it is not used before its digest is verified. The digest covers the metadata and every
array with its name, type and shape, so it also identifies a snapshot: two of the same digest are equal.

Each part of a run has its metadata under its key, and its arrays under the key and a slash.

The header of a safetensors file may have 100 MB, and it is written by every program that sends us names: 100,000 features of
512 characters, or two million ids that wait for labels, do not fit. So the header says what the file is, in a few hundred bytes,
and all that a part says of itself is an array, which may be as long as the disk. It is the whole JSON and not name by name, since
no part has to know then which of its lists may become long, and none can be forgotten.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from stream_rank.errors import SnapshotError
from stream_rank.learners.base.state import State, as_text, digest_of

__all__ = ["FORMAT", "Snapshot", "pack", "unpack"]

FORMAT = 6
"""The format version."""

_KIND = "stream-rank snapshot"
_LENGTH_BYTES = 8
_MOST_HEADER_BYTES = 100_000_000
"""The limit of the safetensors format."""
_METADATA = "metadata"
"""The array of the metadata; those of parts have a slash in their names."""


class Snapshot(NamedTuple):
    """Metadata, and arrays by name."""

    metadata: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]

    @staticmethod
    def of(parts: Mapping[str, State], **metadata: Any) -> "Snapshot":
        """A snapshot of parts by key, and of other metadata."""
        return Snapshot(
            {**metadata, "parts": {key: state.metadata for key, state in parts.items()}},
            {
                f"{key}/{name}": array
                for key, state in parts.items()
                for name, array in state.arrays.items()
            },
        )

    @property
    def keys(self) -> list[str]:
        """The keys of the parts."""
        return list(self.metadata.get("parts", {}))

    def part(self, key: str) -> State:
        """The state of a part."""
        prefix = f"{key}/"
        arrays = {
            name.removeprefix(prefix): array
            for name, array in self.arrays.items()
            if name.startswith(prefix)
        }
        return State(self.metadata["parts"][key], arrays)


def pack(snapshot: Snapshot) -> bytes:
    """The bytes of a snapshot."""
    arrays = {name: np.ascontiguousarray(array) for name, array in snapshot.arrays.items()}
    text = as_text(snapshot.metadata).encode()
    header = {"kind": _KIND, "format": str(FORMAT), "sha256": digest_of(text, arrays)}
    return save_tensors({**arrays, _METADATA: np.frombuffer(text, np.uint8)}, metadata=header)


def _header(raw: bytes) -> dict[str, str]:
    """The header; raises `SnapshotError` if it is not one of a snapshot."""
    if not raw:
        raise SnapshotError("the file is empty")
    length = int.from_bytes(raw[:_LENGTH_BYTES], "little")
    if len(raw) < _LENGTH_BYTES or length > min(len(raw) - _LENGTH_BYTES, _MOST_HEADER_BYTES):
        raise SnapshotError(
            "it is cut off, or no snapshot: its header would be longer than the file"
        )
    try:
        header = json.loads(raw[_LENGTH_BYTES : _LENGTH_BYTES + length])["__metadata__"]
        foreign = header["kind"] != _KIND
    except (ValueError, KeyError, TypeError, RecursionError):
        raise SnapshotError("it is no snapshot of stream-rank, or its header is damaged") from None
    if foreign:
        raise SnapshotError("it is a file of another program, no snapshot of stream-rank")
    return header  # type: ignore[no-any-return]


def _check_format(given: Any) -> None:
    if given == str(FORMAT):
        return
    number = int(given[:9]) if isinstance(given, str) and given.isdecimal() else 0
    what_to_do = "it is damaged, or of an unknown version"
    if number > FORMAT:
        what_to_do = "upgrade stream-rank"
    elif number > 0:
        what_to_do = (
            "learn the stream again into another folder, or go on with the version that wrote it"
        )
    raise SnapshotError(
        f"it is of format {given!r} and this stream-rank reads {FORMAT}: {what_to_do}"
    )


def unpack(raw: bytes) -> Snapshot:
    """The snapshot of these bytes; raises `SnapshotError` with the reason if it is not valid."""
    header = _header(raw)
    _check_format(header.get("format"))
    try:
        arrays = load_tensors(raw)
        text = arrays.pop(_METADATA)
        if text.dtype != np.uint8 or text.ndim != 1:
            raise ValueError("its metadata is no text")
        if digest_of(text.tobytes(), arrays) != header.get("sha256"):
            raise ValueError("its digest is not that of its content")
        metadata = json.loads(text.tobytes())
        if not isinstance(metadata, dict):
            raise TypeError("its metadata is no object")
    except (
        SafetensorError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        raise SnapshotError(f"it is damaged: {error}") from None
    return Snapshot(metadata, arrays)
