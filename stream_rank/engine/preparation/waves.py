"""Cosine waves in random directions, which depend on names and a key alone."""

import numpy as np

from stream_rank.engine.coins import word
from stream_rank.engine.functions import cosine, logarithm
from stream_rank.engine.jit import compiled, inlined

__all__ = ["draw_normals", "draw_phases", "draw_uniforms", "waves"]

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


@compiled
def waves(starts, slots, values, factors, directions, phases, amplitude, results):
    """`amplitude * cos(factor * directions.x + phase)` of events, a row each.

    Cost: a multiplication and an addition for each entry and wave, and a nanosecond for each cosine.
    """
    count = len(phases)
    for event in range(len(factors)):
        result = results[event]
        for i in range(count):
            result[i] = 0.0
        for entry in range(starts[event], starts[event + 1]):
            value, direction = values[entry], directions[slots[entry]]
            for i in range(count):
                result[i] += value * direction[i]
        for i in range(count):
            result[i] = amplitude * cosine(factors[event] * result[i] + phases[i])
