"""How far a member moves where it falls short: other rules than the perceptron's, as one mechanism.

A member falls short of an event that it does not rank with a margin of 1 on both sides. Then it becomes

- *passive-aggressive*: the nearest rule that does (Crammer et al., 2006);
- *relaxed online maximum margin*: the shortest rule that does and is as far along itself as it was (Li and Long, 2002). Every event
  has a direction of its own besides, of square `SLACK`, by which it may fall short: so there always is such a rule, and no member is longer than
  the best one that knew all events from the start, its slack included;
- *adaptive*: as the first, each feature measured by its variance and with the slack `NOISE` (Crammer, Kulesza and Dredze, 2009). An event that moved
  weights makes of their variances those of the posterior, whose covariances are left out. The thresholds of a member share one variance, for their order.

A pair counts as an event with one threshold that stays: only the difference of the items is learned.

Cost of a move: O(d) of a dense event and O(non-zeros) of a sparse one; the second rule shortens all weights, O(d) in any case.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from stream_rank.engine.events import Dense, Sparse, add, inner
from stream_rank.engine.jit import inlined
from stream_rank.engine.memory import Layout, Section, padded, place
from stream_rank.engine.perceptron.presence import average
from stream_rank.engine.perceptron.projection import keep_of, move_thresholds, new_score
from stream_rank.engine.pointers import as_element, get, pointer, put, shift
from stream_rank.engine.sums import add_scaled, dot

__all__ = [
    "AROW",
    "KIND",
    "PASSIVE_AGGRESSIVE",
    "ROMMA",
    "Rules",
    "move_on_event",
    "move_on_pair",
    "open_rules",
    "rules_layout",
]

PASSIVE_AGGRESSIVE, ROMMA, AROW = range(3)

SLACK = 1.0
"""The square of an event's own direction, beside 1 for each of its thresholds."""

NOISE = 0.1
"""The slack of the adaptive rule beside the variances, in units of a squared margin; the best of 0.01, 0.1 and 1 on the sets for development."""

_BLIND = 1e18
"""A score beyond that has no digit left of a margin of 1. Whoever moved by it would soon be infinite: moves are quotients, not sums of events."""

# Sections of the memory, and the only entry of the first.
SIZES, OWN, INFORMATION, CHANGE, ENTRIES = range(5)
KIND = 0


def rules_layout(kind: int, n_members: int, n_slots: int, dtype: str) -> Layout:
    """The sections beside those of `n_members` members with `n_slots` features."""
    slots = padded(n_slots, dtype)
    known = slots if kind == AROW else 0
    changed = 0 if kind == PASSIVE_AGGRESSIVE else slots
    return {
        "sizes": Section("int64", (1,), own=(KIND,)),
        # of each member: the square of its slack, or what its thresholds' variance has fallen by
        "own": Section("float64", (n_members,)),
        # of each weight: 1 / variance - 1
        "information": Section("float64", (n_members, known)),
        "change": Section(dtype, (changed,), scratch=True),
        "entries": Section(dtype, (changed if kind == AROW else 0,), scratch=True),
    }


class Rules(NamedTuple):
    """The sections as pointers, and which rule it is."""

    own: Any
    information: Any
    change: Any
    entries: Any
    kind: Any


@inlined
def open_rules(block):
    """The rules inside a memory block."""
    return Rules(
        pointer(block, place(block, OWN), np.float64),
        pointer(block, place(block, INFORMATION), np.float64),
        pointer(block, place(block, CHANGE), block.dtype),
        pointer(block, place(block, ENTRIES), block.dtype),
        get(pointer(block, place(block, SIZES), np.int64), KIND),
    )


def _directed(rules: Any, information: Any, event: Any) -> Any:
    """An event, each value times its variance, and in `change` by slot as well."""
    raise NotImplementedError("compiled code only")


@inlined
def _directed_dense(rules, information, event):
    for slot in range(event.count):
        value = np.float64(get(event.values, slot)) / (1.0 + get(information, slot))
        put(rules.change, slot, as_element(rules.change, value))
    return Dense(rules.change, event.count)


@inlined
def _directed_sparse(rules, information, event):
    for i in range(event.count):
        slot = get(event.slots, i)
        value = np.float64(get(event.values, i)) / (1.0 + get(information, slot))
        put(rules.change, slot, as_element(rules.change, value))
        put(rules.entries, i, as_element(rules.change, value))
    return Sparse(event.slots, rules.entries, event.count)


@overload(_directed, inline="always")
def _directed_any(rules, information, event):
    if event.instance_class is Sparse:
        return lambda rules, information, event: _directed_sparse(rules, information, event)
    return lambda rules, information, event: _directed_dense(rules, information, event)


def _inform(information: Any, event: Any, share: Any, size: Any) -> None:
    """Let the variances be those of the posterior, to which an event adds `share` times its square; `size` is that of the event by its variances."""
    raise NotImplementedError("compiled code only")


@inlined
def _inform_dense(information, event, share, size):
    for slot in range(event.count):
        value = np.float64(get(event.values, slot))
        before = 1.0 + get(information, slot)
        rest = max(0.0, size - value * value / before)
        put(information, slot, before * ((1.0 + share * size) / (1.0 + share * rest)) - 1.0)


