"""Walking over Avro's binary encoding: where a value ends, and whether it is one, before anybody makes objects of it."""

import numpy as np

from stream_rank.engine.jit import compiled, inlined

__all__ = [
    *("ARRAY", "BOOLEAN", "BYTES", "DOUBLE", "ENUM", "FIXED", "FLOAT", "INTEGER", "MAP", "NULL"),
    *("NOT_AVRO", "RECORD", "TOO_DEEP", "TOO_MANY", "UNION", "walk"),
]

NULL, BOOLEAN, INTEGER, FLOAT, DOUBLE, BYTES = 0, 1, 2, 3, 4, 5
FIXED, ENUM, ARRAY, MAP, UNION, RECORD = 6, 7, 8, 9, 10, 11
"""Kinds of nodes. A node is a row of its kind and two numbers: the size of a fixed, the most bytes of what says itself how many it has,
the number of an enum's symbols, the node of the items of an array or a map, and of unions and records where their nodes begin among
the children, and how many they are."""

NOT_AVRO, TOO_MANY, TOO_DEEP = -1, -2, -3
"""Instead of an end: bytes that are none of the schema, more values than are allowed, or more of them one in the other."""
_LONGEST = 10
"""Bytes of the longest integer."""


@inlined
def _integer(text, at, end):
    """A zigzag integer, and where it ends, which is -1 if it does not."""
    value, shift = np.uint64(0), np.uint64(0)
    for place in range(_LONGEST):
        if at + place >= end:
            return 0, -1
        byte = np.uint64(text[at + place])
        value |= (byte & np.uint64(127)) << shift
        if byte < np.uint64(128):
            if place == _LONGEST - 1 and byte > np.uint64(1):
                return 0, -1
            half = np.int64(value >> np.uint64(1))
            return (half if value & np.uint64(1) == np.uint64(0) else ~half), at + place + 1
        shift += np.uint64(7)
    return 0, -1


@compiled
def walk(text, begin, end, nodes, children, most, deepest):
    """Where the value ends that begins at `begin`, by the schema whose root is node 0; negative if there is none.

    At most `most` values are looked at, and `deepest` of them one in the other: an array may say in six bytes that it has
    2^40 items of no bytes, and a list whose items hold the next one may be as deep as it is long.

    Cost: O(bytes + values).
    """
    open_nodes, left = np.empty(deepest, np.int64), np.empty(deepest, np.int64)
    depth, at, node, values = 0, begin, 0, 0
    while True:
        values += 1
        if values > most:
            return TOO_MANY
        kind, first, count = nodes[node, 0], nodes[node, 1], nodes[node, 2]
        if kind == UNION:
            branch, at = _integer(text, at, end)
            if at < 0 or branch < 0 or branch >= count:
                return NOT_AVRO
            node = children[first + branch]
            continue
        if kind in (RECORD, ARRAY, MAP):
            if depth == deepest:
                return TOO_DEEP
            open_nodes[depth], left[depth] = node, 0
            depth += 1
        elif kind == BOOLEAN:
            if at >= end or text[at] > 1:
                return NOT_AVRO
            at += 1
        elif kind in (INTEGER, ENUM):
            value, at = _integer(text, at, end)
            if at < 0 or (kind == ENUM and (value < 0 or value >= first)):
                return NOT_AVRO
        elif kind != NULL:
            size = first
            if kind == BYTES:
                size, at = _integer(text, at, end)
                if at < 0 or size < 0 or size > first:
                    return NOT_AVRO
            elif kind == FLOAT:
                size = 4
            elif kind == DOUBLE:
                size = 8
            if size > end - at:
                return NOT_AVRO
            at += size
        # what comes next
        node = -1
        while node < 0:
            if depth == 0:
                return at
            inner = open_nodes[depth - 1]
            kind, first, count = nodes[inner, 0], nodes[inner, 1], nodes[inner, 2]
            done = left[depth - 1]
            if kind == RECORD:
                if done == count:
                    depth -= 1
                else:
                    node = children[first + done]
                    left[depth - 1] = done + 1
                continue
            if done == 0:  # the block of items is over, and another one begins
                done, at = _integer(text, at, end)
                if at >= 0 and done < 0:  # behind the number of items stands that of their bytes
                    done = -done
                    _, at = _integer(text, at, end)
                if at < 0 or done < 0:
                    return NOT_AVRO
                if done == 0:
                    depth -= 1
                    continue
            left[depth - 1] = done - 1
            if kind == MAP:
                size, at = _integer(text, at, end)
                if at < 0 or size < 0 or size > end - at:
                    return NOT_AVRO
                at += size
            node = first
