"""The tree of keys by which the scanner walks, grown by the records that it left to the slow way.

What is in the tree changes no result, only how fast it comes.
"""

import json
import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from stream_rank.codec.feature_index import FeatureIndex
from stream_rank.engine.memory import aligned
from stream_rank.engine.reading import key_nodes as node_of
from stream_rank.engine.reading import key_table
from stream_rank.engine.reading.key_nodes import KeyTree
from stream_rank.engine.reading.scan import DEEPEST, PADDING
from stream_rank.errors import FeatureError
from stream_rank.learners.base.values import LONGEST_NAME, category_text

__all__ = ["PENDING", "Keys", "Layout", "Place"]

Array = npt.NDArray[Any]

_PLAIN = str.maketrans("", "", "".join(map(chr, range(32))) + '"\\')
"""Removes the characters that JSON escapes."""
_MOST_DEEP = DEEPEST - 2
"""As deep may a node lie: the scanner keeps the objects that are open in so much room."""
_NO_PLAIN_NUMBER = node_of.LABELS | node_of.TIE | node_of.TOKENS
PENDING = 1 << 31
"""Flags of a key that was entered before any record had it, and is left to the slow way until one has."""
_BARREN, _SELDOM = 500, 64
"""After so many records in a row that brought nothing new, one in so many is looked at."""
_SECRETS: Array = np.frombuffer(os.urandom(32), np.uint64) | np.uint64(1)
"""What the hashes of this process depend on, so that nobody can send names that collide."""


class Place(NamedTuple):
    """What stands under a key."""

    flags: int
    """What the key's node is, as `engine.reading.key_nodes` has it."""
    path: str
    """The dotted name, by which its children are told."""
    feature: str | None = None
    """What the feature is called, if it is one."""


class Layout(Protocol):
    """Where everything stands in a record."""

    way: int
    """What tells the kind of an event, as `scan` wants it."""
    root: int
    """The flags of the record."""
    seeds: Mapping[str, Any]
    """Keys that are entered at once, each with those below: where others are passed over, these must be known."""

    def place(self, flags: int, path: str, key: str, sown: bool) -> Place | None:
        """What stands under a key of an object with these flags and this path; None if the slow way has to say.

        A key that is `sown` may be `PENDING`: then it is asked for again, as soon as a record has it.
        """


