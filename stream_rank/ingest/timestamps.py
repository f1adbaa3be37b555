"""Timestamps of events: milliseconds since 1970, or text as in RFC 3339, of which the time or the zone may be missing."""

import re
from datetime import UTC, datetime
from math import isfinite
from typing import Literal

from stream_rank.engine.reading.timestamps import FIRST, LAST, NO_TIME

__all__ = ["FIRST", "LAST", "NO_TIME", "TimeUnit", "moment_of", "written"]

TimeUnit = Literal["ms", "s", "us", "ns"]
"""What a time that is a number counts."""
_WORDS = {"ms": "milliseconds", "s": "seconds", "us": "microseconds", "ns": "nanoseconds"}

_PER_MILLISECOND = {"ms": 1, "us": 1_000, "ns": 1_000_000}
_FORM = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})"
    r"(?:\.([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))?)?"
)


def moment_of(given: float | str, unit: TimeUnit = "ms") -> int:
    """A timestamp in milliseconds, truncated; raises `ValueError` if it is not one. Seconds may have a fraction.

    A day without a time is its beginning, and a time without a zone is UTC: so tables have it.

    >>> moment_of("1970-01-02T00:00:01.5+01:00")
    82801500
    >>> moment_of("1970-01-02"), moment_of("1970-01-01 00:00:01")
    (86400000, 1000)
    >>> moment_of(1.5, "s"), moment_of(1_500_000, "ns")
    (1500, 1)
    """
    if isinstance(given, str):
        found = _FORM.fullmatch(given)
        if found is None:
            raise ValueError(
                f"time {given[:40]!r} is not of the form 2026-01-31T12:00:00Z (RFC 3339) or 2026-01-31, "
                f"and no whole number of {_WORDS[unit]} since 1970"
            )
        year, month, day, hour, minute, second = (int(each or 0) for each in found.groups()[:6])
        whole = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        since = whole - datetime(1970, 1, 1, tzinfo=UTC)
        moment = (since.days * 86400 + since.seconds) * 1000
        fraction, sign, hours, minutes = found.groups()[6:]
        moment += int(((fraction or "") + "000")[:3])
        if sign:
            if int(hours) > 23 or int(minutes) > 59:
                raise ValueError(f"time {given!r} has an offset out of range")
            offset = (int(hours) * 60 + int(minutes)) * 60_000
            moment += offset if sign == "-" else -offset
    elif isinstance(given, float):
        if unit != "s" or not isfinite(given):
            raise ValueError(
                f"time {given!r} is no whole number of {_WORDS[unit]} since 1970; seconds may have a fraction, with `ts_unit` s"
            )
        if not isfinite(given * 1000):
            raise ValueError(f"time {given!r} is not in the years 1 to 9999")
        moment = round(given * 1000)
    elif unit == "s":
        moment = given * 1000
    else:
        moment = given // _PER_MILLISECOND[unit]
    if not FIRST <= moment <= LAST:
        raise ValueError(f"time {given!r:.40} is not in the years 1 to 9999")
    return moment


def written(moment: int) -> str:
    """A timestamp as text, as in RFC 3339."""
    whole, thousandths = divmod(moment, 1000)
    text = datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{thousandths:03d}Z" if thousandths else f"{text}Z"
