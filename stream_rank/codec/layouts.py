"""Where everything stands in a record, for the scanner: what `EventForm.own_form` does with parsed events, as nodes of a tree."""

from collections.abc import Iterable, Mapping
from typing import Any

from stream_rank.codec.fields import Fields
from stream_rank.codec.form import EventForm
from stream_rank.codec.key_tree import PENDING, Layout, Place
from stream_rank.codec.own_form import OwnLayout
from stream_rank.engine.reading import key_nodes as node_of
from stream_rank.engine.reading.events import PREFERENCES, RATINGS

__all__ = ["EnvelopeLayout", "FieldsLayout", "layout_of"]

_EVENT = node_of.STRICT | node_of.NOT_NULL | node_of.DESCEND
_REFUSED = node_of.STRICT | node_of.NOT_NULL
"""What stands here is always for the slow way to say."""
_ENVELOPE = 1 << 30
"""The record, if it is an envelope."""
_ROLES = {
    "y": node_of.Y | node_of.NUMBER,
    "magnitude": node_of.MAGNITUDE | node_of.NUMBER,
    "tie": node_of.TIE,
    "id": node_of.ID,
    "group": node_of.GROUP,
    "ts": node_of.TS,
}
_ITEMS = {
    "x": node_of.ITEM_0,
    "preferred": node_of.ITEM_0,
    "other": node_of.ITEM_1,
    "context": node_of.ITEMS,
}
_MOST_PARTS = 5
"""A name of so many parts has sixteen spellings, each of which is entered."""


class FieldsLayout:
    """Fields by their dotted names, as `Fields.own_form` finds them."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self.way = PREFERENCES if fields.of_preferences else RATINGS
        self._spelled: dict[str, tuple[str, str]] = {}
        names = [*fields.roles.values()]
        names += [name for some in fields.items.values() for name in some if "*" not in name]
        self._passes_over = all(name.count(".") < _MOST_PARTS for name in names)
        self.root = node_of.DESCEND | node_of.EVENT
        self.seeds: Mapping[str, Any] = {}
        if self._passes_over:
            self.seeds = _spellings(names)
            self.root |= 0 if fields.more_below(None) else node_of.OPEN

    def place(self, flags: int, path: str, key: str, sown: bool) -> Place | None:
        """What stands under a key."""
        inner = key if flags & node_of.EVENT else f"{path}.{key}"
        if sown and "." in inner:  # which of its spellings is used, records will say
            return Place(_REFUSED | PENDING, inner)
        if self._spelled.setdefault(inner, (path, key)) != (path, key):
            return Place(_REFUSED, inner)  # another spelling, of what may stand there twice then
        fields = self._fields
        roles, features = fields.place(inner)
        found = 0
        for role in roles:
            found |= _ROLES[role]
        for item in features:
            found |= _ITEMS[item] | node_of.NUMBER
        names = set(features.values())
        odd = len(names) > 1 or (found & node_of.TIE and found & ~node_of.TIE)
        odd = odd or (found & node_of.TS and found & (node_of.ID | node_of.GROUP))
        if odd or found & node_of.LABELS == node_of.LABELS:
            return Place(_REFUSED, inner)
        if not roles and fields.below(inner):
            found |= node_of.DESCEND
            if self._passes_over and not fields.more_below(inner):
                found |= node_of.OPEN
        elif not roles and features:
            found |= node_of.DESCEND
        if found == 0 and flags & node_of.OPEN:
            return None  # it is passed over in any case
        return Place(found, inner, names.pop() if names else None)


class EnvelopeLayout:
    """An event in an envelope."""

    root = node_of.DESCEND | node_of.OPEN | _ENVELOPE

    def __init__(self, envelope: str, inner: Layout) -> None:
        self._inner, self.way = inner, inner.way
        event = _EVENT | node_of.EVENT | (inner.root & node_of.OPEN)
        self._keys: dict[int, dict[str, int]]
        if envelope == "debezium":
            payload = _EVENT | node_of.OPEN | node_of.PAYLOAD
            self._keys = {
                _ENVELOPE: {"payload": payload, "after": event | node_of.BARE},
                node_of.PAYLOAD: {"after": event},
            }
            self.seeds: Mapping[str, Any] = {
                "payload": {"after": inner.seeds},
                "after": inner.seeds,
            }
        else:
            self._keys = {
                _ENVELOPE: {
                    "data": event,
                    "data_base64": _REFUSED,
                    "id": node_of.OUTER_ID,
                    "time": node_of.OUTER_TS,
                }
            }
            self.seeds = {"data": inner.seeds, "data_base64": {}, "id": {}, "time": {}}

    def place(self, flags: int, path: str, key: str, sown: bool) -> Place | None:
        """What stands under a key."""
        for outer, keys in self._keys.items():
            if flags & outer:
                return Place(keys[key], "") if key in keys else None
        return self._inner.place(flags, path, key, sown)


def layout_of(form: EventForm) -> Layout:
    """Where everything stands in a record of this form."""
    inner: Layout = OwnLayout() if form.fields is None else FieldsLayout(form.fields)
    return inner if form.envelope is None else EnvelopeLayout(form.envelope, inner)


def _spellings(names: Iterable[str]) -> dict[str, Any]:
    """The keys under which names may stand: of `a.b` the key `b` in an object `a`, and the key `a.b`."""
    seeds: dict[str, Any] = {}
    for name in names:
        parts = name.split(".")
        for size in range(1, len(parts) + 1):
            rest = ".".join(parts[size:])
            below = seeds.setdefault(".".join(parts[:size]), {})
            for key, inner in (_spellings([rest]) if size < len(parts) else {}).items():
                _merge(below, key, inner)
    return seeds


def _merge(seeds: dict[str, Any], key: str, below: dict[str, Any]) -> None:
    mine = seeds.setdefault(key, {})
    for name, inner in below.items():
        _merge(mine, name, inner)
