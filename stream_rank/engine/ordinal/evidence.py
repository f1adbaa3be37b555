"""Which of two priors a belief has: the one under which what came was likelier.

How far weights reach, in units of the noise, nobody says beforehand, and where events are few it decides most. So two beliefs learn side
by side. Before each learns an event, it says how probable the label is; the product of these is the evidence of its prior, all
weights and thresholds integrated out (MacKay's evidence framework, on-line). Whoever has more of it leads: it is the one that is asked, and is kept
first. Once the evidence of the other is less by a factor that no sum of doubles would show, it is given up, and costs nothing any more. Where
features are few, or say little, it never is: what priors differ by is soon outweighed, and evidence differs by some factor for each parameter and no more.
Then both believe the same, and the other is given up as soon as a hundred events came for each parameter.
With forgetting, evidence is forgotten too, and nobody is given up.

Cost: until then twice that of one belief, and one more product of the covariance each; afterwards nothing.

Reference: D. MacKay. Bayesian interpolation. Neural Computation 4, 1992.
"""

import numpy as np

from stream_rank.engine.functions import logarithm
from stream_rank.engine.jit import inlined
from stream_rank.engine.lanes import load, store
from stream_rank.engine.memory import place
from stream_rank.engine.ordinal.state import (
    EVENTS,
    EVIDENCE,
    ODDS,
    RIDING,
    RIVAL,
    ROW,
    open_belief,
)
from stream_rank.engine.pointers import get, pointer, put

__all__ = ["n_beliefs", "weigh"]

_LEAST = 1e-12
"""A probability is taken for no less than that: one label that was held impossible is forgiven in time."""
_GIVEN_UP = -36.0
"""The logarithm of half of the distance of doubles from 1 to the next."""
_ENOUGH, _NOW_AND_THEN = 100, 64
"""After so many events for each parameter a prior is of no account."""


@inlined
def n_beliefs(block):
    """How many beliefs learn."""
    evidence = pointer(block, place(block, EVIDENCE), np.float64)
    return 2 if get(evidence, RIDING) > 0.0 else 1


@inlined
def _exchange(block):
    """Make the rival the leader."""
    size = (place(block, ROW) - place(block, 0)) >> 3
    first = pointer(block, place(block, 0), np.float64)
    second = pointer(block, place(block, RIVAL), np.float64)
    for i in range(0, size, 8):
        mine, theirs = load(first, i, 0.0), load(second, i, 0.0)
        store(first, i, theirs)
        store(second, i, mine)


@inlined
def _agree(block):
    """Whether so many events came that both believe the same; asked of some events only, since it looks at all features."""
    leader = open_belief(block)
    events = get(leader.sizes, EVENTS)
    if events % _NOW_AND_THEN:
        return False
    parameters = leader.edges
    for j in range(leader.slots):  # what has a prior has come: room alone depends on chunks
        parameters += get(leader.priors, j) > 0.0
    return events >= _ENOUGH * parameters


@inlined
def weigh(block, said, rival_said, forgetting):
    """Count how probable the leader and the rival held what came, and exchange them where the rival has more evidence now."""
    evidence = pointer(block, place(block, EVIDENCE), np.float64)
    more = logarithm(max(rival_said, _LEAST)) - logarithm(max(said, _LEAST))
    odds = get(evidence, ODDS) * forgetting + more
    if odds > 0.0:
        _exchange(block)
        odds = -odds
    put(evidence, ODDS, odds)
    if forgetting == 1.0 and (odds < _GIVEN_UP or _agree(block)):
        put(evidence, RIDING, 0.0)
