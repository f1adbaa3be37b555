"""The tree of keys by which the scanner walks: what a node has, and what it may be.

A node is a key of the objects that stand under its parent; the root is the record. Texts, as values, belong to the node of
their key; both are found in a `key_table`, keys under the owner `2 * parent`, texts under `2 * node + 1`.
"""

from typing import Any, NamedTuple

__all__ = [
    *("ALONE", "BARE", "CATEGORY", "CONTEXT", "DESCEND", "EVENT", "FIRST", "FLAGS", "GROUP", "ID", "ITEMS", "ITEM_0"),
    *("ITEM_1", "LABELS", "LENGTH", "LISTED", "MAGNITUDE", "MARKS", "NAME", "NEXT", "NOT_NULL", "NUMBER"),
    *("OPEN", "OTHER", "OUTER_ID", "OUTER_TS", "PAYLOAD", "PREFERRED", "SLOT", "STAMP", "STRICT", "TIE"),
    *("TOKENS", "TS", "VALUES", "WIDTH", "WORD", "X", "Y", "KeyTree"),
]  # fmt: skip

WIDTH = 8
"""Words of a node: a line of the processor's cache."""
NAME, LENGTH, FLAGS, SLOT, NEXT, FIRST, STAMP, WORD = range(WIDTH)
"""Where the name begins among all names, each closed by a quote; its length with the quote; what the node is; the slot of
its number, or -1; the node that came behind it last; the child that came first last; the record in which it stood last; the name's first bytes."""

ITEM_0, ITEM_1 = 1, 2
"""The value is of the first item (which a rating has alone), of the other one; of both it is what they share."""
Y, MAGNITUDE, TIE, ID, GROUP, TS = 4, 8, 16, 32, 64, 128
OUTER_ID, OUTER_TS = 256, 512
"""The id and the time of an envelope, which count where the event has none."""
DESCEND, CATEGORY, LISTED, OPEN = 1 << 10, 1 << 11, 1 << 12, 1 << 13
"""What stands in an object is in the tree; numbers are names; an item, which may be a list of numbers and is no value
itself; keys that are not in the tree are passed over."""
STRICT, NOT_NULL, NUMBER = 1 << 14, 1 << 15, 1 << 16
"""Nothing but an object may stand here; no null; a plain number is taken as it is."""
X, PREFERRED, OTHER, CONTEXT = 1 << 17, 1 << 18, 1 << 19, 1 << 20
PAYLOAD, BARE, EVENT, ALONE = 1 << 21, 1 << 22, 1 << 23, 1 << 24
"""The node of an envelope that holds the event's, that of an event which might stand beside it, and the event;
the feature's number is known by no other node of its item, nor by a text."""

ITEMS, LABELS = ITEM_0 | ITEM_1, Y | MAGNITUDE
TOKENS = ID | GROUP | TS | OUTER_ID | OUTER_TS
VALUES = ITEMS | LABELS | TIE
MARKS = LABELS | TIE | ID | GROUP | TS | X | PREFERRED | OTHER | CONTEXT | PAYLOAD | BARE | EVENT
"""What is noted of a record in which such a node stands."""


class KeyTree(NamedTuple):
    """The tree and all that it knows, as arrays."""

    nodes: Any
    """`WIDTH` words a node."""
    names: Any
    """The names of nodes, each closed by a quote."""
    table: Any
    stored: Any
    """Bytes of the table's longer keys and texts."""
    secrets: Any
    listed: Any
    """The slots of features that are named by their place in a list, or -1."""
    stamps: Any
    """Two for each slot: the record in which it stood last, in the first item and in the other."""
