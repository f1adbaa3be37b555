"""A compiled decoder (msgspec) for the events that the scanner does not take: new names, lists, escapes, preferences."""

from typing import Annotated

import msgspec

from stream_rank.codec.schema import Event, Kind, event_of

__all__ = ["decode"]

_Name = str | Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Features = (
    Annotated[dict[str, float], msgspec.Meta(min_length=1)]
    | Annotated[list[float], msgspec.Meta(min_length=1)]
)


class _Wire(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The keys of events of all kinds."""

    x: _Features | msgspec.UnsetType | None = msgspec.UNSET
    y: float | msgspec.UnsetType | None = msgspec.UNSET
    preferred: _Features | msgspec.UnsetType = msgspec.UNSET
    other: _Features | msgspec.UnsetType = msgspec.UNSET
    magnitude: Annotated[float, msgspec.Meta(gt=0)] | msgspec.UnsetType | None = msgspec.UNSET
    id: _Name | None = None
    ts: int | str | None = None
    group: _Name | msgspec.UnsetType | None = msgspec.UNSET


_decode = msgspec.json.Decoder(_Wire).decode


def decode(raw: bytes) -> Event | None:
    """The event, or None if it is invalid: then `schema.parse` gives the reason.

    >>> decode(b'{"x": {"a": 1}, "y": 3}').y
    3.0
    """
    try:
        wire = _decode(raw)
        unset = msgspec.UNSET
        group = None if wire.group is unset else wire.group
        if wire.preferred is not unset or wire.other is not unset:
            mixed = wire.x is not unset or wire.y is not unset
            if mixed or wire.preferred is unset or wire.other is unset:
                return None
            magnitude = 1.0 if wire.magnitude in (unset, None) else wire.magnitude
            return event_of(
                Kind.PREFERENCE, wire.preferred, wire.other, magnitude, wire.id, wire.ts, group
            )
        if wire.magnitude is not unset or wire.x is None:
            return None
        if wire.x is unset:
            label = wire.y
            if label is unset or label is None or wire.id is None or wire.group is not unset:
                return None
            return event_of(Kind.LABEL, y=label, name=wire.id, ts=wire.ts)
        label = None if wire.y is unset else wire.y
        kind = Kind.REQUEST if label is None else Kind.RATING
        return event_of(kind, wire.x, None, label, wire.id, wire.ts, group)
    except (ValueError, OverflowError):  # msgspec's errors are ValueErrors
        return None
