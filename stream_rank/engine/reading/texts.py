"""Texts of JSON: where they close, how many characters they have, and values that are passed over.

Cost: less than a nanosecond a byte.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from stream_rank.engine.jit import called, inlined, intrinsic
from stream_rank.engine.pointers import get
from stream_rank.engine.reading.decimals import is_digit, trailing_zeros, word_at

__all__ = [
    *("FALSE", "FIVE_BYTES", "FOUR_BYTES", "NULL", "TRUE"),
    *("quote_after", "skip_white", "text_end", "value_end", "word_of"),
]

_QUOTE, _BACKSLASH, _COMMA, _COLON, _MINUS, _POINT, _PLUS, _U = 34, 92, 44, 58, 45, 46, 43, 117
_OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_LIST, _CLOSE_LIST = 123, 125, 91, 93
_SLASH = 47
_ESCAPES = np.uint64(sum(1 << ord(letter) - 64 for letter in "bfnrt\\"))
_AT_ONCE = 16
_DEEPEST = 60
"""As many brackets may be open in a value that is passed over: which they are is kept in the bits of a word."""
_LONGEST_NUMBER = 300
"""Bytes of a number that no parser refuses for its length."""


def word_of(text: bytes) -> np.uint64:
    """The first bytes of a text as a number."""
    return np.uint64(int.from_bytes(text, "little"))


NULL, TRUE, FALSE = word_of(b"null"), word_of(b"true"), word_of(b"false")
FOUR_BYTES, FIVE_BYTES = np.uint64((1 << 32) - 1), np.uint64((1 << 40) - 1)


@inlined
def skip_white(text, at, end):
    """The first place from `at` on that is not white."""
    while at < end:
        byte = get(text, at)
        if byte > 32 or (byte != 32 and byte != 10 and byte != 13 and byte != 9):
            break
        at += 1
    return at


@intrinsic
def _marks(typingctx: Any, text: Any, place: Any) -> Any:
    """A bit for each of sixteen bytes from `place` on that is a quote, a backslash or a control character, the first lowest."""
    bytes_ = ir.VectorType(ir.IntType(8), _AT_ONCE)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start = builder.bitcast(builder.gep(args[0], [args[1]]), bytes_.as_pointer())
        found = builder.load(start, align=1)

        def each(byte: int) -> Any:
            return ir.Constant(bytes_, [byte] * _AT_ONCE)

        marks = builder.or_(
            builder.icmp_unsigned("==", found, each(_QUOTE)),
            builder.icmp_unsigned("==", found, each(_BACKSLASH)),
        )
        marks = builder.or_(marks, builder.icmp_unsigned("<", found, each(32)))
        return builder.zext(builder.bitcast(marks, ir.IntType(_AT_ONCE)), ir.IntType(64))

    return types.uint64(text, types.int64), build


@inlined
def close_of(text, at, end):
    """The first quote, backslash or control character from `at` on, sixteen bytes at a time; `end` or more if there is none."""
    while at < end:
        marks = _marks(text, at)
        if marks != 0:
            return at + np.int64(trailing_zeros(marks))
        at += _AT_ONCE
    return at


@inlined
def quote_after(text, at, end):
    """The closing quote of the text from `at` on, or -1 if there is none before `end` or a control character; and whether it
    has escapes, which may be none."""
    close = close_of(text, at, end)
    escaped = close < end and get(text, close) == _BACKSLASH
    while close < end and get(text, close) == _BACKSLASH:
        close = close_of(text, close + 2, end)
    return close if close < end and get(text, close) == _QUOTE else -1, escaped


@inlined
def _continued(text, at, count):
    """Whether `count` bytes continue a character."""
    good = True
    for place in range(at, at + count):
        good &= get(text, place) & 0xC0 == 0x80
    return good


@inlined
def _wide(text, at, end):
    """How many bytes the character has that begins at `at` and is not ASCII; 0 if it is not valid UTF-8."""
    byte = get(text, at)
    length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
    if byte < 0xC2 or byte > 0xF4 or at + length > end or not _continued(text, at + 1, length - 1):
        return 0
    second = get(text, at + 1)
    if (byte == 0xE0 and second < 0xA0) or (byte == 0xED and second > 0x9F):
        return 0
    if (byte == 0xF0 and second < 0x90) or (byte == 0xF4 and second > 0x8F):
        return 0
    return length


@inlined
def _escaped(text, at, end):
    """Where an escape ends that begins at `at`; -1 if it is none, or half of a character."""
    if at + 1 >= end:
        return -1
    byte = get(text, at + 1)
    if byte != _U:
        bit = np.uint64(byte) - np.uint64(64)  # b, f, n, r, t and the backslash, as bits
        letter = bit < 64 and (_ESCAPES >> bit) & np.uint64(1) != 0
        return at + 2 if letter or (byte == _QUOTE) | (byte == _SLASH) else -1
    if at + 6 > end:
        return -1
    value: Any = 0
    for place in range(at + 2, at + 6):
        digit = np.int64(get(text, place))
        letter = digit | 32
        if digit >= 48 and digit <= 57:
            value = value * 16 + digit - 48
        elif letter >= 97 and letter <= 102:
            value = value * 16 + letter - 87
        else:
            return -1
    return -1 if value >= 0xD800 and value <= 0xDFFF else at + 6


@called
def text_end(text, at, end):
    """Of a text whose first character is at `at`, where its closing quote is, and how many characters there are.

    The place is -1 if it is no valid text, or has characters that are written as two escapes.
    """
    count = 0
    while at < end:
        byte = get(text, at)
        if byte == _QUOTE:
            return at, count
        if byte == _BACKSLASH:
            at = _escaped(text, at, end)
            if at < 0:
                return -1, count
        elif byte >= 0x80:
            length = _wide(text, at, end)
            if length == 0:
                return -1, count
            at += length
        elif byte < 32:
            return -1, count
        else:
            at += 1
        count += 1
    return -1, count


@inlined
def _number_end(text, at, end):
    """Where a number ends that begins at `at`; -1 if it is none."""
    begin = at
    if get(text, at) == _MINUS:
        at += 1
    first = at
    while at < end and is_digit(get(text, at)):
        at += 1
    if at == first or (at - first > 1 and get(text, first) == 48):
        return -1
    if at < end and get(text, at) == _POINT:
        at += 1
        first = at
        while at < end and is_digit(get(text, at)):
            at += 1
        if at == first:
            return -1
    if at < end and get(text, at) | 32 == 101:
        at += 1
        if at < end and (get(text, at) == _PLUS or get(text, at) == _MINUS):
            at += 1
        first = at
        while at < end and is_digit(get(text, at)):
            at += 1
        if at == first:
            return -1
    return at if at - begin <= _LONGEST_NUMBER else -1


@called
def value_end(text, at, end):
    """Where the value ends that begins at `at`, whatever it is; -1 if it is not surely valid JSON.

    It is checked, and not merely passed over by its brackets: what is wrong in it makes its event a reject.
    """
    depth, kinds = (
        0,
        np.uint64(0),
    )  # a bit for each open bracket, the innermost lowest: 1 of an object
    while True:
        at = skip_white(text, at, end)
        if at >= end:
            return -1
        byte = get(text, at)
        opened = byte | 32 == _OPEN_OBJECT  # a list's is another by that bit
        if opened:
            if depth >= _DEEPEST:
                return -1
            depth += 1
            kinds = kinds << np.uint64(1) | np.uint64(byte == _OPEN_OBJECT)
            at = skip_white(text, at + 1, end)
            if at >= end:
                return -1
            opened = get(text, at) != (_CLOSE_OBJECT if kinds & np.uint64(1) else _CLOSE_LIST)
        elif byte == _QUOTE:
            close, _ = text_end(text, at + 1, end)
            if close < 0:
                return -1
            at = close + 1
        elif byte == _MINUS or is_digit(byte):
            at = _number_end(text, at, end)
            if at < 0:
                return -1
        else:
            word = word_at(text, at)
            if word & FOUR_BYTES == NULL or word & FOUR_BYTES == TRUE:
                at += 4
            elif word & FIVE_BYTES == FALSE:
                at += 5
            else:
                return -1
        while not opened:  # what follows a value
            if depth == 0:
                return at if at <= end else -1
            at = skip_white(text, at, end)
            if at >= end:
                return -1
            byte = get(text, at)
            if byte == (_CLOSE_OBJECT if kinds & np.uint64(1) else _CLOSE_LIST):
                depth -= 1
                kinds >>= np.uint64(1)
                at += 1
            elif byte == _COMMA:
                at = skip_white(text, at + 1, end)
                opened = True
            else:
                return -1
        if kinds & np.uint64(1):  # a key comes first
            if at >= end or get(text, at) != _QUOTE:
                return -1
            close, _ = text_end(text, at + 1, end)
            if close < 0:
                return -1
            at = skip_white(text, close + 1, end)
            if at >= end or get(text, at) != _COLON:
                return -1
            at += 1
