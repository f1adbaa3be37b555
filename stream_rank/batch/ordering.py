"""From opinions about pairs to one order.

The three tasks of preference learning, each by learners of this package:

**Object ranking**: an order of objects that were not seen before. Learn what is preferred, ask of all pairs, order greedily.

>>> from stream_rank import PairwiseRanker
>>> from stream_rank.batch import greedy_order, preferences_of
>>> model = PairwiseRanker(seed=1)
>>> for price in range(30):
...     model.learn_pair({"price": price % 5, "stars": 3.0}, {"price": price % 5 + 2, "stars": 3.0})
>>> rooms = {"dear": {"price": 9.0}, "cheap": {"price": 1.0}, "fair": {"price": 4.0}}
>>> preferences = preferences_of([*rooms.values()], model.prefer_proba_one)
>>> greedy_order(preferences, [*rooms]).order
['cheap', 'fair', 'dear']

**Label ranking**: for a context, an order of given labels. Either there is a learner for every two labels, and the context is its event ...

>>> from itertools import combinations
>>> from stream_rank import OrdinalLogit
>>> labels = ["tea", "coffee", "juice"]
>>> judges = {pair: OrdinalLogit(n_ranks=2) for pair in combinations(labels, 2)}
>>> orders = {"morning": ["coffee", "juice", "tea"], "evening": ["tea", "juice", "coffee"]}
>>> for hour in [*orders] * 20:
...     for (a, b), judge in judges.items():
...         judge.learn_one({hour: 1.0}, 2 if orders[hour].index(a) < orders[hour].index(b) else 1)
>>> def prefer(a, b, context):
...     if (a, b) in judges:
...         return judges[a, b].predict_proba_one(context)[2]
...     return 1 - prefer(b, a, context)
>>> preferences = preferences_of(labels, lambda a, b: prefer(a, b, {"evening": 1.0}))
>>> greedy_order(preferences, labels).order
['tea', 'juice', 'coffee']

... or there is one learner, and an event is a context crossed with a label.

>>> from stream_rank import Cross, RecursiveMPRank
>>> model = Cross(["hour*label"]) | RecursiveMPRank()
>>> for hour in [*orders] * 20:
...     for a, b in combinations(orders[hour], 2):
...         model.learn_pair({"hour": hour, "label": a}, {"hour": hour, "label": b})
>>> def prefer_crossed(a, b):
...     return model.prefer_proba_one({"hour": "morning", "label": a}, {"hour": "morning", "label": b})
>>> greedy_order(preferences_of(labels, prefer_crossed), labels).order
['coffee', 'juice', 'tea']

**Rating** (ordinal regression): one of some ordered categories for every object, for which no pairs are needed.

>>> model = OrdinalLogit(n_ranks=3)
>>> for stars in [1, 2, 3] * 20:
...     model.learn_one({"praise": float(stars)}, stars)
>>> [model.predict_one({"praise": praise}) for praise in (0.5, 2.1, 4.0)]
[1, 2, 3]
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Ordering", "greedy_order", "preferences_of"]

Array = npt.NDArray[Any]


class Ordering(NamedTuple):
    """An order, the best first, and how much it agrees with the preferences that it was made of.

    >>> from stream_rank.batch import greedy_order
    >>> [*greedy_order([[0, 1], [0, 0]])._asdict()]
    ['order', 'net', 'agreement', 'possible']
    """

    order: list[Any]
    """The items."""
    net: list[float]
    """Of every item, in the order given: by how much more it was preferred than others were to it."""
    agreement: float
    """The sum of the preferences of items over those behind them."""
    possible: float
    """The sum of the larger preference of every two: no order agrees more, and one only if there are no cycles."""

    @property
    def guaranteed(self) -> float:
        """What this order surely reaches of the agreement of the best one: at least a half, 1 where it is the best."""
        return self.agreement / self.possible if self.possible else 1.0


def greedy_order(preferences: Any, items: Sequence[Any] | None = None) -> Ordering:
    """Order items by Cohen, Schapire and Singer: again and again take the item most preferred to those that are left.

    An order that agrees most is NP-hard to find. This agrees at least half as much: whoever is taken is preferred at least as much
    as others are to it, so that at least half of what is decided by taking it is kept. O(n**2).

    Parameters
    ----------
    preferences
        A square table: by how much row i is preferred to column j, at least 0. Often row i's and column i's sum to 1.
    items
        Their names; numbers from 0 if there are none. Of items that are alike the one named first is taken.

    References
    ----------
    W. Cohen, R. Schapire and Y. Singer. Learning to order things. JAIR 10, 1999, figure 2 and theorem 2.

    Examples
    --------
    >>> from stream_rank.batch import greedy_order
    >>> found = greedy_order(
    ...     [[0, 0, 1/4, 1/8], [1, 0, 1, 1], [3/4, 0, 0, 1/8], [7/8, 0, 7/8, 0]], items="abcd"
    ... )
    >>> found.order, found.net
    (['b', 'd', 'c', 'a'], [-2.25, 3.0, -1.25, 0.5])
    >>> found.agreement, found.possible
    (5.5, 5.5)
    """
    table = np.array(preferences, np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ValueError(
            f"preferences must be a square table, of every item over every other, not of shape {table.shape}"
        )
    n = len(table)
    names = list(range(n)) if items is None else list(items)
    if len(names) != n:
        raise ValueError(f"there must be a name for each of {n} items, not {len(names)}")
    np.fill_diagonal(table, 0.0)
    if not (np.isfinite(table).all() and np.all(table >= 0)):
        raise ValueError("preferences must be numbers of at least 0, as probabilities are")
    net = table.sum(axis=1) - table.sum(axis=0)
    left, potential = np.ones(n, bool), net.copy()
    order, agreement = [], 0.0
    for _ in range(n):
        best = int(np.argmax(np.where(left, potential, -np.inf)))
        left[best] = False
        order.append(names[best])
        agreement += float(table[best, left].sum())
        potential += table[best] - table[:, best]
    possible = float(np.triu(np.maximum(table, table.T), 1).sum())
    return Ordering(order, net.tolist(), agreement, possible)


def preferences_of(
    items: Sequence[Any], prefer: Callable[[Any, Any], float | Mapping[int, float]]
) -> Array:
    """A table of preferences between items, by asking of each two in both orders: O(n**2) questions.

    `prefer` gives a number, or what a learner's `prefer_proba_one` does: the probabilities of 1, of -1 and perhaps of 0, a tie, which
    counts half.

    >>> preferences_of([3, 1], lambda first, second: first / (first + second))
    array([[0.  , 0.75],
           [0.25, 0.  ]])
    >>> preferences_of([3, 1], lambda first, second: {1: 0.5, 0: 0.2, -1: 0.3})
    array([[0. , 0.6],
           [0.6, 0. ]])
    """
    table = np.zeros((len(items), len(items)))
    for i, first in enumerate(items):
        for j, second in enumerate(items):
            if i != j:
                opinion = prefer(first, second)
                if isinstance(opinion, Mapping):
                    opinion = opinion[1] + opinion.get(0, 0.0) / 2
                table[i, j] = opinion
    return table
