"""MPRank in closed form."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve

from stream_rank.batch.estimator import KernelRanker, checked_groups, checked_pairs
from stream_rank.batch.graph import Cliques
from stream_rank.batch.hold_out import leave_pairs_out
from stream_rank.batch.kernel_values import root_of
from stream_rank.batch.room import check_room
from stream_rank.batch.spaces import Centred, Differences
from stream_rank.batch.spectrum import Spectrum
from stream_rank.bounds.bound import Bound
from stream_rank.bounds.kernel_rankers import mprank
from stream_rank.parameters import check_number

__all__ = ["MPRank"]

Array = npt.NDArray[Any]


class MPRank(KernelRanker):
    """Scores whose differences are the labels' differences, in closed form.

    The scores minimise `|w|**2 + C / m**2 * sum over pairs (i, j) of ((w.x(i) - w.x(j)) - (y(i) - y(j)))**2`, every pair in both
    orders, and those of one group only where there are groups. Of `p` pairs given one by one it is `C / p` times their sum.
    With centred features `X~`, labels `y~` and `C' = 2 C / m` the weights are `C' (I + C' X~' X~)**-1 X~' y~` (eq. 11), or
    the coefficients of events `C' (I + C' K~)**-1 y~` (eq. 13), whichever system is smaller.

    `leave_pair_out` is what learning anew without two events would predict of them, exactly and with the same C: definition (17). (The paper's
    eq. 24 keeps `C / m` instead, wants the mean of the new scores, which it replaces by that of the old, and has lost a minus sign.)

    It is `RankRLS(regularization=m**2 / (2 * C))` with pairs of every group, and what `OnlineMPRank` comes to.

    Cost: O(m n**2 + n**3) for n features, if they are fewer than events and linear, else O(m**3).

    Parameters
    ----------
    C
        The trade-off: the larger, the closer to the labels.
    kernel
        None or `Linear()`; `Polynomial`, `Gaussian`, a function of two tables, or "precomputed".

    References
    ----------
    C. Cortes, M. Mohri and A. Rastogi. Magnitude-preserving ranking algorithms. ICML 2007, sections 2.3 and 2.6.

    Examples
    --------
    >>> import numpy as np
    >>> from stream_rank import Gaussian
    >>> from stream_rank.batch import MPRank
    >>> a = np.linspace(-5, 5, 41)[:, None]
    >>> model = MPRank(C=1000.0, kernel=Gaussian(2.0)).fit(a, a[:, 0] ** 2)
    >>> high, low = model.predict(np.array([[3.1], [0.0]]))
    >>> print(f"{high - low:.2f}")
    9.55
    >>> noisy = a[:, 0] ** 2 + np.random.default_rng(1).normal(0, 2, 41)
    >>> model.fit(a, noisy).best_trade_off([1.0, 10.0, 100.0, 1e3, 1e4, 1e5])
    1000.0
    """

    def __init__(self, C: float = 1.0, kernel: Any = None) -> None:
        self.C = C
        self.kernel = kernel

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Learn labels, of groups if there are any."""
        check_number("C", self.C, 1e-100, 1e100)
        X, y = self._table(X, y)
        m = len(X)
        codes = checked_groups(groups, m)
        self._learned = (X, y) if groups is None else None
        self._spectrum: Spectrum | None = None
        space = Centred(codes)
        self._learn(X, space, space.times(y), 2 * self.C / m)
        return self._settle(self._scores(X)[:, None], y)

    def fit_pairs(self, X: Any, preferred: Any, other: Any, magnitude: Any = None) -> Self:
        """Learn that some rows are preferred over others, by 1 or by magnitudes."""
        check_number("C", self.C, 1e-100, 1e100)
        X = self._items(X)
        preferred, other, sizes = checked_pairs(len(X), preferred, other, magnitude)
        self._learned = None
        space = Differences(len(X), preferred, other)
        self._learn(X, space, sizes[:, None], self.C / len(sizes))
        return self._settle(np.zeros((1, 1)), None)

    def _learn(self, X: Array, space: Centred | Differences, wanted: Array, factor: float) -> None:
        """Equations 11 and 13, with `factor` for C', in the space of what is centred, or of differences."""
        if self._linear and X.shape[1] < len(wanted):
            rows = space.times(X)
            system = factor * (rows.T @ rows)
            system[np.diag_indices(len(system))] += 1
            self.coef_ = solve(system, factor * (rows.T @ wanted), assume_a="pos")[:, 0]
            return
        size = len(wanted)
        check_room(size**2, f"the system of {size:,} events or pairs", "use RankRLS for pairs")
        system = factor * space.times(space.times(self._kernel_table(X)).T)
        system[np.diag_indices(len(system))] += 1
        self._keep(X, space.back(factor * solve(system, wanted, assume_a="pos")))

    def leave_pair_out(self, C: float | None = None) -> Array:
        """At (i, j) what would be predicted of event i, had i and j not been learned; NaN at (i, i).

        O(m**3) once, then O(m**2) for every C, and a product of O(m**2 r).
        """
        if self._learned is None:
            raise ValueError(
                "leave_pair_out needs a model that was fitted to labels without groups"
            )
        C = self.C if C is None else C
        check_number("C", C, 1e-100, 1e100)
        X, y = self._learned
        if self._spectrum is None:
            primal = self._linear and X.shape[1] < len(X)
            features = X if primal else root_of(self._kernel_table(X))
            graph = Cliques(y, np.zeros(len(X), np.int64), ties=True)
            self._spectrum = Spectrum(features, graph)
        regularization = max(len(X) - 2, 1) ** 2 / (2 * C)
        held: Array = leave_pairs_out(self._spectrum, y, regularization)[:, :, 0]
        return held

    def leave_one_out_error(self, C: float | None = None) -> float:
        """The mean of `((h(j) - y(j)) - (h(i) - y(i)))**2` over all pairs, h learned without both (eq. 17): unbiased for m - 2 events."""
        held = self.leave_pair_out(C)
        y = self._learned[1][:, 0]  # type: ignore[index]  # or leave_pair_out would have complained
        errors = (held - held.T) - (y[:, None] - y)
        return float(np.nanmean(errors**2))

    def best_trade_off(self, candidates: Iterable[float]) -> float:
        """The candidate with the least leave-one-out error, all of them from one decomposition."""
        return min(candidates, key=self.leave_one_out_error)

    def bound(
        self, delta: float = 0.05, span: float | None = None, kappa: float | None = None
    ) -> Bound:
        """By how much the loss may be off that of what was learned, on either side (`bounds.mprank`).

        It is for events whose labels are no farther apart than `span`, and whose `sqrt(K(x, x))` is at most `kappa`: those of
        the events learned, unless others are given.
        """
        if self._learned is None:
            raise ValueError(
                "a bound is known for a model that was fitted to labels without groups"
            )
        X, y = self._learned
        span = float(np.ptp(y)) if span is None else span
        kappa = self._longest(X) if kappa is None else kappa
        return mprank(len(X), self.C, kappa, span, delta)
