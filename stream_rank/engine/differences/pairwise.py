"""Losses of pairs, minimised by implicit steps: the gradient of a step is that at its end.

For a pair with difference `z = x(1) - x(2)` and magnitude `m = y(1) - y(2) >= 0`, a loss is `|t - g|**n` of
`g = w.z` and a target t, on one side of it or on both, beyond a margin or not. The step minimises

    |w' - w|**2 / 2 + rate * loss(w'.z),

which has a closed form along `z`: with gap `t - g`, `min(rate, gap / |z|**2) * z` for n = 1, and
`2 rate gap / (1 + 2 rate |z|**2) * z` for n = 2. It never goes past the target, whatever the rate
and the scale of the features. The same for `regularization / 2 * |w|**2` divides `w` by `1 + rate * regularization`.

A rate may be in units of the pairs that come, of which one an event is measured. It is then divided by the square of their
mean length `|z|`, and magnitudes are divided by their mean where the step would depend on their scale (n = 1, and
`RELATIVE`). So neither the number of features nor their common scale matters, nor that of the labels. The first
pair is stepped all the way.

Steps of such a length do not settle: the last weights stay as far from the best as a step is long. Their mean does, so it
is the rule: after T events it weighs the weights after event t by t, `2 / (T * (T + 1)) * sum over t of t * w(t)`. What
was held before a feature came, or before a rule changed, is left behind faster than by the plain mean.

An event makes pairs with events of its group among the last `window`; which, a hash of seed and event says.

Cost of an event: O(window + pairs * d).

References: B. Kulis and P. L. Bartlett. Implicit online learning. ICML 2010. S. Lacoste-Julien, M. Schmidt and F. Bach. A
simpler approach to obtaining an O(1/t) convergence rate for the projected stochastic subgradient method. 2012 (the mean).
"""

from typing import Any, NamedTuple

import numpy as np

from stream_rank.engine.coins import draw
from stream_rank.engine.events import bounded
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.lanes import load, spread, store
from stream_rank.engine.memory import Layout, Section, padded, place
from stream_rank.engine.pairs import write_difference
from stream_rank.engine.pointers import get, pointer, put, shift
from stream_rank.engine.sums import add_scaled, dot

__all__ = [
    *("BIAS", "LABEL_SUM", "PACE", "UNIT"),
    *(
        "AVERAGING",
        "BELOW",
        "BOTH",
        "EPSILON",
        "EVENTS",
        "FASTEST",
        "KEY",
        "MAGNITUDE",
        "MISRANKED",
        "ONE",
        "PAIRS",
        "POWER",
    ),
    *(
        "RATE",
        "REGULARIZATION",
        "RELATIVE",
        "SCALED",
        "SIDE",
        "SLOTS",
        "TARGET",
        "USED",
        "WINDOW",
        "ZERO",
    ),
    *("layout", "learn_pair", "learn_row", "predict_row", "run", "run_pairs", "settle"),
]

# Sections of the memory.
SIZES, PARAMETERS, WEIGHTS, ROW, DIFFERENCE, CANDIDATES, LABELS, MEMBERS, SUMS, VECTORS, AVERAGE = (
    range(11)
)

# Entries of SIZES and of PARAMETERS.
SLOTS, EVENTS, WINDOW, USED, OLDEST, KEY, PAIRS, TARGET, SIDE, POWER, RELATIVE = range(11)
SCALED, AVERAGING, MEASURED = range(11, 14)
RATE, REGULARIZATION, EPSILON, LABEL_SUM, BIAS, LENGTH, USUAL, PACE, UNIT, WEIGHT = range(10)

ONE, MAGNITUDE, ZERO = range(3)
"""What the predicted difference should be: 1, the magnitude, or at least not below 0."""

BOTH, BELOW, MISRANKED = range(3)
"""Where there is a loss: on both sides of the target, below it, or where the predicted difference is not above 0."""


_SMALLEST = 1e-280
"""The square of a difference that is taken for none: a quotient of such numbers has no digits."""

_SHORTEST = 1e-50
"""No mean length is taken to be less. Features are at most 1 / this, so products stay finite."""

