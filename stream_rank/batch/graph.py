"""Preferences as the edges of a graph, of which the squared costs need the Laplacian alone.

An edge says that event h should lead event j by z, with weight w**2. The cost of scores f is the sum of
`w**2 * (z - (f(h) - f(j)))**2`, or `f.L f - 2 f.pull + constant`: `L` is the graph's Laplacian `M M'`, and `pull` is `M N`
(the RankRLS paper's eq. 12 to 18).
"""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from stream_rank.batch.room import check_room

__all__ = ["COSTS", "Cliques", "Edges", "Graph", "edges_of", "graph_of", "pairs_within"]

Array = npt.NDArray[Any]
COSTS = ("unit", "magnitude", "relative")
"""The RankRLS paper's eq. 20, 21 and 22."""


class Graph(Protocol):
    """What the squared costs know of preferences."""

    pull: Array
    """`M N`, a column for every output."""

    def laplacian(self, B: Any) -> Array:
        """`L B`."""

    def within(self, events: Array) -> Array:
        """The rows and columns of `L` that belong to some events."""


class _Classes:
    """Every two events of the same class are joined by an edge of weight 1: `L = D - P P'` (eq. 25)."""

    def __init__(self, codes: Array) -> None:
        m = len(codes)
        self._codes = codes
        self._members = sparse.csr_array((np.ones(m), (np.arange(m), codes)))
        self._counts = np.bincount(codes).astype(float)

    def times(self, B: Any) -> Array:
        """`L B` is every row's distance from its class's mean, times the size of the class: O(m) a column."""
        means = (self._members.T @ B) / self._counts[:, None]
        product: Array = self._counts[self._codes][:, None] * (B - means[self._codes])
        return product

    def within(self, events: Array) -> Array:
        codes = self._codes[events]
        same = codes[:, None] == codes
        block: Array = np.where(same, -1.0, 0.0)
        block[np.diag_indices(len(events))] += self._counts[codes]
        return block


class Cliques:
    """All pairs within groups, each once: with `ties`, or only those of different labels.

    With ties the wanted leads are the labels' differences (eq. 21); without they are 1 (eq. 20). O(m log m), however many
    pairs there are.
    """

    def __init__(self, y: Array, groups: Array, ties: bool) -> None:
        self._all = _Classes(groups)
        self._tied = None
        if ties:
            self.pull = self._all.times(y)
            return
        labels = np.unique(y[:, 0], return_inverse=True)[1]
        width = int(labels.max(initial=0)) + 1
        found, codes, sizes = np.unique(
            groups * width + labels, return_inverse=True, return_counts=True
        )
        self._tied = _Classes(codes)
        up_to = np.cumsum(sizes)
        first = np.searchsorted(found, found // width * width)
        before = up_to - sizes - np.where(first > 0, up_to[first - 1], 0)
        in_group = np.bincount(groups)[found // width]
        after = in_group - before - sizes
        self.pull = (before - after)[codes].astype(float)[:, None]

    def laplacian(self, B: Any) -> Array:
        """`L B`, in O(m) a column."""
        product = self._all.times(B)
        return product if self._tied is None else product - self._tied.times(B)

    def within(self, events: Array) -> Array:
        """The block of some events."""
        block = self._all.within(events)
        return block if self._tied is None else block - self._tied.within(events)


class Edges:
    """Edges one by one: O(l) to build, and O(l) a column."""

    def __init__(
        self, n_events: int, preferred: Array, other: Array, leads: Array, weights: Array
    ) -> None:
        n_edges = len(preferred)
        rows = np.concatenate((preferred, other))
        columns = np.tile(np.arange(n_edges), 2)
        ends = np.concatenate((np.ones(n_edges), -np.ones(n_edges)))
        M = sparse.csr_array((ends, (rows, columns)), shape=(n_events, n_edges))
        self._laplacian = sparse.csr_array((M * weights) @ M.T) if n_edges else None
        self.pull = (M @ (weights * leads))[:, None]

    def laplacian(self, B: Any) -> Array:
        """`L B`."""
        return np.zeros(B.shape) if self._laplacian is None else self._laplacian @ B

    def within(self, events: Array) -> Array:
        """The block of some events."""
        if self._laplacian is None:
            return np.zeros((len(events), len(events)))
        block: Array = self._laplacian[events][:, events].toarray()
        return block


def pairs_within(y: Array, groups: Array) -> tuple[Array, Array]:
    """All pairs within groups, each once: the event with the higher label, and the other. O(l).

    >>> pairs_within(np.array([1.0, 3.0, 3.0, 5.0]), np.array([0, 0, 0, 1]))
    (array([1, 2, 1]), array([0, 0, 2]))
    """
    n_pairs = int(np.square(np.bincount(groups)).sum())
    instead = "learn smaller groups, or use a cost for which pairs need not be listed"
    check_room(n_pairs, f"the list of all pairs of {len(y):,} events", instead)
    preferred, other = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    order = np.argsort(groups, kind="stable")
    for events in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        labels = y[events]
        tied = np.triu(labels[:, None] == labels, 1)
        above, below = np.nonzero(labels[:, None] > labels)
        first, second = np.nonzero(tied)
        preferred += [events[above], events[first]]
        other += [events[below], events[second]]
    return np.concatenate(preferred), np.concatenate(other)


def edges_of(y: Array, groups: Array) -> tuple[Array, Array]:
    """All pairs within groups whose labels differ: the preferred, and the other.

    >>> edges_of(np.array([1.0, 3.0, 2.0]), np.array([0, 0, 0]))
    (array([1, 1, 2]), array([0, 2, 0]))
    """
    preferred, other = pairs_within(y, groups)
    differ = y[preferred] > y[other]
    return preferred[differ], other[differ]


def graph_of(cost: str, y: Array, groups: Array) -> Graph:
    """The graph of one of the three costs over labels, a column for every output."""
    if cost == "magnitude":
        return Cliques(y, groups, ties=True)
    if cost == "unit":
        return Cliques(y, groups, ties=False)
    preferred, other = edges_of(y[:, 0], groups)
    leads = y[preferred, 0] - y[other, 0]
    return Edges(len(y), preferred, other, leads, 1 / leads**2)
