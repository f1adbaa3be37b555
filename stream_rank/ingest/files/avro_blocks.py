"""The blocks of Avro's object container files: found, decompressed, and no larger than memory bears."""

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

import pyarrow as pa

from stream_rank.errors import InputError

__all__ = ["Block", "Header", "blocks", "header_of"]

_MAGIC, _SYNC = b"Obj\x01", 16
_MOST_BYTES = 64 << 20
"""Of a block, decompressed; those who write files make blocks of some dozen kilobytes. And of what stands before the blocks."""
_CHECKSUM = 4
"""Bytes behind a block of snappy."""


class Header(NamedTuple):
    """What stands before the blocks."""

    schema: str
    codec: str
    sync: bytes
    end: int
    """Where the blocks begin."""


class Block(NamedTuple):
    """Some records, one behind the other."""

    begin: int
    """Where it begins in the file."""
    end: int
    n_records: int
    text: bytes


def header_of(file: IO[bytes], name: str) -> Header:
    """The header of a file that stands at its beginning."""
    if file.read(len(_MAGIC)) != _MAGIC:
        raise InputError(f"{name} is no Avro object container file: it does not begin with Obj")
    found: dict[str, bytes] = {}
    size = 0
    while (count := _integer(file, name)) != 0:
        if count < 0:
            _integer(file, name)
        for _ in range(abs(count)):
            key = _bytes(file, name).decode(errors="replace")
            found[key] = _bytes(file, name)
            size += len(key) + len(found[key])
            if size > _MOST_BYTES:
                raise _damaged(file, name)
    sync = file.read(_SYNC)
    schema = found.get("avro.schema", b"").decode(errors="replace")
    codec = found.get("avro.codec", b"null").decode(errors="replace")
    if codec not in _CODECS:
        raise InputError(
            f"{name} is compressed by {codec!r:.40}; {', '.join(_CODECS)} can be read: write it with one of them"
        )
    return Header(schema, codec, sync, file.tell())


def blocks(file: IO[bytes], header: Header, name: str) -> Iterator[Block]:
    """The blocks from where the file stands."""
    while True:
        begin = file.tell()
        if not file.read(1):
            return
        file.seek(begin)
        count, packed = _integer(file, name), _bytes(file, name)
        if count < 0 or file.read(_SYNC) != header.sync:
            raise _damaged(file, name)
        try:
            text = _CODECS[header.codec](packed)
        except (ValueError, OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise InputError(
                f"{name}: the block at byte {begin:,} cannot be read: {error}"
            ) from None
        yield Block(begin, file.tell(), count, text)


def _integer(file: IO[bytes], name: str) -> int:
    value = shift = 0
    while shift < 70:
        byte = file.read(1)
        if not byte:
            break
        value |= (byte[0] & 127) << shift
        if byte[0] < 128:
            return (value >> 1) ^ -(value & 1)
        shift += 7
    raise _damaged(file, name)


def _bytes(file: IO[bytes], name: str) -> bytes:
    size = _integer(file, name)
    if not 0 <= size <= _MOST_BYTES:
        raise _damaged(file, name)
    found = file.read(size)
    if len(found) < size:
        raise _damaged(file, name)
    return found


def _damaged(file: IO[bytes], name: str) -> InputError:
    return InputError(
        f"{name} is damaged, or was not written to its end: near byte {file.tell():,}"
    )


# Codecs -------------------------------------------------------------------------------------


def _limited(read: Any) -> bytes:
    """All of a stream, unless it is too much."""
    found: bytes = read(_MOST_BYTES + 1)
    if len(found) > _MOST_BYTES:
        raise ValueError(f"it has more than {_MOST_BYTES:,} bytes")
    return found


def _whole(stream: Any, packed: bytes) -> bytes:
    """What one of Python's decompressors makes of all of it."""
    found = _limited(lambda most: stream.decompress(packed, most))
    if not stream.eof:
        raise ValueError("it ends too early")
    return found


def _deflate(packed: bytes) -> bytes:
    return _whole(zlib.decompressobj(-zlib.MAX_WBITS), packed)


def _bzip2(packed: bytes) -> bytes:
    return _whole(bz2.BZ2Decompressor(), packed)


def _xz(packed: bytes) -> bytes:
    return _whole(lzma.LZMADecompressor(memlimit=2 * _MOST_BYTES), packed)


def _snappy(packed: bytes) -> bytes:
    body, checksum = packed[:-_CHECKSUM], packed[-_CHECKSUM:]
    size = shift = 0
    for byte in body[:5]:
        size |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    if size > _MOST_BYTES:
        raise ValueError(f"it has more than {_MOST_BYTES:,} bytes")
    found: bytes = pa.decompress(body, size, "snappy", asbytes=True)
    if zlib.crc32(found).to_bytes(_CHECKSUM, "big") != checksum:
        raise ValueError("its checksum is wrong")
    return found


def _zstandard(packed: bytes) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
        return _limited(stream.read)


_CODECS: dict[str, Callable[[bytes], bytes]] = {
    "null": bytes,
    "deflate": _deflate,
    "snappy": _snappy,
    "zstandard": _zstandard,
    "bzip2": _bzip2,
    "xz": _xz,
}