FASTEST = 1e100
"""The rate for the first pair, and the largest; also the unit of magnitudes until one has come."""

_LATELY = 1000
"""Of so many pairs are the means that a rate is scaled by: one event out of all proportion is forgotten again."""


def layout(n_slots: int, window: int) -> Layout:
    """The sections for `n_slots` features and `window` events."""
    slots = padded(n_slots, np.float64)
    return {
        "sizes": Section(
            "int64",
            (14,),
            own=(SLOTS, WINDOW, PAIRS, TARGET, SIDE, POWER, RELATIVE, SCALED, AVERAGING),
            below={USED: window + 1, OLDEST: window, MEASURED: _LATELY + 1},
        ),
        "parameters": Section("float64", (10,)),
        "weights": Section("float64", (slots,)),
        "row": Section("float64", (slots,), scratch=True),
        "difference": Section("float64", (slots,), scratch=True),
        "candidates": Section("int64", (window,), scratch=True),
        "labels": Section("float64", (window,)),
        "members": Section("int64", (window,)),
        "sums": Section("float64", (slots,)),
        "vectors": Section("float64", (window, slots)),
        "average": Section("float64", (slots,)),
    }


class State(NamedTuple):
    """The sections as pointers."""

    sizes: Any
    parameters: Any
    weights: Any
    row: Any
    difference: Any
    candidates: Any
    labels: Any
    members: Any
    sums: Any
    vectors: Any
    average: Any
    slots: Any


@inlined
def open_state(block):
    """The state inside a memory block."""
    sizes = pointer(block, place(block, SIZES), np.int64)
    return State(
        sizes,
        pointer(block, place(block, PARAMETERS), np.float64),
        pointer(block, place(block, WEIGHTS), np.float64),
        pointer(block, place(block, ROW), np.float64),
        pointer(block, place(block, DIFFERENCE), np.float64),
        pointer(block, place(block, CANDIDATES), np.int64),
        pointer(block, place(block, LABELS), np.float64),
        pointer(block, place(block, MEMBERS), np.int64),
        pointer(block, place(block, SUMS), np.float64),
        pointer(block, place(block, VECTORS), np.float64),
        pointer(block, place(block, AVERAGE), np.float64),
        get(sizes, SLOTS),
    )


@inlined
def _beyond(gap, margin):
    """What of a gap is beyond the margin, on either side."""
    return max(gap - margin, 0.0) + min(gap + margin, 0.0)


@inlined
def _gap(state, predicted, magnitude):
    """How far the predicted difference is from where its loss is zero."""
    target, side = get(state.sizes, TARGET), get(state.sizes, SIDE)
    if magnitude == 0.0:  # a tie: on both sides
        return _beyond(0.0 - predicted, get(state.parameters, EPSILON))
    aim = 1.0 if target == ONE else magnitude if target == MAGNITUDE else 0.0
    gap = aim - predicted
    if (side == BELOW and gap < 0.0) or (side == MISRANKED and predicted > 0.0):
        return 0.0
    if gap == 0.0 and target == ZERO:
        return 1.0  # a tie has no slope, but rules would stay at zero where they begin
    return _beyond(gap, get(state.parameters, EPSILON))


@inlined
def _measure(state, size, magnitude):
    """Count a pair in the mean length and the mean magnitude, and set the rate by them if it is in their units."""
    sizes, parameters = state.sizes, state.parameters
    if get(sizes, SCALED) == 0 or size < _SMALLEST:
        return
    count = min(get(sizes, MEASURED) + 1, _LATELY)
    share = 1.0 / count if count < _LATELY else 1.0 / _LATELY
    length, usual = get(parameters, LENGTH), get(parameters, USUAL)
    length += share * (np.sqrt(size) - length)
    usual += share * (magnitude - usual)
    put(sizes, MEASURED, count)
    put(parameters, LENGTH, length)
    put(parameters, USUAL, usual)
    put(parameters, PACE, get(parameters, RATE) / (max(length, _SHORTEST) * max(length, _SHORTEST)))
    alike = get(sizes, POWER) == 2 and get(sizes, RELATIVE) == 0
    if get(sizes, TARGET) == MAGNITUDE and not alike and usual > 0.0:
        put(parameters, UNIT, usual)