class Keys:
    """The nodes, and the table by which they and their texts are found.

    Cost: amortised some microseconds for each key or text that is entered; some hundred bytes.
    """

    def __init__(self, index: FeatureIndex, layout: Layout, categories: Any, most: int) -> None:
        """At most about `most` keys and texts are entered."""
        self._index, self._layout = index, layout
        self._categories, self._most = categories, most
        self._nodes: Array = np.full((16, node_of.WIDTH), -1, np.int64)
        self._names: Array = np.zeros(256, np.uint8)
        self._n_names = 0
        self._table = _empty_table(64)
        self._stored: Array = np.zeros(256, np.uint8)
        self._n_rows = self._n_stored = 0
        self._stamps: Array = np.full(16, -1, np.int64)
        self._stamps_used = 0
        self._places: list[Place] = []
        self._children: dict[int, dict[str, int]] = {}
        self._deep: list[int] = []
        self._slots: list[int] = []
        self._ways: dict[int, int] = {}
        self._nodes_of: dict[str, list[int]] = {}
        """The nodes of each feature."""
        self._shared: set[int] = set()
        self._new: list[tuple[int, bytes, int]] = []
        self._barren = 0
        self._add(Place(layout.root, ""), "", 0)
        self._sow(0, layout.seeds)
        self._enter()

    def __len__(self) -> int:
        """How many keys and texts there are."""
        return self._n_rows

    @property
    def longest_run(self) -> int:
        """The most entries that any search looks at."""
        return int(key_table.longest_run(self._table.reshape(-1)))

    def tables(self, n_lines: int) -> tuple[KeyTree, int]:
        """The tree for the scanner, and the first stamp of `n_lines`."""
        stamp = self._stamps_used
        self._stamps_used += n_lines
        self._stamps = _grown(self._stamps, 2 * len(self._index), -1)
        tree = KeyTree(
            self._nodes.reshape(-1),
            self._names,
            self._table.reshape(-1),
            self._stored,
            _SECRETS,
            self._index.listed,
            self._stamps,
        )
        return tree, stamp

    def learn(self, raw: bytes) -> None:
        """Enter the keys and texts of a record that the slow way decoded, as far as their features have slots."""
        if self._barren > _BARREN and self._barren % _SELDOM:
            self._barren += 1
            return
        try:
            content = msgspec.json.decode(raw)
        except (ValueError, RecursionError):
            return
        before = self._n_rows, self._changed
        self._walk(0, content)
        self._enter()
        self._barren = self._barren + 1 if before == (self._n_rows, self._changed) else 0

    def forget(self, names: Sequence[Hashable], slots: Sequence[int]) -> bool:
        """Leave everything to the slow way that led to these slots, which had these names; whether there is room for what comes.

        Cost: some microseconds for each name.
        """
        for name, slot in zip(names, slots, strict=True):
            if isinstance(name, str):
                for node in self._nodes_of.get(name, ()):
                    self._slots[node] = self._nodes[node, node_of.SLOT] = -1
                    self._nodes[node, node_of.FLAGS] = self._places[node].flags
                cut = name.find("=")
                while cut >= 0:
                    for node in self._nodes_of.get(name[:cut], ()):
                        self._note(2 * node + 1, name[cut + 1 :], key_table.ABSENT, sown=True)
                    cut = name.find("=", cut + 1)
            for item in (0, 1):
                self._ways.pop(2 * slot + item, None)
                self._shared.discard(2 * slot + item)
        self._enter()
        self._barren = 0
        return self._room()

    _changed = 0
    """How often a node's slot was set."""

    def _sow(self, node: int, seeds: Mapping[str, Any]) -> None:
        for key, below in seeds.items():
            child = self._child(node, key, sown=True)
            if child is not None:
                self._sow(child, below)

    def _walk(self, node: int, content: Mapping[str, Any]) -> None:
        for key, value in content.items():
            child = self._child(node, key)
            if child is None:
                continue
            place = self._places[child]
            if place.flags & PENDING:
                place = self._settle(node, child, key)
            if isinstance(value, dict):
                if place.flags & node_of.DESCEND:
                    self._walk(child, value)
            elif place.feature is not None and value is not None:
                self._feature(child, place.feature, value)

    def _feature(self, node: int, name: str, value: Any) -> None:
        """Enter the slots of what stands under a feature's name."""
        slot_of, category = self._index.slot_of, name in self._categories
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, str) or (category and isinstance(part, int | float)):
                try:
                    text = category_text(name, part)
                except FeatureError:
                    continue
                slot = slot_of.get(f"{name}={text}", -1) if text else key_table.MISSING
                written = part if isinstance(part, str) else text
                if slot >= 0:
                    slot = self._by_text(node, slot)
                if slot != -1 and len(written) <= LONGEST_NAME:
                    self._note(2 * node + 1, written, slot)
        if self._slots[node] < 0 and isinstance(value, int | float):
            slot = slot_of.get(name, -1)
            if slot >= 0:
                self._slots[node] = self._nodes[node, node_of.SLOT] = slot
                self._by_number(node, slot)
                self._changed += 1

    def _by_number(self, node: int, slot: int) -> None:
        """Have a node's flags say whether its number alone leads to a slot: then that needs no stamp."""
        flags = self._places[node].flags
        plain = not flags & _NO_PLAIN_NUMBER and flags & node_of.NUMBER
        if self._lead(node, slot, flags & node_of.ITEMS) and plain:
            self._nodes[node, node_of.FLAGS] = flags | node_of.ALONE

    def _by_text(self, node: int, slot: int) -> int:
        """What is found for a text that leads to a slot: the slot, and whether nothing else does."""
        items = self._places[node].flags & node_of.ITEMS
        alone = self._lead(~node, slot, items) and items == node_of.ITEM_0
        return slot | key_table.ALONE if alone else slot

    def _lead(self, way: int, slot: int, items: int) -> bool:
        """Whether a way (a node for its number, its complement for its texts) is the only one to a slot of its one item."""
        alone = items != node_of.ITEMS
        for item in (0, 1):
            if not items >> item & 1:
                continue
            key = 2 * slot + item
            first = self._ways.setdefault(key, way)
            if key in self._shared:
                alone = False
            elif first != way:
                alone = False
                self._shared.add(key)
                self._share(first, slot)
        return alone

    def _share(self, way: int, slot: int) -> None:
        """Have a way look at stamps, now that it is not the only one."""
        if way >= 0:
            self._nodes[way, node_of.FLAGS] = self._places[way].flags
        else:
            name, feature = str(self._index.names[slot]), str(self._places[~way].feature)
            self._note(2 * ~way + 1, name[len(feature) + 1 :], slot, sown=True)

    def _child(self, node: int, key: str, sown: bool = False) -> int | None:
        """The node of a key, which is made if there is room for it."""
        children = self._children.setdefault(node, {})
        found = children.get(key)
        short = len(key) <= LONGEST_NAME and self._deep[node] < _MOST_DEEP
        if found is None and (sown or (short and self._room())):
            parent = self._places[node]
            place = self._layout.place(parent.flags, parent.path, key, sown)
            if place is None:
                return None
            found = children[key] = self._add(place, key, self._deep[node] + 1)
            self._note(2 * node, key, found, sown)
        return found

    def _settle(self, parent: int, node: int, key: str) -> Place:
        """Have a node be what it is, now that a record has it."""
        above = self._places[parent]
        place = self._layout.place(above.flags, above.path, key, sown=False)
        if place is not None:
            self._places[node] = place = self._categorical(place)
            self._name_node(node, place)
            self._nodes[node, node_of.FLAGS] = place.flags
            self._changed += 1
        return self._places[node]

    def _categorical(self, place: Place) -> Place:
        """The place, with numbers that are names if the feature is a category."""
        if place.feature is None or place.feature not in self._categories:
            return place
        return place._replace(flags=(place.flags | node_of.CATEGORY) & ~node_of.NUMBER)

    def _room(self) -> bool:
        return self._n_rows + len(self._new) < self._most

    def _add(self, place: Place, key: str, deep: int) -> int:
        """Add a node."""
        node = len(self._places)
        place = self._categorical(place)
        self._places.append(place)
        self._name_node(node, place)
        self._deep.append(deep)
        self._slots.append(-1)
        name = key.encode() + b'"'
        self._nodes = _grown(self._nodes, node + 1, -1)
        self._names = _grown(self._names, self._n_names + len(name) + PADDING, 0)
        self._names[self._n_names : self._n_names + len(name)] = np.frombuffer(name, np.uint8)
        self._nodes[node, : node_of.FLAGS + 1] = self._n_names, len(name), place.flags
        first = name[:8].ljust(8, b"\0")
        self._nodes[node, node_of.WORD] = int.from_bytes(first, "little", signed=True)
        self._n_names += len(name)
        return node

    def _name_node(self, node: int, place: Place) -> None:
        if place.feature is not None:
            nodes = self._nodes_of.setdefault(place.feature, [])
            if node not in nodes:
                nodes.append(node)

    def _note(self, owner: int, text: str, found: int, sown: bool = False) -> None:
        """Have bytes entered, in the ways in which producers write them: as they are, or escaped down to ASCII."""
        if sown or self._room():
            if text.isascii() and text.translate(_PLAIN) == text:
                self._new.append((owner, text.encode(), found))
                return
            for ascii_alone in (True, False):
                written = json.dumps(text, ensure_ascii=ascii_alone)[1:-1]
                self._new.append((owner, written.encode(), found))

    def _enter(self) -> None:
        """Enter what was noted."""
        if not self._new:
            return
        owners, texts, found = zip(*self._new, strict=True)
        self._new = []
        bounds = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in texts], out=bounds[1:])
        text = np.frombuffer(b"".join([*texts, bytes(PADDING)]), np.uint8)
        rows = len(self._table)
        while 2 * (self._n_rows + len(texts)) >= rows:
            rows *= 2
        if rows > len(self._table):
            larger = _empty_table(rows)
            key_table.rehash(self._table.reshape(-1), larger.reshape(-1), _SECRETS)
            self._table = larger
        self._stored = _grown(self._stored, self._n_stored + len(text) + PADDING, 0)
        new, self._n_stored = key_table.enter_all(
            *(text, bounds, np.array(owners, np.int64), np.array(found, np.int64)),
            *(self._table.reshape(-1), _SECRETS, self._stored, self._n_stored),
        )
        self._n_rows += new


def _empty_table(rows: int) -> Array:
    """A table of which no row lies across two lines of the processor's cache."""
    table = aligned((rows, key_table.ROW), np.int64)
    table.fill(key_table.ABSENT)
    return table


def _grown(array: Array, size: int, fill: int) -> Array:
    """The array, or a copy of twice `size` if it has fewer rows than `size`."""
    if size <= len(array):
        return array
    larger: Array = np.full((2 * size, *array.shape[1:]), fill, array.dtype)
    larger[: len(array)] = array
    return larger
