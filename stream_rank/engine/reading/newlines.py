"""Where the lines of a text are, found eight bytes at a time."""

import numpy as np

from stream_rank.engine.jit import compiled
from stream_rank.engine.pointers import get, pointer
from stream_rank.engine.reading.decimals import word_at

__all__ = ["find_lines"]

_NEWLINES, _LOW, _HIGH = (
    np.uint64(0x0A0A0A0A0A0A0A0A),
    np.uint64(0x0101010101010101),
    np.uint64(0x8080808080808080),
)


@compiled
def find_lines(text, begin, end, starts, ends):
    """Where the lines begin and end (before the newline) that are whole; how many, and where the rest begins."""
    bytes_ = pointer(text, 0, np.uint8)
    count, start, at, most = 0, begin, begin, len(starts)
    while at < end and count < most:
        if at + 8 <= end:
            unlike = word_at(bytes_, at) ^ _NEWLINES
            if (unlike - _LOW) & ~unlike & _HIGH == 0:
                at += 8
                continue
        stop = min(at + 8, end)
        while at < stop and count < most:
            if get(bytes_, at) == 10:
                starts[count], ends[count] = start, at
                count += 1
                start = at + 1
            at += 1
    return count, start
