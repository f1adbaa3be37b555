"""Times as in RFC 3339, read out of a text.

The plain form alone, with `T` and `Z` in capitals; whatever else is a time is left to `stream_rank.ingest.timestamps`,
and what is read here is what it would read.
"""

from stream_rank.engine.jit import inlined
from stream_rank.engine.pointers import get
from stream_rank.engine.reading.decimals import is_digit

__all__ = ["FIRST", "LAST", "NO_TIME", "moment_at"]

NO_TIME = -(1 << 63)
FIRST, LAST = -62_135_596_800_000, 253_402_300_799_999
"""The first and the last millisecond of the years 1 to 9999, UTC."""

_COLON, _MINUS, _POINT, _PLUS, _T, _Z = 58, 45, 46, 43, 84, 90


@inlined
def _whole(text, at, count):
    """The number that `count` digits make; -1 if one is none."""
    number = 0
    for place in range(at, at + count):
        if not is_digit(get(text, place)):
            return -1
        number = number * 10 + get(text, place) - 48
    return number


@inlined
def _days(year, month, day):
    """Days from 1970 on, in the calendar of Gregory: years begin in March, so that a leap day is a year's last."""
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


@inlined
def moment_at(text, at, close):
    """Milliseconds of the time that stands from `at` to `close` as in RFC 3339; NO_TIME if it is not plain."""
    if close - at < 20:
        return NO_TIME
    year, month, day = _whole(text, at, 4), _whole(text, at + 5, 2), _whole(text, at + 8, 2)
    hour, minute, second = (
        _whole(text, at + 11, 2),
        _whole(text, at + 14, 2),
        _whole(text, at + 17, 2),
    )
    plain = get(text, at + 4) == _MINUS and get(text, at + 7) == _MINUS
    plain &= get(text, at + 10) == _T
    plain &= get(text, at + 13) == _COLON and get(text, at + 16) == _COLON
    plain &= year >= 1 and 1 <= month <= 12 and day >= 1
    plain &= 0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 59
    if not plain:
        return NO_TIME
    following = _days(year + (month == 12), month % 12 + 1, 1)
    if day > following - _days(year, month, 1):
        return NO_TIME
    at += 19
    thousandths = 0
    if get(text, at) == _POINT:
        at += 1
        scale, first = 100, at
        while at < close and is_digit(get(text, at)):
            thousandths += scale * (get(text, at) - 48)
            scale //= 10
            at += 1
        if at == first:
            return NO_TIME
    offset = 0
    if at + 1 == close and get(text, at) == _Z:
        offset = 0
    elif at + 6 == close and (get(text, at) == _PLUS or get(text, at) == _MINUS):
        hours, minutes = _whole(text, at + 1, 2), _whole(text, at + 4, 2)
        if get(text, at + 3) != _COLON or not (0 <= hours <= 23 and 0 <= minutes <= 59):
            return NO_TIME
        offset = (hours * 60 + minutes) * (-1 if get(text, at) == _MINUS else 1)
    else:
        return NO_TIME
    minutes = (_days(year, month, day) * 24 + hour) * 60 + minute - offset
    return (minutes * 60 + second) * 1000 + thousandths
