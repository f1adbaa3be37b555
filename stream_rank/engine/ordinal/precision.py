"""The weights' part of a belief's covariance.

The features that came first have the factors of a full covariance: O(d**2) an event for d of them. Those beyond have a variance a
weight: O(non-zeros). What an event says about several weights together is not kept there, so each variance would
soon claim too much; it shrinks by the square root of what it would shrink by, and falls with the root of the number of
events, as AdaGrad's rates do. (Measured beside the whole and the fourth root: on one-hot ratings and seven dense sets the best of the three.)

A feature takes part from its first value that is not zero. Its weight then has the prior variance `1 / regularization`,
divided by the mean squared length of the events so far: before anything is learned, the score of a usual event has the variance
`1 / regularization`, whatever the features' scale. A feature that comes first with event n is about as rare as one in n: its variance is
divided by the root of n too, since a stream that ever brings new names, of users and items, could not afford as much for each.
(On one-hot ratings this takes 4 % off the loss; the features of dense events all come with the first.) With forgetting every event divides
variances by it, up to their priors.
"""

from typing import Any

import numpy as np
from numba.extending import overload

from stream_rank.engine.events import Dense, Sparse, squares
from stream_rank.engine.factors import absorb, products, variance
from stream_rank.engine.jit import inlined
from stream_rank.engine.lanes import spread, store
from stream_rank.engine.ordinal.edges import absorb_edges, fade_edges
from stream_rank.engine.ordinal.state import EVENTS, FEATURES, FORGETTING, PRIOR, SQUARES
from stream_rank.engine.pointers import get, put, shift
from stream_rank.engine.sums import add_scaled, dot
from stream_rank.engine.support import power

__all__ = ["certain", "meet", "move_weights", "spread_of"]

_SHORTEST = 1e-30
"""Events of a smaller mean squared length are taken for as long: a variance must be finite."""
_RAREST = 1e4
"""What comes later than that is taken for as rare."""
_LEAST_LEFT = 1e-12
"""No event leaves less of the square of a variance beyond the full covariance."""


def _each(event: Any, entry: Any) -> Any:
    """Slot and value of an entry."""
    raise NotImplementedError("compiled code only")


@overload(_each, inline="always")
def _each_entry(event, entry):
    if event.instance_class is Sparse:
        return lambda event, entry: (get(event.slots, entry), get(event.values, entry))
    return lambda event, entry: (entry, get(event.values, entry))


def _beyond(event: Any, width: Any) -> Any:
    """The first entry that may be beyond the full covariance."""
    raise NotImplementedError("compiled code only")


@overload(_beyond, inline="always")
def _first_beyond(event, width):
    if event.instance_class is Dense:
        return lambda event, width: width
    return lambda event, width: _count_within(event, width)


@inlined
def _count_within(event, width):
    first = 0
    while first < event.count and get(event.slots, first) < width:
        first += 1
    return first


def _head(belief: Any, event: Any) -> Any:
    """The values of the features of the full covariance."""
    raise NotImplementedError("compiled code only")


@overload(_head, inline="always")
def _head_values(belief, event):
    if event.instance_class is Dense:
        return lambda belief, event: event.values
    return lambda belief, event: _laid_out(belief, event)


@inlined
def _laid_out(belief, event):
    for i in range(0, belief.width, 8):
        store(belief.head, i, spread(0.0))
    for entry in range(_count_within(event, belief.width)):
        put(belief.head, get(event.slots, entry), get(event.values, entry))
    return belief.head


@inlined
def _prior(belief, event):
    """The prior variance of a weight whose feature comes with this event, which is counted."""
    parameters = belief.parameters
    total = get(parameters, SQUARES) + squares(event)
    put(parameters, SQUARES, total)
    events = np.float64(get(belief.sizes, EVENTS) + 1)
    mean = max(total / events, _SHORTEST)
    return get(parameters, PRIOR) / mean / np.sqrt(min(events, _RAREST))


@inlined
def _variance_now(belief, j):
    """The variance of a weight, grown by forgetting since it was last brought up to date."""
    forgetting, most = get(belief.parameters, FORGETTING), get(belief.priors, j)
    found = get(belief.variances, j)
    if forgetting < 1.0 and found < most:
        found /= power(forgetting, get(belief.sizes, EVENTS) - get(belief.clocks, j))
        found = min(found, most)
    return found


@inlined
def _fade(belief, forgetting):
    """Let edges and the weights of the full covariance become less certain."""
    diagonal = belief.covariance.diagonal
    fade_edges(belief)
    for j in range(get(belief.sizes, FEATURES)):
        put(diagonal, j, min(get(diagonal, j) / forgetting, get(belief.priors, j)))


@inlined
def meet(belief, event):
    """Count an event's length, let variances grow by forgetting, and begin the weights of features that are new."""
    prior, forgetting = _prior(belief, event), get(belief.parameters, FORGETTING)
    if forgetting < 1.0:
        _fade(belief, forgetting)
    for entry in range(event.count):
        j, value = _each(event, entry)
        if value != 0.0:
            if get(belief.priors, j) == 0.0:
                put(belief.priors, j, prior)
                if j < belief.width:
                    put(belief.covariance.diagonal, j, prior)
                else:
                    put(belief.variances, j, prior)
            elif j >= belief.width:
                put(belief.variances, j, _variance_now(belief, j))
            if j >= belief.width:
                put(belief.clocks, j, get(belief.sizes, EVENTS))


@inlined
def spread_of(belief, event):
    """The variance of the score of an event, and what `certain` needs of it; leave `crossed`, what it shares with edges."""
    values, n_features = _head(belief, event), get(belief.sizes, FEATURES)
    products(belief.covariance, values, n_features)
    for j in range(belief.edges):
        crossed = dot(shift(belief.border, j * belief.width), values, belief.width)
        put(belief.crossed, j, crossed)
    found = 0.0
    for entry in range(_beyond(event, belief.width), event.count):
        j, value = _each(event, entry)
        if value != 0.0:
            found += _variance_now(belief, j) * value * value
    return variance(belief.covariance, n_features) + found


@inlined
def certain(belief, event, spread_, edge_products, noise):
    """Become more certain of the event's score, of that variance, less a threshold, which was seen with this noise.

    Leave `P u`, as `move_weights` wants it and in `edge_gain`; return the noise and the variance there was.
    """
    covariance, n_features = belief.covariance, get(belief.sizes, FEATURES)
    beyond = spread_ - variance(covariance, n_features)
    so_far = absorb(covariance, noise + max(beyond, 0.0), n_features)
    return absorb_edges(belief, covariance.gain, belief.width, edge_products, so_far)


@inlined
def move_weights(belief, event, step, total):
    """Move the weights by `step` times `P u`, after `certain` returned `total`."""
    weights, variances = belief.weights, belief.variances
    add_scaled(weights, step, belief.covariance.gain, belief.width)
    for entry in range(_beyond(event, belief.width), event.count):
        j, value = _each(event, entry)
        if value != 0.0:
            old = get(variances, j)
            gain = old * value
            put(weights, j, get(weights, j) + step * gain)
            left = max(1.0 - gain * value / total, _LEAST_LEFT)
            put(variances, j, old * np.sqrt(left))
