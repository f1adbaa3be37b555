"""RankRLS."""

from copy import copy
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from stream_rank.batch.conjugate import conjugate_weights
from stream_rank.batch.estimator import KernelRanker, checked_groups, checked_pairs
from stream_rank.batch.graph import COSTS, Edges, Graph, graph_of
from stream_rank.batch.hold_out import leave_groups_out, leave_pairs_out
from stream_rank.batch.kernel_values import root_of
from stream_rank.batch.spectrum import Spectrum
from stream_rank.bounds.bound import Bound
from stream_rank.bounds.kernel_rankers import least_squares
from stream_rank.parameters import check_number

__all__ = ["RankRLS"]

Array = npt.NDArray[Any]


class RankRLS(KernelRanker):
    """Regularised least squares of preferences: as good as RankSVM, and solved in closed form.

    The scores f minimise `sum of w**2 * (z - (f(h) - f(j)))**2 + regularization * |f|**2` over the pairs in which h is preferred over j:

    =============  ==============  ===============================  =====
    cost           z               w                                eq.
    =============  ==============  ===============================  =====
    `unit`         1               1                                20
    `magnitude`    the magnitude   1                                21
    `relative`     the magnitude   1 / the magnitude                22
    =============  ==============  ===============================  =====

    `fit` takes labels: all pairs of a group are compared (label ranking), or all pairs if there are no groups (object ranking); the
    magnitude is the difference of their labels, and pairs of equal labels count with `magnitude` only. `fit_pairs`
    takes the pairs themselves. The number of pairs costs nothing but with `relative` and `fit_pairs`, where it is O(l).

    One decomposition is made, of the smallest of three systems; see `form_`. `path` and both hold-outs follow from it.

    =============  ==========================================  ===================================
    form           where                                       to learn, and for another `regularization`
    =============  ==========================================  ===================================
    `primal`       linear, fewer features n than events m      O(m n**2 + n**3), then O(m n)
    `dual`         else                                        O(m**3), then O(m**2)
    `sparse`       `basis` is given: so many events b, or      O(m b**2 + b**3), then O(m b)
                   these rows, are all that scores are made of
    `conjugate`    linear and X a sparse matrix                O(non-zeros) a step, at most `n` steps
    =============  ==========================================  ===================================

    Several outputs (y with columns) cost O(m**2) each, and need `cost="magnitude"`, where they share a graph.

    Parameters
    ----------
    regularization
        Positive; the paper's lambda.
    cost
        One of the names above.
    kernel
        None or `Linear()`; `Polynomial`, `Gaussian`, a function of two tables, or "precomputed".
    basis
        None, how many events are drawn by chance, or their rows.
    random_state
        What the events of the basis are drawn by.

    References
    ----------
    T. Pahikkala, E. Tsivtsivadze, A. Airola, J. Järvinen and J. Boberg. An efficient algorithm for learning to rank from preference
    graphs. Machine Learning 75, 2009.

    Examples
    --------
    Documents of two queries; only those of the same query are compared.

    >>> import numpy as np
    >>> from stream_rank.batch import RankRLS
    >>> X = np.array([[1.0, 0.0], [2.0, 1.0], [4.0, 0.0], [0.0, 3.0], [3.0, 3.0], [1.0, 5.0]])
    >>> y, queries = [10.0, 11.0, 13.0, 0.0, 3.0, 1.0], [1, 1, 1, 2, 2, 2]
    >>> model = RankRLS(regularization=0.1).fit(X, y, queries)
    >>> model.coef_.round(2).tolist()
    [1.0, -0.0]
    >>> held = model.leave_query_out()
    >>> bool(held[2] > held[1] > held[0])
    True
    """

    _sparse = True

    def __init__(
        self,
        regularization: float = 1.0,
        cost: str = "magnitude",
        kernel: Any = None,
        basis: Any = None,
        random_state: int | None = None,
    ) -> None:
        self.regularization = regularization
        self.cost = cost
        self.kernel = kernel
        self.basis = basis
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Learn labels, of groups if there are any."""
        self._check()
        X, labels = self._table(X, y)
        self._groups: Array | None = None if groups is None else checked_groups(groups, len(labels))
        self._y: Array | None = labels
        graph = graph_of(self.cost, labels, checked_groups(groups, len(labels)))
        return self._learn(X, graph)

    def fit_pairs(self, X: Any, preferred: Any, other: Any, magnitude: Any = None) -> Self:
        """Learn that some rows are preferred over others, by 1 or by magnitudes."""
        self._check()
        X = self._items(X)
        preferred, other, sizes = checked_pairs(X.shape[0], preferred, other, magnitude)
        leads = np.ones(len(sizes)) if self.cost == "unit" else sizes
        weights = 1 / sizes**2 if self.cost == "relative" else np.ones(len(sizes))
        self._groups = self._y = None
        return self._learn(X, Edges(X.shape[0], preferred, other, leads, weights))

    def _takes_outputs(self) -> bool:
        return self.cost == "magnitude"

    def _check(self) -> None:
        check_number("regularization", self.regularization, 1e-100, 1e100)
        if not isinstance(self.cost, str) or self.cost not in COSTS:
            raise ValueError(f"cost must be one of {', '.join(COSTS)}, not {self.cost!r}")

    def _learn(self, X: Any, graph: Graph) -> Self:
        self._spectrum = None
        self._X = X
        if sparse.issparse(X):
            if not self._linear or self.basis is not None:
                raise ValueError(
                    "a sparse matrix is learned without kernel and basis; make it dense for these"
                )
            self.form_ = "conjugate"
            weights, self.n_iter_ = conjugate_weights(X, graph, self.regularization)
            self.coef_ = self._one(weights)
            return self._take(X @ weights)
        if self.basis is not None:
            self.form_, rows = "sparse", self._basis_rows(len(X))
            features, self._back = self._sparse_map(X, rows)
        elif self._linear and X.shape[1] < X.shape[0]:
            self.form_, features = "primal", X
        else:
            self.form_, features = "dual", root_of(self._kernel_table(X))
        self._spectrum = Spectrum(features, graph)
        return self._solve()

    def _basis_rows(self, m: int) -> Array:
        rows = np.asarray(self.basis)
        if rows.ndim == 0:
            if rows.dtype.kind not in "iu" or not 1 <= rows <= m:
                raise ValueError(f"basis must be 1 to {m} events, not {self.basis!r}")
            return np.sort(np.random.default_rng(self.random_state).choice(m, rows, replace=False))
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or len(np.unique(rows)) < len(rows):
            raise ValueError(
                "basis must be None, a number of events, or a list of their rows, each once"
            )
        if not len(rows) or rows.min() < 0 or rows.max() >= m:
            raise ValueError(f"basis must be rows of X, 0 to {m - 1}, and at least one")
        return rows

    def _sparse_map(self, X: Array, rows: Array) -> tuple[Array, Array]:
        """Features in which scores have the norm of their coefficients (eq. 42), and the way back to coefficients.

        With `K(R, R) = U diag(s) U'`, features are `K(:, R) U diag(s)**-1/2`; directions of no length, of a singular matrix, are left out.
        """
        K = self._kernel_table(X, rows)
        lengths, U = np.linalg.eigh(K[:, rows])
        kept = lengths > lengths.max(initial=0.0) * len(rows) * np.finfo(float).eps
        back = U[:, kept] / np.sqrt(lengths[kept])
        self._rows = rows
        return K.T @ back, back

    def _solve(self) -> Self:
        """The rule for the regularization, from the decomposition."""
        spectrum = self._decomposition()
        if self.form_ == "primal":
            self.coef_ = self._one(spectrum.weights(self.regularization))
        elif self.form_ == "sparse":
            self._keep(self._X, self._back @ spectrum.weights(self.regularization), self._rows)
        else:
            self._keep(self._X, spectrum.duals(self.regularization))
        return self._take(spectrum.scores(self.regularization))

    def _take(self, scores: Array) -> Self:
        return self._settle(scores, None if self.cost == "unit" else self._y)

    def _decomposition(self) -> Spectrum:
        if self._spectrum is None:
            raise ValueError("conjugate gradients make no decomposition; give a dense X")
        return self._spectrum

    # From the same decomposition ----------------------------------------------------------------

    def path(self, regularizations: Any) -> list[Self]:
        """The models of several regularizations, from the decomposition of this one (eq. 31)."""
        self._decomposition()
        return [copy(self).solve(each) for each in regularizations]

    def solve(self, regularization: float) -> Self:
        """Take another regularization, from the same decomposition."""
        self._decomposition()
        self.regularization = float(regularization)
        self._check()
        return self._solve()

    def leave_query_out(self, regularization: float | None = None) -> Array:
        """The score of every event by all other groups, as if learned without its own (eq. 33), without the constant.

        O(r |U|**2 + |U|**3) for a group of |U| events, where r is the size of the decomposition.
        """
        if self._groups is None:
            raise ValueError("leave_query_out needs a model that was fitted with groups")
        spectrum = self._decomposition()
        held: Array = self._one(
            leave_groups_out(spectrum, self._groups, self._given(regularization))
        )
        return held

    def leave_pair_out(self, regularization: float | None = None) -> Array:
        """At (i, j) what would be predicted of event i, had i and j not been learned (eq. 38); NaN at (i, i).

        Event i is put before j if `held[i, j] > held[j, i]`. O(m**2 r) for a product, then O(1) a pair.
        """
        if self._groups is not None or self._y is None or self.cost != "magnitude":
            raise ValueError(
                "leave_pair_out needs a model of cost 'magnitude' that was fitted to labels without groups"
            )
        spectrum = self._decomposition()
        held: Array = self._one(leave_pairs_out(spectrum, self._y, self._given(regularization)))
        return held

    # What theory promises ------------------------------------------------------------------------

    def bound(
        self, delta: float = 0.05, span: float | None = None, kappa: float | None = None
    ) -> Bound:
        """By how much the ranking error may be above the 1-loss of what was learned (`bounds.least_squares`).

        It is for events whose labels are no farther apart than `span`, and whose `sqrt(K(x, x))` is at most `kappa`: those of
        the events learned, unless others are given.
        """
        if (
            self._groups is not None
            or self._y is None
            or self.cost != "magnitude"
            or not self._flat
        ):
            raise ValueError(
                "a bound is known for cost 'magnitude', fitted to labels without groups, of one output"
            )
        if self.basis is not None:
            raise ValueError(
                "a bound is known without a basis, which is drawn from the events themselves"
            )
        m = len(self._y)
        return least_squares(
            m,
            self.regularization * 2 / (m * (m - 1)),
            self._longest(self._X) if kappa is None else kappa,
            float(np.ptp(self._y)) if span is None else span,
            delta,
        )

    def _given(self, regularization: float | None) -> float:
        if regularization is None:
            return self.regularization
        check_number("regularization", regularization, 1e-100, 1e100)
        return regularization

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._linear and self.basis is None
        tags.regressor_tags.poor_score = self.cost != "magnitude"
        return tags