@inlined
def _inform_sparse(information, event, share, size):
    for i in range(event.count):
        slot, value = get(event.slots, i), np.float64(get(event.values, i))
        before = 1.0 + get(information, slot)
        rest = max(0.0, size - value * value / before)
        put(information, slot, before * ((1.0 + share * size) / (1.0 + share * rest)) - 1.0)


@overload(_inform, inline="always")
def _inform_any(information, event, share, size):
    if event.instance_class is Sparse:
        return lambda information, event, share, size: _inform_sparse(
            information, event, share, size
        )
    return lambda information, event, share, size: _inform_dense(information, event, share, size)


@inlined
def _square(state, row, thresholds):
    """The square of a member's weights and thresholds."""
    square = np.float64(dot(row, row, state.slots))
    for r in range(1, state.n_ranks):
        square += get(thresholds, r) * get(thresholds, r)
    return square


@inlined
def _shorten(state, rules, row, keep, move, event):
    """Keep so much of a member's weights, and move them by `move` times an event."""
    rest = as_element(row, keep - 1.0)
    for slot in range(state.slots):
        put(rules.change, slot, rest * get(row, slot))
    add(rules.change, as_element(row, move), event)
    change = Dense(rules.change, state.slots)
    add_scaled(row, as_element(row, 1.0), rules.change, state.slots)
    average(state, change, 1.0)


@inlined
def move_on_event(state, rules, event, j, score, label, size, rounds):
    """Move a member that falls short; by how much along the event itself, which the averaged rule does not know yet.

    `size` is the event's square. Other moves than along the event are told to the averaged rule here.
    """
    if not abs(score) <= _BLIND:
        return 0.0
    row = shift(state.weights, j * state.slots)
    thresholds, means, k = (
        shift(state.thresholds, j * state.edges),
        state.mean_thresholds,
        state.n_ranks,
    )
    if rules.kind == ROMMA:
        weight, keep = 1.0 / (1.0 + SLACK), 1.0
        square = _square(state, row, thresholds) + get(rules.own, j)
        if square > 0.0:
            keep = keep_of(thresholds, k, label, score, size, weight, square)
        new, low, high, asked = new_score(thresholds, k, label, keep * score, keep, size * weight)
        slack = 0.0
        for r in range(low, high):
            side = 1.0 if r < label else -1.0
            step = weight * (keep * get(thresholds, r) + side - new)
            slack += step * step
        put(rules.own, j, keep * keep * get(rules.own, j) + SLACK * slack)
        move_thresholds(thresholds, means, k, label, keep, weight, new, rounds)
        _shorten(state, rules, row, keep, weight * asked, event)
        return 0.0
    if rules.kind == AROW:
        information = shift(rules.information, j * state.slots)
        direction = _directed(rules, information, event)
        size = np.float64(inner(rules.change, event))
        variance = 1.0 / (1.0 + get(rules.own, j))
        weight = 1.0 / (NOISE + variance)
        new, low, high, asked = new_score(thresholds, k, label, score, 1.0, size * weight)
        move = weight * asked
        move_thresholds(thresholds, means, k, label, 1.0, weight * variance, new, rounds)
        add(row, as_element(row, move), direction)
        average(state, direction, move)
        count = np.float64(high - low)
        _inform(information, event, count * weight, size)
        put(rules.own, j, get(rules.own, j) + count / (NOISE * (k - 1.0)))
        return 0.0
    new, low, high, move = new_score(thresholds, k, label, score, 1.0, size)
    move_thresholds(thresholds, means, k, label, 1.0, 1.0, new, rounds)
    add(row, as_element(row, move), event)
    return move


@inlined
def move_on_pair(state, rules, event, j, score, magnitude, size, rounds):
    """Move a member that has the first item ahead by less than `magnitude`, or one side of a tie, of magnitude 0; as `move_on_event`."""
    if not abs(score) <= _BLIND:
        return 0.0
    row = shift(state.weights, j * state.slots)
    side = 1.0 if magnitude > 0.0 or score < 0.0 else -1.0
    if rules.kind == ROMMA:
        slack, keep = 1.0 + SLACK, 1.0
        thresholds = shift(state.thresholds, j * state.edges)
        square = _square(state, row, thresholds) + get(rules.own, j)
        if square > 0.0:
            divisor = size + slack
            kept = square - side * score * magnitude / divisor
            keep = max(0.0, kept / (square - score * score / divisor))
        step = (magnitude - side * keep * score) / (size + slack)
        put(rules.own, j, keep * keep * get(rules.own, j) + slack * (step * step))
        for r in range(1, state.n_ranks):
            before = get(thresholds, r)
            put(thresholds, r, keep * before)
            means = state.mean_thresholds
            put(means, r, get(means, r) + rounds * (keep * before - before))
        _shorten(state, rules, row, keep, side * step, event)
        return 0.0
    if rules.kind == AROW:
        information = shift(rules.information, j * state.slots)
        direction = _directed(rules, information, event)
        size = np.float64(inner(rules.change, event))
        move = side * (magnitude - side * score) / (size + NOISE)
        add(row, as_element(row, move), direction)
        average(state, direction, move)
        _inform(information, event, 1.0 / NOISE, size)
        return 0.0
    move = side * (magnitude - side * score) / (size + 1.0)
    add(row, as_element(row, move), event)
    return move
