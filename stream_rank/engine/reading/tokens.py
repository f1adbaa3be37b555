"""Ids, groups and times out of JSON: plain texts and short whole numbers."""

from typing import Any

import numpy as np

from stream_rank.engine.jit import called, inlined
from stream_rank.engine.pointers import get
from stream_rank.engine.reading.decimals import is_digit, read_digits, read_number
from stream_rank.engine.reading.timestamps import FIRST, LAST, NO_TIME, moment_at

__all__ = ["UNITS", "moment_of_token", "token_end"]

UNITS = ("ms", "s", "us", "ns")
"""What times may count, by number."""

_QUOTE, _BACKSLASH, _MINUS, _POINT, _ZERO = 34, 92, 45, 46, 48
_LONGEST_WHOLE = 18
"""Digits of a whole number that is surely one of 64 bits."""
_LONGEST_TEXT = 512
"""Bytes of a text that is surely no longer than an id may be."""
_LARGEST = np.uint64((1 << 63) - 1)


@inlined
def token_end(text, at, end, time):
    """Where a plain text or a short whole number ends that begins at `at`; -1 if there is none. Times may have a digit more."""
    if get(text, at) == _QUOTE:
        at += 1
        first = at
        while at < end and get(text, at) != _QUOTE:
            byte = get(text, at)
            if byte == _BACKSLASH or byte < 32 or byte > 126:
                return -1
            at += 1
        return at + 1 if at < end and at - first <= _LONGEST_TEXT else -1
    if get(text, at) == _MINUS:
        at += 1
    first = at
    while at < end and is_digit(get(text, at)):
        at += 1
    if at == first or at - first > _LONGEST_WHOLE + time:
        return -1
    if get(text, first) == _ZERO and at - first > 1:
        return -1
    if at < end and (get(text, at) == _POINT or get(text, at) | 32 == 101):
        return -1
    return at


@called
def moment_of_token(text, at, behind, end, unit, powers):
    """The milliseconds of the time that stands at `at`, and where it ends, which is `behind` if it is a token; -1 if not plain."""
    moment: Any = NO_TIME
    if behind < 0:
        if unit != 1 or get(text, at) == _QUOTE:
            return NO_TIME, -1
        value, behind = read_number(text, at, end, powers)  # seconds may have a fraction
        if behind < 0 or not abs(value) < 1e12:
            return NO_TIME, -1
        moment = np.int64(np.rint(value * 1000.0))
    elif get(text, at) == _QUOTE:
        moment = moment_at(text, at + 1, behind - 1)
    else:
        negative = get(text, at) == _MINUS
        digits, _ = read_digits(text, at + negative, behind, np.uint64(0))
        if digits > _LARGEST:
            return NO_TIME, -1
        moment = -np.int64(digits) if negative else np.int64(digits)
        if unit == 1:
            if abs(moment) > LAST:
                return NO_TIME, -1
            moment *= 1000
        elif unit == 2:
            moment //= 1000
        elif unit == 3:
            moment //= 1_000_000
    if not (moment >= FIRST and moment <= LAST):
        return NO_TIME, -1
    return moment, behind