@inlined
def _step(state, values, magnitude):
    """Step along the difference of a pair; return the square of its length."""
    predicted = dot(state.weights, values, state.slots)
    gap = _gap(state, predicted, magnitude)
    size = dot(values, values, state.slots)
    if gap == 0.0 or size < _SMALLEST:
        return size
    rate, unit = get(state.parameters, PACE), get(state.parameters, UNIT)
    if get(state.sizes, POWER) == 1:
        move = min(max(gap / size, -rate * unit), rate * unit)
    else:
        relative = get(state.sizes, RELATIVE) and magnitude > 0.0
        width = (magnitude / unit) * (magnitude / unit) if relative else 1.0
        move = 2.0 * rate * gap / (width + 2.0 * rate * size)
    add_scaled(state.weights, move, values, state.slots)
    return size


@inlined
def _shrink(state):
    fading = 1.0 / (1.0 + get(state.parameters, PACE) * get(state.parameters, REGULARIZATION))
    if fading < 1.0:
        factor = spread(fading)
        for i in range(0, state.slots, 8):
            store(state.weights, i, load(state.weights, i, 0.0) * factor)


@inlined
def _rule(state):
    """The weights that predict."""
    return state.average if get(state.sizes, AVERAGING) != 0 else state.weights


@inlined
def _follow(state):
    """Let the average take in the weights after this event, by as much as its number."""
    if get(state.sizes, AVERAGING) == 0:
        return
    weight = get(state.sizes, EVENTS) + 1.0
    if get(state.sizes, TARGET) == ZERO:
        # what aims at 0 only shortens the weights: each counts by its direction, or the first would decide
        size = dot(state.weights, state.weights, state.slots)
        weight = weight / np.sqrt(size) if size >= _SMALLEST else 0.0
    whole = get(state.parameters, WEIGHT) + weight
    put(state.parameters, WEIGHT, whole)
    if weight > 0.0:
        share = spread(weight / whole)
        for i in range(0, state.slots, 8):
            before = load(state.average, i, 0.0)
            store(state.average, i, before + share * (load(state.weights, i, 0.0) - before))


@inlined
def _list_candidates(state, label, member):
    """List the events kept that the loss can pair with this one; return how many."""
    sizes = state.sizes
    ties = get(sizes, TARGET) == MAGNITUDE and get(sizes, SIDE) == BOTH and not get(sizes, RELATIVE)
    count = 0
    for j in range(get(sizes, USED)):
        put(state.candidates, count, j)
        count += get(state.members, j) == member and (ties or get(state.labels, j) != label)
    return count


@inlined
def _choose(state, count):
    """Bring some of the candidates, drawn without regard to anything but seed and event, to the front; return how many."""
    sizes = state.sizes
    pairs = get(sizes, PAIRS)
    if count <= pairs:
        return count
    for k in range(pairs):
        other = k + draw(np.uint64(get(sizes, KEY)), get(sizes, EVENTS), k, count - k)
        chosen = get(state.candidates, other)
        put(state.candidates, other, get(state.candidates, k))
        put(state.candidates, k, chosen)
    return pairs


@inlined
def _count(state, slot, many):
    """Add an event kept to the sums, or take it away."""
    add_scaled(state.sums, many, shift(state.vectors, slot * state.slots), state.slots)
    label = many * get(state.labels, slot)
    put(state.parameters, LABEL_SUM, get(state.parameters, LABEL_SUM) + label)


@inlined
def _keep(state, values, label, member):
    """Keep an event, in the place of the oldest if there is no other."""
    sizes = state.sizes
    slot = get(sizes, USED)
    if slot < get(sizes, WINDOW):
        put(sizes, USED, slot + 1)
    else:
        slot = get(sizes, OLDEST)
        put(sizes, OLDEST, (slot + 1) % get(sizes, WINDOW))
        _count(state, slot, -1.0)
    vector = shift(state.vectors, slot * state.slots)
    for i in range(0, state.slots, 8):
        store(vector, i, load(values, i, 0.0))
    put(state.labels, slot, label)
    put(state.members, slot, member)
    _count(state, slot, 1.0)
    if slot == get(sizes, WINDOW) - 1:
        # once a round the sums are formed anew: what was taken away has left its rounding in them
        for i in range(0, state.slots, 8):
            store(state.sums, i, spread(0.0))
        put(state.parameters, LABEL_SUM, 0.0)
        for j in range(get(sizes, USED)):
            _count(state, j, 1.0)


