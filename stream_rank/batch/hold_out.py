"""Exact predictions of events left out, without learning anew.

Both follow from one identity: of a symmetric system `S b = t`, what the others say of the equations U is
`t(U) - (S**-1(U, U))**-1 b(U)`. The systems are chosen so that nothing is divided by the regularization before it must
be: what is lost to rounding is what solving anew would lose, some `1e-16 * largest eigenvalue / regularization`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.batch.room import check_room
from stream_rank.batch.spectrum import Spectrum

__all__ = ["leave_groups_out", "leave_pairs_out"]

Array = npt.NDArray[Any]

_NO_DIRECTION = 1e-14
"""An eigenvalue of a Laplacian that is smaller, beside the largest and an event, is 0."""


def leave_groups_out(spectrum: Spectrum, groups: Array, regularization: float) -> Array:
    """The scores of every group's events by the others, without the constant (the RankRLS paper's eq. 33).

    No edge leaves a group U, so its block of the Laplacian has a root of its own, `L(U, U) = F'F`. In terms of `F f` the system is
    `F K F' + regularization I`, and symmetric. With `T = F rows` and `D = 1 / (values + regularization)` the weights of the others are
    `w - D T(U)' (I - T(U) D T(U)')**-1 (t(U) - T(U) w)`. O(r |U|**2 + |U|**3) a group, O(m r |U|) altogether.
    """
    graph, rows = spectrum.graph, spectrum.rows
    D = 1 / (spectrum.values + regularization)
    weights = spectrum.rotated(regularization)
    held = np.empty(graph.pull.shape)
    order = np.argsort(groups, kind="stable")
    for events in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        squares, directions = np.linalg.eigh(graph.within(events))
        some = squares > _NO_DIRECTION * max(1.0, squares.max(initial=0.0)) * len(events)
        lengths = np.sqrt(squares[some])[:, None]
        T = lengths * (directions[:, some].T @ rows[events])
        short = directions[:, some].T @ graph.pull[events] / lengths - T @ weights
        left = np.eye(len(T)) - (T * D) @ T.T
        others = weights - D[:, None] * (T.T @ np.linalg.solve(left, short))
        held[events] = rows[events] @ others
    return held


def leave_pairs_out(spectrum: Spectrum, y: Array, regularization: float) -> Array:
    """At (i, j) what is predicted of event i, with the constant, by all others but i and j; the diagonal is NaN.

    With all pairs of k events the scores, and a constant, solve `(K + regularization / k * I) a + constant = y` for coefficients of sum 0. Of
    the m events, with k = m - 2, what is not explained is `R y`, `R = C - Z diag(1 / (values / m + regularization / k)) Z'` with
    centred `Z = C rows`, and of two events by the others `R(U, U)**-1 (R y)(U)`. So two rows and columns are what a pair costs:
    O(m**2 r) for R, then O(m**2) for all pairs and every output. (The paper's eq. 38 comes to the same by other unknowns.)
    """
    m, n_outputs = y.shape
    check_room(m * m * n_outputs, f"what is predicted for all pairs of {m:,} events", "learn fewer")
    held = np.zeros((m, m, n_outputs))
    if m > 2:
        Z = spectrum.rows - spectrum.rows.mean(axis=0)
        R = -(Z / (spectrum.values / m + regularization / (m - 2))) @ Z.T - 1 / m
        R[np.diag_indices(m)] += 1
        off, own = R @ (y - y.mean(axis=0)), R.diagonal()
        determinants = own[:, None] * own - R**2
        determinants[np.diag_indices(m)] = 1.0
        pairs = own[None, :, None] * off[:, None] - R[:, :, None] * off[None]
        held = y[:, None] - pairs / determinants[:, :, None]
    held[np.arange(m), np.arange(m)] = np.nan
    return held
