"""Decimal numbers, read to the nearest double.

The digits are gathered as a whole number of at most 19 digits, eight at a time, and the power of ten is multiplied
in by 128-bit products (Lemire, Number parsing at a gigabyte per second, 2021). Where the product cannot tell which
of two doubles is nearer, where there are more digits, and outside the normal doubles, the reader says that it does
not know, and somebody slower has to. Numbers of up to seven bytes, which most are, are read from one word.

Cost: about a nanosecond a digit.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from stream_rank.engine.bits import as_double
from stream_rank.engine.jit import inlined, intrinsic
from stream_rank.engine.pointers import get

__all__ = [
    "SMALLEST_POWER",
    "is_digit",
    "powers_of_ten",
    "product",
    "read_digits",
    "read_number",
    "trailing_zeros",
    "word_at",
]

SMALLEST_POWER, LARGEST_POWER = -342, 308
"""Nineteen digits times a power outside are no normal double."""

_MOST_DIGITS = 19
_EXACT_POWER = 22
"""The largest power of ten that is a double."""
_EXACT_WHOLE = np.uint64(1 << 53)
_ONE, _NINE_BITS = np.uint64(1), np.uint64(0x1FF)
_FRACTION = np.uint64((1 << 52) - 1)
_EIGHT_DIGITS = 8
_LAST_BIT, _BYTE = np.uint64(1 << 63), np.uint64(255)
_POINT, _ZERO, _EXPONENT = np.uint64(46), np.uint64(48), np.uint64(101)


def powers_of_ten() -> Any:
    """For every power of ten its first 128 bits (high half, low half), rounded down, and the double nearest to it."""
    table = np.zeros((LARGEST_POWER - SMALLEST_POWER + 1, 3), np.uint64)
    for power in range(SMALLEST_POWER, LARGEST_POWER + 1):
        if power >= 0:
            number = 10**power
            shift = number.bit_length() - 128
            bits = number >> shift if shift >= 0 else number << -shift
        else:
            divisor = 10**-power
            bits = (1 << (divisor.bit_length() + 128)) // divisor
            bits >>= bits.bit_length() - 128
        table[power - SMALLEST_POWER, 0] = bits >> 64
        table[power - SMALLEST_POWER, 1] = bits & (2**64 - 1)
        if 0 <= power <= _EXACT_POWER:
            table[power - SMALLEST_POWER, 2] = np.float64(10.0**power).view(np.uint64)
    return table


@intrinsic
def word_at(typingctx: Any, text: Any, place: Any) -> Any:
    """Eight bytes from `place` on, wherever that is, the first lowest."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start = builder.bitcast(builder.gep(args[0], [args[1]]), ir.IntType(64).as_pointer())
        return builder.load(start, align=1)

    return types.uint64(text, types.int64), build


@intrinsic
def product(typingctx: Any, one: Any, other: Any) -> Any:
    """The 128 bits of a product, as high and low half."""
    result = types.UniTuple(types.uint64, 2)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide, word = ir.IntType(128), ir.IntType(64)
        whole = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        high = builder.trunc(builder.lshr(whole, ir.Constant(wide, 64)), word)
        return context.make_tuple(builder, result, [high, builder.trunc(whole, word)])

    return result(types.uint64, types.uint64), build


@intrinsic
def trailing_zeros(typingctx: Any, word: Any) -> Any:
    """How many of a word's lowest bits are 0; the word is not 0."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), build


@intrinsic
def _leading_zeros(typingctx: Any, word: Any) -> Any:
    """How many of a word's highest bits are 0; the word is not 0."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), build


@inlined
def is_digit(byte):
    """Whether a byte is one of 0 to 9."""
    return byte >= 48 and byte <= 57


@inlined
def _eight_digits(word):
    """Whether all bytes of a word are digits."""
    high = np.uint64(0xF0F0F0F0F0F0F0F0)
    carried = ((word + np.uint64(0x0606060606060606)) & high) >> np.uint64(4)
    return ((word & high) | carried) == np.uint64(0x3333333333333333)


@inlined
def _value_of_eight(word):
    """The number that eight digits make: in pairs, in fours, in eights."""
    word = (word & np.uint64(0x0F0F0F0F0F0F0F0F)) * np.uint64(2561) >> np.uint64(8)
    word = (word & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601) >> np.uint64(16)
    return (word & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001) >> np.uint64(32)


@inlined
def read_digits(text, at, end, number):
    """Digits from `at` on, behind those that `number` has; the number, and where they end.

    More than 19 digits overflow; the caller counts them.
    """
    while at + _EIGHT_DIGITS <= end:
        word = word_at(text, at)
        if not _eight_digits(word):
            break
        number = number * np.uint64(100_000_000) + _value_of_eight(word)
        at += _EIGHT_DIGITS
    while at < end and is_digit(get(text, at)):
        number = number * np.uint64(10) + np.uint64(get(text, at) - np.uint8(48))
        at += 1
    return number, at