@inlined
def _constant(state):
    """Let the mean prediction of the events kept be their mean label, or 0 where scores have a scale of their own."""
    count = max(1, get(state.sizes, USED))
    mean = dot(_rule(state), state.sums, state.slots)
    wanted = get(state.parameters, LABEL_SUM) if get(state.sizes, TARGET) == MAGNITUDE else 0.0
    put(state.parameters, BIAS, (wanted - mean) / count)


@compiled
def settle(block):
    """Form the constant anew, after features were forgotten."""
    _constant(open_state(block))


@inlined
def _score(state, values):
    return dot(_rule(state), values, state.slots) + get(state.parameters, BIAS)


@inlined
def _learn(state, values, label, group):
    """Learn the pairs of an event with some of those kept, and keep it."""
    member = abs(group)
    _shrink(state)
    for k in range(_choose(state, _list_candidates(state, label, member))):
        j = get(state.candidates, k)
        vector, magnitude = shift(state.vectors, j * state.slots), label - get(state.labels, j)
        sign = spread(1.0 if magnitude >= 0.0 else -1.0)
        for i in range(0, state.slots, 8):
            difference = sign * (load(values, i, 0.0) - load(vector, i, 0.0))
            store(state.difference, i, difference)
        size = _step(state, state.difference, abs(magnitude))
        if k == 0:
            _measure(state, size, abs(magnitude))
    _keep(state, values, label, member)
    _follow(state)
    _constant(state)
    put(state.sizes, EVENTS, get(state.sizes, EVENTS) + 1)


@compiled
def run(block, rows, labels, groups, scores, learning):
    """Predict the scores of rows, each before it is learned as one of its group if its entry of `learning` says so."""
    state = open_state(block)
    values = pointer(rows, 0, np.float64)
    for i in range(scores.size):
        event = shift(values, i * state.slots)
        scores[i] = _score(state, event)
        if learning[i]:
            _learn(state, event, labels[i], groups[i])


@compiled
def learn_row(block, label, group, bound):
    """Learn the event in the section `row`; False, and nothing learned, if a number is beyond `bound`."""
    state = open_state(block)
    if not bounded(state.row, state.slots, bound):
        return False
    _learn(state, state.row, label, group)
    return True


@compiled
def predict_row(block, bound):
    """The score of the event in the section `row`; NaN if a number is beyond `bound`."""
    state = open_state(block)
    if not bounded(state.row, state.slots, bound):
        return np.nan
    return _score(state, state.row)


@inlined
def _learn_pair(state, values, magnitude):
    """Learn the pair whose difference the values are."""
    _shrink(state)
    _measure(state, _step(state, values, magnitude), magnitude)
    _follow(state)
    _constant(state)
    put(state.sizes, EVENTS, get(state.sizes, EVENTS) + 1)


@compiled
def learn_pair(block, magnitude, bound):
    """Learn the pair whose difference is in the section `row`."""
    state = open_state(block)
    if not bounded(state.row, state.slots, bound):
        return False
    _learn_pair(state, state.row, magnitude)
    return True


@compiled
def run_pairs(block, rows, others, magnitudes, ahead):
    """Learn that rows are preferred to others; where `ahead` is empty nobody asks by how much they were."""
    state = open_state(block)
    for i in range(magnitudes.size):
        preferred = shift(pointer(rows, 0, np.float64), i * state.slots)
        other = shift(pointer(others, 0, np.float64), i * state.slots)
        if ahead.size > 0:
            ahead[i] = _score(state, preferred) - _score(state, other)
        write_difference(state.row, preferred, other, state.slots)
        _learn_pair(state, state.row, magnitudes[i])
