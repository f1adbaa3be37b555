"""On-line MPRank."""

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.differences.duals import PAIR
from stream_rank.errors import EventError
from stream_rank.kernels import Gaussian, Kernel, Polynomial, check_kernel
from stream_rank.learners.base.capabilities import Rule
from stream_rank.learners.base.grouped_learner import GroupedLearner
from stream_rank.learners.base.learner import Features, check_magnitude
from stream_rank.learners.models.dual_kernel import DualKernel
from stream_rank.learners.models.dual_linear import DualLinear
from stream_rank.learners.tables.pairs import PairBlock, Pairs
from stream_rank.parameters import check_number, check_whole

__all__ = ["OnlineMPRank"]

Array = npt.NDArray[Any]


class OnlineMPRank(GroupedLearner):
    """Scores whose differences are the labels' differences, by gradient steps in the dual.

    Over the last m events (at most `budget`), with centred kernel `K~` and labels `y~`, the scores minimise

        |w|**2 + C / m**2 * sum over pairs (i, j) of ((w.x(i) - w.x(j)) - (y(i) - y(j)))**2.

    Each event has a dual variable, `w = sum of alpha(i) * x~(i)`, and is learned by a step along it, whose slope is
    `2 * (y~(i) - w.x~(i)) - (m / C) * alpha(i)`. Steps over the same events converge to the closed form
    `alpha = (K~ + m / (2 C) I)**-1 y~`: `revisits` takes some after every event, `sweep` and `settle` at once. The
    score gets the constant that makes the mean prediction of the events kept their mean label.

    With groups, every event is centred in its own group, and only the pairs within count. A
    preference is a group of its own: two events whose labels differ by the magnitude.

    Only what is kept is known. Where every event has a few of many features, as users and items in columns of their own, `budget`
    events hold hardly any of a feature, and few of a group, and the order stays poor: with 1,700 items in one column
    each, 2,000 events are about one an item. Give such a stream a larger budget, or use `PairwiseRanker`, which forgets nothing. (A C
    that is right for dense events makes it worse: with C = 1 a weight shrinks to a thousandth, the more the rarer its
    feature is, and the order is hardly better than chance.)

    Cost: O(d) an event and a revisit with linear scores, and O(budget * d) more once in `budget` events. With a kernel
    O(budget * d) an event, O(budget) a revisit, and `budget**2` numbers of memory, and `budget` for every group.

    Parameters
    ----------
    C
        The trade-off: the larger, the closer to the labels. The weights of features of variance v shrink by about
        `1 / (1 + 1 / (2 C v))`; with a large C and features of different scales one step an event is far from the
        minimum, so scale them, and give `revisits`. None is `m / (20 s**2)` with s the mean length of the last
        events' `x~`, whatever the scale and the number of the features: every step then goes an eleventh of the way or so.
    kernel
        None or `Linear()` for weights of features; `Polynomial` or `Gaussian`.
    learning_rate
        The length of a step. None is the longest that does not overshoot, `1 / (2 K~(i, i) + m / C)`, with which
        steps converge for every kernel; a longer one is cut to it.
    budget
        How many events are kept; beyond it the oldest is dropped, and what it taught with it. It must hold several events of
        every feature: see above for features that are rare.
    revisits
        How many of the earlier events are stepped again after each event, in turn.

    References
    ----------
    C. Cortes, M. Mohri and A. Rastogi. Magnitude-preserving ranking algorithms. ICML 2007, section 2.5.

    Examples
    --------
    >>> from stream_rank import Gaussian, OnlineMPRank
    >>> model = OnlineMPRank(C=1000.0, kernel=Gaussian(2.0), revisits=5)
    >>> for a in range(-5, 6):
    ...     model.learn_one({"a": a}, a * a)
    >>> print(f"{model.predict_one({'a': 3}) - model.predict_one({'a': 0}):.1f}")
    9.9
    >>> passes = model.settle()
    >>> print(f"{model.predict_one({'a': 3}) - model.predict_one({'a': 0}):.1f}")
    9.0
    """

    _model: Any  # a DualLinear, or a DualKernel, which takes no rows

    def __init__(
        self,
        C: float | None = None,
        kernel: Kernel | None = None,
        learning_rate: float | None = None,
        budget: int = 2000,
        revisits: int = 0,
    ) -> None:
        if C is not None:
            check_number("C", C, 1e-12, 1e12)
        check_kernel(kernel, follows=False)
        if learning_rate is not None:
            check_number("learning_rate", learning_rate, 1e-12, 1e12)
        check_whole("budget", budget)
        check_whole("revisits", revisits, 0)
        self.C = C
        self.kernel = kernel
        self.learning_rate = learning_rate
        self.budget = budget
        self.revisits = revisits
        if isinstance(kernel, Polynomial | Gaussian):
            self._model = DualKernel(C, learning_rate, budget, revisits, kernel)
        else:
            self._model = DualLinear(C, learning_rate, budget, revisits)
        super().__init__(budget + 1)  # rows of groups with kept events are not reused

    def _teach_pair(self, preferred: Features, other: Features, magnitude: float) -> None:
        """Learn that the scores of two items differ by `magnitude`; both are kept, so the budget must hold two."""
        self._check_budget()
        magnitude = check_magnitude(magnitude, self._model.bound)
        items = [self._checked(preferred), self._checked(other)]
        for item in items:
            self._introduce(item)
        row = self._groups.alone()
        self._make_groups()
        for item, label, group in zip(items, (magnitude, 0.0), (row, abs(row)), strict=True):
            code = np.array([group + PAIR if group > 0 else group - PAIR])
            self._model.run(self._block(item), np.array([label]), np.empty(1), True, code)

    def _check_budget(self) -> None:
        if self.budget < 2:
            raise EventError("a pair needs a budget of at least 2 events")

    def _check_pairs(self, pairs: Pairs) -> None:
        """Raise an `EventError` unless all of the pairs can be learned."""
        self._check_budget()

    def _teach_pairs(
        self, blocks: Iterator[PairBlock], magnitudes: Array, ahead: Array, shares: Array
    ) -> None:
        """Learn pairs whose features have slots, each a group of its own."""
        groups = self._groups.alone_all(len(magnitudes))
        self._make_groups()
        done = 0
        for block in blocks:
            some = slice(done, done + block.n_pairs)
            self._model.run_pairs(block, magnitudes[some], ahead[some], shares[some], groups[some])
            done = some.stop

    # Passes over what is kept ---------------------------------------------------------------

    def sweep(self, passes: int = 1) -> None:
        """Step along the dual variables of all events kept, `passes` times."""
        check_whole("passes", passes)
        for _ in range(passes):
            self._model.sweep()

    def settle(self, tolerance: float = 0.01, max_passes: int = 1000) -> int:
        """Sweep until the cost is at most `tolerance`, as a fraction, above the least possible; return the number of passes.

        The dual is never above the least cost, so the gap between the two bounds the distance to it. (The paper stops when
        a pass changes the cost by less than 0.01 percent; but the cost goes up and down, and may change little far from
        its end.) A pass costs O(m * d) with linear scores and O(m**2) with a kernel, and as much again to evaluate the gap.
        """
        check_number("tolerance", tolerance, 0, 1)
        check_whole("max_passes", max_passes)
        for passes in range(max_passes):
            cost, bound = self._model.costs()
            if cost - bound <= tolerance * cost:
                return passes
            self._model.sweep()
        return max_passes

    @property
    def cost(self) -> float:
        """What is minimised over the events kept."""
        return float(self._model.costs()[0])

    # The rule -------------------------------------------------------------------------------

    @property
    def weights(self) -> dict[Hashable, float]:
        """The weight of every feature; with a kernel there is none, see `support`."""
        if isinstance(self._model, DualKernel):
            raise AttributeError("a kernel learner has no weights of features; see support")
        return dict(self._named(self._model.weights()))

    @property
    def bias(self) -> float:
        """The constant in the score."""
        return float(self._model.constant)

    def _plain_rule(self) -> Rule:
        model = self._model
        weights = {} if isinstance(model, DualKernel) else self._named(model.weights())
        return Rule(weights, [], self.bias, True, [], [])

    def rule(self) -> Rule:
        """What was learned, to score with elsewhere. With a kernel, this copies the events kept."""
        return super().rule()._replace(support=self.support)

    @property
    def support(self) -> list[tuple[dict[Hashable, float], float]]:
        """The events kept, by slot, each with its coefficient; none without a kernel."""
        model = self._model
        if not isinstance(model, DualKernel):
            return []
        names = self._vocabulary.names
        vectors = model.support.vectors(len(names))
        return [
            (dict(zip(names, vector, strict=True)), coefficient)
            for vector, coefficient in zip(vectors, model.coefficients(), strict=True)
        ]
