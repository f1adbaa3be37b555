"""A compiled decoder (msgspec) for the events that the scanner does not take: new names, escapes, rankings, choices."""

from typing import Annotated, Any

import msgspec

from stream_rank.codec.envelope import Left
from stream_rank.codec.event import Event, Kind, comparison_of, event_of
from stream_rank.codec.form import OWN_FORM, EventForm

__all__ = ["decode"]

_Name = str | Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Named = Annotated[dict[str, Any], msgspec.Meta(min_length=1)]
_Features = _Named | Annotated[list[float], msgspec.Meta(min_length=1)]
_Place = _Named | Annotated[list[float | dict[str, Any] | list[float]], msgspec.Meta(min_length=1)]
"""An item, or a list of items: which of the two a list is, its first element says."""


class _Wire(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The keys of events of all kinds."""

    x: _Features | msgspec.UnsetType | None = msgspec.UNSET
    y: float | msgspec.UnsetType | None = msgspec.UNSET
    preferred: _Features | msgspec.UnsetType = msgspec.UNSET
    other: _Features | msgspec.UnsetType = msgspec.UNSET
    magnitude: Annotated[float, msgspec.Meta(ge=0)] | msgspec.UnsetType | None = msgspec.UNSET
    tie: bool | msgspec.UnsetType | None = msgspec.UNSET
    ranking: Annotated[list[_Place], msgspec.Meta(min_length=1)] | msgspec.UnsetType = msgspec.UNSET
    chosen: _Features | msgspec.UnsetType = msgspec.UNSET
    among: Annotated[list[_Features], msgspec.Meta(min_length=1)] | msgspec.UnsetType = (
        msgspec.UNSET
    )
    context: _Features | msgspec.UnsetType | None = msgspec.UNSET
    id: _Name | None = None
    ts: int | float | str | None = None
    group: _Name | msgspec.UnsetType | None = msgspec.UNSET


_decode = msgspec.json.Decoder(_Wire).decode
_UNSET = msgspec.UNSET

_KEYS = (
    "x",
    "y",
    "preferred",
    "other",
    "magnitude",
    "tie",
    "ranking",
    "chosen",
    "among",
    "context",
)
_KINDS = {
    Kind.PREFERENCE: ({"preferred", "other"}, {"magnitude", "tie", "context"}),
    Kind.RANKING: ({"ranking"}, {"context"}),
    Kind.CHOICE: ({"chosen", "among"}, {"context"}),
}
"""The keys that a comparison has, and those that it may have."""


def decode(raw: bytes, form: EventForm = OWN_FORM) -> Event | None:
    """The event, or None if it is invalid: then `schema.parse` gives the reason.

    >>> decode(b'{"x": {"a": 1}, "y": 3}').y
    3.0
    """
    try:
        wire = _decode(raw) if form.own else _convert(raw, form)
        if wire is None:
            return None
        group = None if wire.group is _UNSET else wire.group
        if wire.x is _UNSET and wire.y is _UNSET:
            return _comparison(wire, group, form)
        given = [key for key in _KEYS[2:] if getattr(wire, key) is not _UNSET]
        if given or wire.x is None:
            return None
        if wire.x is _UNSET:
            if wire.y is None or wire.y is _UNSET or wire.id is None or wire.group is not _UNSET:
                return None
            return event_of(Kind.LABEL, y=wire.y, name=wire.id, ts=wire.ts, form=form)
        label = None if wire.y is _UNSET else wire.y
        kind = Kind.REQUEST if label is None else Kind.RATING
        return event_of(kind, wire.x, label, wire.id, wire.ts, group, form)
    except (ValueError, OverflowError, RecursionError):  # msgspec's errors are ValueErrors
        return None


_MOST_BRACKETS = 150
"""A record with more is left to the schema's parser, which has a limit for how deep it goes."""


def _convert(raw: bytes, form: EventForm) -> Any:
    """An event of another form; None if it is left to others."""
    if raw.count(b"[") + raw.count(b"{") > _MOST_BRACKETS:
        return None
    try:
        return msgspec.convert(form.own_form(msgspec.json.decode(raw)), _Wire)
    except Left:
        return None


def _comparison(wire: Any, group: str | int | None, form: EventForm) -> Event | None:
    """A preference, a ranking or a choice; None if it is none."""
    keys = {key for key in _KEYS if getattr(wire, key) is not _UNSET}
    fitting = (kind for kind, (needed, may) in _KINDS.items() if needed <= keys <= needed | may)
    kind = next(fitting, None)
    if kind is None:
        return None
    context = None if wire.context is _UNSET else wire.context
    more: dict[str, Any] = {"context": context, "name": wire.id, "ts": wire.ts, "group": group}
    more["form"] = form
    if kind is Kind.PREFERENCE:
        magnitude = None if wire.magnitude is _UNSET else wire.magnitude
        tie = None if wire.tie is _UNSET else wire.tie
        if tie is not None and magnitude is not None and tie != (magnitude == 0):
            return None
        return comparison_of(
            kind, (wire.preferred, wire.other), magnitude=magnitude, tie=tie, **more
        )
    if kind is Kind.CHOICE:
        return comparison_of(kind, [wire.chosen, *wire.among], **more)
    if not all(map(_is_place, wire.ranking)):
        return None
    if len(wire.ranking) == 1 and (isinstance(wire.ranking[0], dict) or len(wire.ranking[0]) < 2):
        return None
    if len(wire.ranking) == 1 and not isinstance(wire.ranking[0][0], dict | list):
        return None
    return comparison_of(kind, wire.ranking, **more)


def _is_place(given: Any) -> bool:
    """Whether it is an item, or a list of nothing but items."""
    if isinstance(given, dict) or all(isinstance(each, float | int) for each in given):
        return True
    return all(isinstance(each, dict | list) and len(each) for each in given)
