"""Where everything stands in an event of our own form."""

from collections.abc import Mapping
from typing import Any

from stream_rank.codec.key_tree import Place
from stream_rank.engine.reading import key_nodes as node_of
from stream_rank.engine.reading.events import OWN_FORM

__all__ = ["OwnLayout"]

_ITEM = node_of.DESCEND | node_of.LISTED
_KEYS = {
    "x": node_of.X | node_of.ITEM_0 | node_of.NOT_NULL | _ITEM,
    "preferred": node_of.PREFERRED | node_of.ITEM_0 | node_of.NOT_NULL | _ITEM,
    "other": node_of.OTHER | node_of.ITEM_1 | node_of.NOT_NULL | _ITEM,
    "context": node_of.CONTEXT | node_of.ITEMS | _ITEM,
    "y": node_of.Y | node_of.NUMBER,
    "magnitude": node_of.MAGNITUDE | node_of.NUMBER,
    "tie": node_of.TIE,
    "id": node_of.ID,
    "group": node_of.GROUP,
    "ts": node_of.TS,
}
"""Rankings and choices are for others to read."""


class OwnLayout:
    """The keys of the schema; what stands in an item are features."""

    way = OWN_FORM
    root = node_of.DESCEND | node_of.EVENT
    seeds: Mapping[str, Any] = {key: {} for key in _KEYS}

    def place(self, flags: int, path: str, key: str, sown: bool) -> Place | None:
        """What stands under a key."""
        if flags & node_of.EVENT:
            return Place(_KEYS[key], "") if key in _KEYS else None
        name = f"{path}.{key}" if path or not flags & node_of.LISTED else key
        items = flags & node_of.ITEMS
        return Place(items | node_of.DESCEND | node_of.NUMBER, name, name)
