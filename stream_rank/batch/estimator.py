"""What the batch rankers share: scikit-learn's manner, with groups and with pairs."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.linalg import solve_triangular
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from stream_rank.batch.kernel_values import (
    KernelChoice,
    check_kernel,
    is_linear,
    kernel_values,
    root_and_pivots,
)
from stream_rank.batch.room import check_room

__all__ = ["KernelRanker", "Ranker", "checked_groups", "checked_pairs"]

Array = npt.NDArray[Any]


def checked_groups(groups: Any, n_events: int) -> Array:
    """A code for each event's group; all are one group where none are given."""
    if groups is None:
        return np.zeros(n_events, np.int64)
    names = np.asarray(groups)
    if names.shape != (n_events,):
        raise ValueError(
            f"groups must have one entry for each of {n_events} events, not {names.shape}"
        )
    codes: Array = np.unique(names, return_inverse=True)[1]
    return codes


def checked_pairs(
    n_events: int, preferred: Any, other: Any, magnitude: Any
) -> tuple[Array, Array, Array]:
    """Rows of the preferred and of the others, and by how much; by 1 where no magnitudes are given."""
    rows = []
    for name, given in (("preferred", preferred), ("other", other)):
        row = np.asarray(given)
        if row.ndim != 1 or (row.size and row.dtype.kind not in "iu"):
            raise ValueError(
                f"{name} must be a list of row numbers, not of {row.dtype} in {row.ndim} dimensions"
            )
        if row.size and not (row.min() >= 0 and row.max() < n_events):
            raise ValueError(
                f"{name} must be rows of X, 0 to {n_events - 1}; there is {row.min()} to {row.max()}"
            )
        rows.append(row.astype(np.int64))
    if len(rows[0]) != len(rows[1]) or not len(rows[0]):
        raise ValueError(
            f"preferred and other must be equally many, and at least one; there are {len(rows[0])} and {len(rows[1])}"
        )
    if np.any(rows[0] == rows[1]):
        raise ValueError(
            f"an item cannot be preferred over itself, as row {rows[0][rows[0] == rows[1]][0]} is"
        )
    sizes = np.ones(len(rows[0])) if magnitude is None else np.asarray(magnitude, np.float64)
    if sizes.shape != rows[0].shape or not (np.isfinite(sizes).all() and np.all(sizes > 0)):
        raise ValueError(
            f"magnitude must be a positive number for each of {len(rows[0])} pairs; give the preferred item first"
        )
    return rows[0], rows[1], sizes


class Ranker(RegressorMixin, BaseEstimator):
    """A regressor of which only the differences of its predictions are learned.

    `intercept_` makes the mean prediction of what was learned the mean label, where labels were given and their differences
    are what is learned; else it is 0.
    """

    _sparse = False

    def _takes_outputs(self) -> bool:
        return False

    def _table(self, X: Any, y: Any = None) -> tuple[Any, Array]:
        """A table of features, and labels, a column for every output."""
        accept = "csr" if self._sparse else False
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=accept,
            dtype=np.float64,
            y_numeric=True,
            multi_output=self._takes_outputs(),
            ensure_min_samples=2,
        )
        y = np.asarray(y, np.float64)
        if y.ndim == 1 or not self._takes_outputs():
            y = column_or_1d(y, warn=True)
        self._flat = y.ndim == 1
        return X, y[:, None] if self._flat else y

    def _items(self, X: Any) -> Any:
        """A table of features of what is compared."""
        self._flat = True
        return validate_data(
            self, X, accept_sparse="csr" if self._sparse else False, dtype=np.float64
        )

    def _scores(self, X: Any) -> Array:
        """Scores without the constant."""
        raise NotImplementedError

    def predict(self, X: Any) -> Array:
        """Scores: the higher, the better."""
        check_is_fitted(self)
        X = validate_data(
            self, X, reset=False, accept_sparse="csr" if self._sparse else False, dtype=np.float64
        )
        scores: Array = self._scores(X) + self.intercept_
        return scores

    def _settle(self, scores: Array, y: Array | None) -> Self:
        """Set the constant by the scores of what was learned."""
        constant = np.zeros(scores.shape[1]) if y is None else y.mean(axis=0) - scores.mean(axis=0)
        self.intercept_ = self._one(constant)
        return self

    def _one(self, columns: Array) -> Any:
        """Without the axis of outputs, where one output was given as a list."""
        return columns[..., 0] if self._flat else columns

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse
        tags.target_tags.multi_output = self._takes_outputs()
        return tags


class KernelRanker(Ranker):
    """A ranker with `coef_`, or with `dual_coef_` of the events `support_`."""

    kernel: KernelChoice

    @property
    def _linear(self) -> bool:
        return is_linear(self.kernel)

    def _kernel_table(self, X: Array, rows: Any = slice(None)) -> Array:
        """The kernel's values between some of the events to be learned and all of them."""
        check_kernel(self.kernel)
        if isinstance(self.kernel, str) and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"a precomputed kernel must be a square matrix of what is learned, not {X.shape[0]} by {X.shape[1]}"
            )
        some, m = X[rows], len(X)
        instead = "learn fewer events, or give RankRLS a basis"
        check_room(len(some) * m, f"the kernel of {len(some):,} and {m:,} events", instead)
        return kernel_values(self.kernel, some, X)

    def _keep(self, X: Array, duals: Array, rows: Array | None = None) -> None:
        """Keep the rule: coefficients of events, which with linear scores are weights of features."""
        if self._linear:
            self.coef_ = self._one((X if rows is None else X[rows]).T @ duals)
            return
        self.support_ = np.arange(len(X)) if rows is None else rows
        self._support = None if isinstance(self.kernel, str) else X[self.support_]
        self.dual_coef_ = self._one(duals)

    def _features(self, X: Any) -> tuple[Any, Array | None]:
        """Features whose inner products are the kernel, and, unless they are those given, the events whose rows are triangular."""
        if self._linear:
            return X, None
        features, pivots = root_and_pivots(self._kernel_table(X))
        return features, pivots[: features.shape[1]]

    def _keep_weights(self, X: Any, features: Any, pivots: Array | None, weights: Array) -> None:
        """Keep the rule that has these weights of features: with a kernel, by as many events as there are features."""
        if pivots is None:
            self.coef_ = weights
            return
        duals = solve_triangular(features[pivots], weights, trans="T", lower=True)
        self._keep(X, duals[:, None], pivots)

    def _scores(self, X: Any) -> Array:
        if hasattr(self, "coef_"):
            scores: Array = X @ self.coef_
        elif self._support is None:
            scores = X[:, self.support_] @ self.dual_coef_
        else:
            scores = kernel_values(self.kernel, X, self._support) @ self.dual_coef_
        return scores

    def _longest(self, X: Any) -> float:
        """The largest `sqrt(K(x, x))` of the events learned."""
        if self._linear:
            squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else (X**2).sum(axis=1)
        else:
            squares = self._kernel_table(X).diagonal()
        return float(np.sqrt(np.max(squares)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str)
        return tags
