"""Cosine waves in random directions, which depend on names and a key alone."""

import numpy as np

from stream_rank.engine.coins import word
from stream_rank.engine.cosine_lanes import cosines_of_twice
from stream_rank.engine.functions import cosine, logarithm
from stream_rank.engine.jit import compiled, inlined
from stream_rank.engine.lanes import fused, load, spread, store
from stream_rank.engine.pointers import get, pointer, put, shift

__all__ = ["BLOCK", "draw_normals", "draw_phases", "draw_uniforms", "waves", "waves_dense"]

BLOCK = 16
"""Directions have room for a whole number of so many waves."""

_TWO_PI = 6.283185307179586
_UNIT = 2.0**-53


@inlined
def _uniform(key, name, place):
    """A number above 0 and at most 1."""
    return (np.float64(word(key, name, place) >> np.uint64(11)) + 1.0) * _UNIT


@compiled
def draw_normals(key, name, results):
    """Independent normal numbers of a name, by Box and Muller's method. Cost: some 20 nanoseconds each."""
    for i in range(len(results)):
        length = np.sqrt(-2.0 * logarithm(_uniform(key, name, np.uint64(2 * i))))
        results[i] = length * cosine(_TWO_PI * _uniform(key, name, np.uint64(2 * i + 1)))


@compiled
def draw_uniforms(key, name, results):
    """Independent numbers of a name, above 0 and at most 1."""
    for i in range(len(results)):
        results[i] = _uniform(key, name, np.uint64(i))


@compiled
def draw_phases(key, results):
    """Independent angles in the whole circle."""
    for i in range(len(results)):
        results[i] = _TWO_PI * _uniform(key, np.uint64(0), np.uint64(i))


@inlined
def _halved(phases, scratch):
    """Half of each phase, in the last row of the scratch; waves beyond them, up to a whole block, are not looked at."""
    for i in range(scratch.shape[1]):
        scratch[4, i] = 0.5 * phases[i] if i < len(phases) else 0.0


@inlined
def _write_waves(angles, factor, halves, amplitude, count, results):
    """The waves of an event, of which `angles` has the inner products; these are not needed again, and the last waves pass by there."""
    factor, whole = spread(0.5 * factor), count & -8
    for i in range(0, whole, 8):
        half = fused(factor, load(angles, i, 0.0), load(halves, i, 0.0))
        store(results, i, cosines_of_twice(half, amplitude))
    if whole < count:
        half = fused(factor, load(angles, whole, 0.0), load(halves, whole, 0.0))
        store(angles, whole, cosines_of_twice(half, amplitude))
        for i in range(whole, count):
            put(results, i, get(angles, i))


@compiled
def waves(starts, slots, values, factors, directions, phases, amplitude, scratch, results):
    """`amplitude * cos(factor * directions.x + phase)` of events, a row each; directions have room for whole blocks, and
    so have the five rows of the scratch.

    Cost: one fused operation for each entry and wave, and a third of a nanosecond for each cosine.
    """
    room, n_waves = directions.shape[1], len(phases)
    _halved(phases, scratch)
    sums, all_of = pointer(scratch, 0, np.float64), pointer(directions, 0, np.float64)
    halves, to = shift(sums, 4 * room), pointer(results, 0, np.float64)
    for event in range(len(factors)):
        for i in range(0, room, 8):
            store(sums, i, spread(0.0))
        for entry in range(starts[event], starts[event + 1]):
            value, direction = spread(values[entry]), shift(all_of, slots[entry] * room)
            for i in range(0, room, 8):
                store(sums, i, fused(value, load(direction, i, 0.0), load(sums, i, 0.0)))
        row = shift(to, event * n_waves)
        _write_waves(sums, factors[event], halves, amplitude, n_waves, row)


@compiled
def waves_dense(matrix, at, factors, directions, phases, amplitude, scratch, first_wave, results):
    """The same for events that are rows of a matrix, to the bit: four events and sixteen waves at a time stay in registers.

    They go to the columns of `results` from `first_wave` on.
    """
    count, width, room = len(factors), matrix.shape[1], directions.shape[1]
    n_waves, columns = len(phases), results.shape[1]
    _halved(phases, scratch)
    sums, all_of = pointer(scratch, 0, np.float64), pointer(directions, 0, np.float64)
    halves, to = shift(sums, 4 * room), pointer(results, 0, np.float64)
    numbers, zero = pointer(matrix, 0, np.float64), spread(0.0)
    for event in range(0, count, 4):
        first = shift(numbers, at[event] * width)
        second = shift(numbers, at[min(event + 1, count - 1)] * width)
        third = shift(numbers, at[min(event + 2, count - 1)] * width)
        fourth = shift(numbers, at[min(event + 3, count - 1)] * width)
        for i in range(0, room, 16):
            sum_1 = sum_2 = sum_3 = sum_4 = sum_5 = sum_6 = sum_7 = sum_8 = zero
            for j in range(width):
                left, right = load(all_of, j * room + i, 0.0), load(all_of, j * room + i + 8, 0.0)
                value = spread(get(first, j))
                sum_1, sum_2 = fused(value, left, sum_1), fused(value, right, sum_2)
                value = spread(get(second, j))
                sum_3, sum_4 = fused(value, left, sum_3), fused(value, right, sum_4)
                value = spread(get(third, j))
                sum_5, sum_6 = fused(value, left, sum_5), fused(value, right, sum_6)
                value = spread(get(fourth, j))
                sum_7, sum_8 = fused(value, left, sum_7), fused(value, right, sum_8)
            store(sums, i, sum_1)
            store(sums, i + 8, sum_2)
            store(sums, room + i, sum_3)
            store(sums, room + i + 8, sum_4)
            store(sums, 2 * room + i, sum_5)
            store(sums, 2 * room + i + 8, sum_6)
            store(sums, 3 * room + i, sum_7)
            store(sums, 3 * room + i + 8, sum_8)
        for each in range(min(4, count - event)):
            row, factor = shift(to, (event + each) * columns + first_wave), factors[event + each]
            _write_waves(shift(sums, each * room), factor, halves, amplitude, n_waves, row)