@inlined
def _nearest(digits, power, powers):
    """The bits of the double nearest to `digits * 10**power`, or 0 if that is not known; `digits` is not 0."""
    row = power - SMALLEST_POWER
    zeros = _leading_zeros(digits)
    digits = digits << zeros
    # the binary exponent: 217706 / 2**16 is the binary logarithm of ten, as far as these powers need it
    exponent = np.uint64(((217706 * power) >> 16) + 64 + 1023) - zeros
    high, low = product(digits, get(powers, 3 * row))
    if high & _NINE_BITS == _NINE_BITS and low + digits < digits:
        upper, lower = product(digits, get(powers, 3 * row + 1))
        middle = low + upper
        if middle < low:
            high += _ONE
        if high & _NINE_BITS == _NINE_BITS and middle + _ONE == 0 and lower + digits < digits:
            return np.uint64(0)
        low = middle
    top = high >> np.uint64(63)
    fraction = high >> (top + np.uint64(9))
    exponent -= _ONE ^ top
    if low == 0 and high & _NINE_BITS == 0 and fraction & np.uint64(3) == _ONE:
        return np.uint64(0)  # half way between two doubles, as far as can be seen
    fraction = (fraction + (fraction & _ONE)) >> _ONE
    if fraction >> np.uint64(53) > 0:
        fraction >>= _ONE
        exponent += _ONE
    if exponent - _ONE >= np.uint64(0x7FE):
        return np.uint64(0)
    return exponent << np.uint64(52) | (fraction & _FRACTION)


@inlined
def _short_number(text, at, end, powers):
    """A number without sign and exponent whose end is within eight bytes of `at`: its value, and where it ends; -1 if it is another.

    Its digits become a word without branches, since how many there are cannot be foreseen.
    """
    word = word_at(text, at)
    unlike = word ^ np.uint64(0x3030303030303030)
    # the highest bit of bytes that are no digits; those behind one that is not ASCII may be wrong
    others = ((unlike + np.uint64(0x7676767676767676)) | unlike) & np.uint64(0x8080808080808080)
    behind = others & (others - _ONE)
    first = trailing_zeros(others | _LAST_BIT) & np.uint64(56)  # in bits
    point = (word >> first) & _BYTE == _POINT
    last = trailing_zeros(behind | _LAST_BIT) & np.uint64(56) if point else first
    places: Any = np.int64(last - first) >> 3
    before = (_ONE << first) - _ONE
    digits = (word & before) | ((word >> np.uint64(8)) & ~before) if point else word
    count = np.int64(last >> np.uint64(3)) - point
    good = (behind != 0) & (first != 0) & (places != 1) & (at + count + point <= end)
    good &= (first == 8) | (word & _BYTE != _ZERO)
    good &= (word >> last) & _BYTE | np.uint64(32) != _EXPONENT
    if not good:
        return 0.0, -1
    value = np.float64(np.int64(_value_of_eight(digits << np.uint64(64 - 8 * count))))
    ten = as_double(get(powers, 3 * (max(places - 1, 0) - SMALLEST_POWER) + 2))
    return value / ten, at + count + point


@inlined
def read_number(text, at, end, powers):
    """A number of JSON's from `at` on: its value, and where it ends; -1 if it is none, or its double is not known.

    Eight bytes are read from `at` on, wherever the end is.
    """
    negative = at < end and get(text, at) == 45
    at += negative
    value, behind = _short_number(text, at, end, powers)
    if behind < 0:
        value, behind = _any_number(text, at, end, powers)
    return -value if negative else value, behind


@inlined
def _any_number(text, at, end, powers):
    """A number without sign."""
    first = at
    digits, at = read_digits(text, at, end, np.uint64(0))
    whole = at - first
    if whole == 0 or (whole > 1 and get(text, first) == 48):
        return 0.0, -1
    power: Any = 0
    leading = 0
    if at < end and get(text, at) == 46:
        point = at + 1
        at = point
        if digits == 0:
            while at < end and get(text, at) == 48:
                at += 1
            leading = (
                at - point + 1
            )  # zeros before the first digit that counts, the one before the point too
        digits, at = read_digits(text, at, end, digits)
        power = point - at
        if power == 0:
            return 0.0, -1
    if whole - power - leading > _MOST_DIGITS:
        return 0.0, -1
    if at < end and (get(text, at) == 101 or get(text, at) == 69):
        at += 1
        down = at < end and get(text, at) == 45
        if down or (at < end and get(text, at) == 43):
            at += 1
        first = at
        shift, at = read_digits(text, at, end, np.uint64(0))
        if at == first or at - first > 4:
            return 0.0, -1
        steps = np.int64(shift)
        power = power - steps if down else power + steps
    value = 0.0
    if digits != 0:
        if digits <= _EXACT_WHOLE and -_EXACT_POWER <= power <= _EXACT_POWER:
            value = np.float64(digits)
            if power < 0:
                value /= as_double(get(powers, 3 * (-power - SMALLEST_POWER) + 2))
            elif power > 0:
                value *= as_double(get(powers, 3 * (power - SMALLEST_POWER) + 2))
        elif power < SMALLEST_POWER or power > LARGEST_POWER:
            return 0.0, -1
        else:
            bits = _nearest(digits, power, powers)
            if bits == 0:
                return 0.0, -1
            value = as_double(bits)
    return value, at
