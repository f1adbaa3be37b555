"""Exact predictions of events left out, without learning anew.

Leaving preferences out changes the graph's Laplacian by `E` and what pulls by `e`. The scores are `(P**-1 - E)**-1 (pull - e)` with
`P` the smoother of all events (the RankRLS paper's lemma 2): a matter of as many equations as events are concerned.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.batch.room import check_room
from stream_rank.batch.spectrum import Spectrum

__all__ = ["leave_groups_out", "leave_pairs_out"]

Array = npt.NDArray[Any]


def leave_groups_out(spectrum: Spectrum, groups: Array, regularization: float) -> Array:
    """The scores of every group's events by the others.

    No edge leaves a group U, so `E` and `e` are its own block: `f(U) = (I - P(U, U) L(U, U))**-1 (f(U) - P(U, U) pull(U))` (eq. 33).
    O(r |U|**2 + |U|**3) a group, O(m r |U|) altogether.
    """
    scores = spectrum.scores(regularization)
    held = np.empty_like(scores)
    order = np.argsort(groups, kind="stable")
    for events in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        P = spectrum.smoother(regularization, events)
        left = np.eye(len(events)) - P @ spectrum.graph.within(events)
        held[events] = np.linalg.solve(left, scores[events] - P @ spectrum.graph.pull[events])
    return held


def leave_pairs_out(spectrum: Spectrum, y: Array, regularization: float) -> Array:
    """At (i, j) the score of event i by all others but i and j; the diagonal is NaN.

    All pairs of m events have the Laplacian `m I - 1 1'`, those of the m - 2 others, extended by zeros, `(m - 2) I - 1 1'` but for
    terms of 1 and the two unit vectors. The smoother of `(m - 2) / m * L` has the same eigenvectors as that of `L`, so what is left is
    three equations a pair (the paper's eq. 38, in other unknowns). O(m**2 r) for the smoother, then O(m**2) for all pairs and O(m**2)
    for every further output.
    """
    m, n_outputs = y.shape
    check_room(m * m * n_outputs, f"what is predicted for all pairs of {m:,} events", "learn fewer")
    held = np.zeros((m, m, n_outputs))
    held[np.arange(m), np.arange(m)] = np.nan
    if m < 4:
        return held  # at most one event is left, and no pair
    share = m / (m - 2)
    P = share * spectrum.smoother(regularization * share)
    y = y - y.mean(axis=0)
    P1, Py = P.sum(axis=1), P @ y
    total, total_y = P1.sum(), P1 @ y
    M = np.array([[2 / m, -1, -1], [-1, m - 1, 1], [-1, 1, m - 1]])
    diagonal = P.diagonal()
    for i in range(m - 1):
        j = np.arange(i + 1, m)
        G = np.empty(
            (len(j), 3, 3)
        )  # inner products, through P, of 1 and the unit vectors of i and j
        G[:, 0, 0] = total
        G[:, 0, 1] = G[:, 1, 0] = P1[i]
        G[:, 0, 2] = G[:, 2, 0] = P1[j]
        G[:, 1, 1] = diagonal[i]
        G[:, 1, 2] = G[:, 2, 1] = P[i, j]
        G[:, 2, 2] = diagonal[j]
        pair = y[i] + y[j]
        # what pulls, without the two, is (m - 2) y + pair * 1 - ((m - 2) y(i) + pair) e(i) - ((m - 2) y(j) + pair) e(j)
        parts = np.stack((pair, -(m - 2) * y[i] - pair, -(m - 2) * y[j] - pair), axis=1)
        through = np.empty((len(j), 3, n_outputs))
        through[:, 0], through[:, 1], through[:, 2] = total_y, Py[i], Py[j]
        pulled = (m - 2) * through + G @ parts
        found = np.linalg.solve(np.eye(3) - G @ M, pulled)
        held[i, j], held[j, i] = found[:, 1], found[:, 2]
    return held
