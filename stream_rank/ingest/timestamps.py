"""Timestamps of events: milliseconds since 1970, or text as in RFC 3339."""

import re
from datetime import UTC, datetime

from stream_rank.engine.reading.timestamps import FIRST, LAST, NO_TIME

__all__ = ["FIRST", "LAST", "NO_TIME", "moment_of", "written"]

_FORM = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})"
    r"(?:\.([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)


def moment_of(given: int | str) -> int:
    """A timestamp in milliseconds, truncated; raises `ValueError` if it is not one.

    >>> moment_of("1970-01-02T00:00:01.5+01:00")
    82801500
    """
    if isinstance(given, str):
        found = _FORM.fullmatch(given)
        if found is None:
            raise ValueError(
                f"time {given[:40]!r} is not of the form 2026-01-31T12:00:00Z (RFC 3339), "
                "and no whole number of milliseconds since 1970"
            )
        year, month, day, hour, minute, second = map(int, found.groups()[:6])
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
    else:
        moment = given
    if not FIRST <= moment <= LAST:
        raise ValueError(f"time {given!r} is not in the years 1 to 9999")
    return moment


def written(moment: int) -> str:
    """A timestamp as text, as in RFC 3339."""
    whole, thousandths = divmod(moment, 1000)
    text = datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{thousandths:03d}Z" if thousandths else f"{text}Z"
