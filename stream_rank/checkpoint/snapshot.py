"""One file that holds all there is to know: safetensors for arrays, its metadata for the rest.

Nothing in a snapshot is code, and nothing of it is believed before its digest was compared. The digest covers what
is said and every array with its name, type and shape, so it tells more than damage: two snapshots of the same
digest are the same.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from stream_rank.errors import SnapshotError

__all__ = ["FORMAT", "Snapshot", "digest_of", "pack", "unpack"]

FORMAT = 1
"""Counted up when what is written changes."""

_KIND = "stream-rank snapshot"
_LENGTH_BYTES = 8
_MOST_HEADER_BYTES = 100_000_000
"""As in the safetensors format."""


class Snapshot(NamedTuple):
    """What is said, and arrays by name."""

    said: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]


def _text(said: Mapping[str, Any]) -> str:
    try:
        return json.dumps(said, sort_keys=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise SnapshotError(f"cannot be written as JSON: {error}") from error


def digest_of(said: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """The digest of what is said and of the arrays, in hexadecimal digits."""
    digest = hashlib.sha256(_text(said).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(np.ascontiguousarray(array).data if array.size else b"")
    return digest.hexdigest()


def pack(snapshot: Snapshot) -> bytes:
    """The bytes of a snapshot."""
    arrays = {name: np.ascontiguousarray(array) for name, array in snapshot.arrays.items()}
    metadata = {
        "kind": _KIND,
        "format": str(FORMAT),
        "sha256": digest_of(snapshot.said, arrays),
        "said": _text(snapshot.said),
    }
    return save_tensors(arrays, metadata=metadata)


def _metadata(raw: bytes) -> dict[str, str]:
    """What stands in the header; a `SnapshotError` if there is none of ours."""
    if not raw:
        raise SnapshotError("the file is empty")
    length = int.from_bytes(raw[:_LENGTH_BYTES], "little")
    if len(raw) < _LENGTH_BYTES or length > min(len(raw) - _LENGTH_BYTES, _MOST_HEADER_BYTES):
        raise SnapshotError(
            "it is cut off, or no snapshot: its header would be longer than the file"
        )
    try:
        header = json.loads(raw[_LENGTH_BYTES : _LENGTH_BYTES + length])
        metadata = header["__metadata__"]
        foreign = metadata["kind"] != _KIND
    except (ValueError, KeyError, TypeError, RecursionError):
        raise SnapshotError("it is no snapshot of stream-rank, or its header is damaged") from None
    if foreign:
        raise SnapshotError("it is a file of somebody else, no snapshot of stream-rank")
    return metadata  # type: ignore[no-any-return]


def unpack(raw: bytes) -> Snapshot:
    """The snapshot of some bytes; a `SnapshotError` says why it cannot be trusted."""
    metadata = _metadata(raw)
    version = metadata.get("format")
    if version != str(FORMAT):
        newer = str(version).isdecimal() and int(str(version)[:9]) > FORMAT
        raise SnapshotError(
            f"it is of format {version!r} and this stream-rank reads {FORMAT}: "
            + ("upgrade stream-rank" if newer else "it is damaged, or of no version that there was")
        )
    try:
        arrays = load_tensors(raw)
        said = json.loads(metadata["said"])
    except (
        SafetensorError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        raise SnapshotError(f"it is damaged: {error}") from None
    if not isinstance(said, dict) or digest_of(said, arrays) != metadata.get("sha256"):
        raise SnapshotError("it is damaged: its digest is not that of its content")
    return Snapshot(said, arrays)
