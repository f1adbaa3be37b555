"""The fixed rule that would have done well on events that are all known: what a learner that has to predict before it learns is beside.

Of **scores** it is the least magnitude loss itself, that of `RankRLS` (21). The least rank loss and the least share of wrongly
ordered pairs are found by no method that ends in time; of **ranks** cumulative logit stands for it, of **preferences** the logit of pairs
(Bradley and Terry), both without a penalty worth naming. All are sums of weighted features.

Features that most events have are centred, and all are brought to a mean square of 1, which changes no rule but lets methods end.

Reference: P. McCullagh. Regression models for ordinal data. Journal of the Royal Statistical Society B 42, 1980.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

from stream_rank.batch.rank_rls import RankRLS

__all__ = ["preference_error", "rank_loss", "score_loss", "table"]

Array = npt.NDArray[Any]

_PENALTY = 1e-6
"""Of the squared weights, beside a mean logarithmic loss: enough for a least one to be there where events can be told apart for sure."""
_STEPS = 500
_LEAST = 1e-300
_DENSE = 20_000_000
"""Numbers of a table that is made dense, since a decomposition is surer than conjugate gradients."""
_FEW = 1_000
"""Features of which a decomposition is made."""


def table(starts: Array, slots: Array, values: Array, width: int) -> Any:
    """Features of events as a sparse matrix."""
    return sparse.csr_array((values, slots, starts), shape=(len(starts) - 1, width))


def _minimum(of: Callable[[Array], tuple[float, Array]], start: Array) -> Array:
    found: Array = minimize(
        of, start, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS, "maxcor": 20}
    ).x
    return found


def _scaled(X: Any, centred: bool) -> Any:
    """Columns with a mean square of 1."""
    X = sparse.csc_array(X)
    m = X.shape[0]
    if centred:
        often = np.flatnonzero(np.diff(X.indptr) > m / 2)
        if len(often):
            columns = X[:, often].toarray()
            rest = np.setdiff1d(np.arange(X.shape[1]), often)
            X = sparse.hstack([sparse.csc_array(columns - columns.mean(axis=0)), X[:, rest]])
    squares = np.asarray(X.multiply(X).sum(axis=0)).ravel() / m
    return sparse.csr_array(X @ sparse.diags_array(1 / np.sqrt(np.maximum(squares, 1e-30))))


def rank_loss(X: Any, y: Array) -> float:
    """The mean distance, in ranks, of the median ranks of cumulative logit from the labels it was fitted to.

    With thresholds t and scores s, `P(rank <= r) = 1 / (1 + exp(s - t_r))`. O(non-zeros) a step.

    >>> rank_loss(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1, 1, 2, 2]))
    0.0
    """
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) == 1:
        return 0.0
    X = _scaled(X, centred=True)
    m, n = X.shape
    k = len(labels) - 1

    def thresholds(given: Array) -> Array:
        found: Array = np.cumsum(np.concatenate([given[:1], np.exp(given[1:])]))
        return found

    def cost(given: Array) -> tuple[float, Array]:
        weights, edges = given[:n], thresholds(given[n:])
        bounds = np.concatenate([[-np.inf], edges, [np.inf]])
        scores = X @ weights
        above, below = bounds[codes + 1] - scores, bounds[codes] - scores
        # P = sigmoid(above) sigmoid(-below) (1 - exp(below - above)), each of which has a logarithm of its own
        ratio = np.exp(below - above)
        loss = np.logaddexp(0, -above) + np.logaddexp(0, below)
        loss -= np.log(np.maximum(-np.expm1(below - above), _LEAST))
        more = ratio / np.maximum(1 - ratio, _LEAST)
        by_above, by_below = -expit(-above) - more, expit(below) + more
        by_bound = np.bincount(codes + 1, by_above, k + 2) + np.bincount(codes, by_below, k + 2)
        # an edge is the first, and the gaps up to it
        after = np.cumsum(by_bound[1:-1][::-1])[::-1]
        by_edge = np.concatenate([after[:1], after[1:] * np.exp(given[n + 1 :])])
        by_weight = -(X.T @ (by_above + by_below)) / m + _PENALTY * weights
        penalty = _PENALTY / 2 * float(weights @ weights)
        return float(loss.mean()) + penalty, np.concatenate([by_weight, by_edge / m])

    shares = np.cumsum(np.bincount(codes))[:-1] / m
    edges = np.log(shares / (1 - shares))
    start = np.concatenate([np.zeros(n), edges[:1], np.log(np.diff(edges))])
    found = _minimum(cost, start)
    predicted = labels[np.searchsorted(thresholds(found[n:]), X @ found[:n])]
    return float(np.abs(predicted - y).mean())


def score_loss(X: Any, y: Array, groups: Array | None) -> float:
    """The least magnitude loss: the mean over pairs, within groups, of the squared error of their difference.

    >>> round(score_loss(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0]), None), 9)
    0.0
    """
    X = _scaled(X, centred=True)
    few = X.shape[1] <= _FEW and X.shape[0] * X.shape[1] <= _DENSE
    X = X.toarray() if few else X
    off = y - X @ RankRLS(regularization=1e-6 * len(y)).fit(X, y, groups).coef_
    codes = (
        np.zeros(len(y), np.int64) if groups is None else np.unique(groups, return_inverse=True)[1]
    )
    counts = np.bincount(codes)
    distances = off - (np.bincount(codes, off) / counts)[codes]
    spreads = np.bincount(codes, distances**2)
    return 2 * float(counts @ spreads) / float(counts @ counts)


def preference_error(preferred: Any, other: Any, magnitudes: Array) -> float:
    """The share of pairs that the logit of pairs puts in the wrong order; a tie (a magnitude of 0) counts half.

    >>> preference_error(np.array([[1.0], [3.0]]), np.array([[0.0], [2.0]]), np.array([1.0, 1.0]))
    0.0
    """
    X = _scaled(sparse.csr_array(preferred) - sparse.csr_array(other), centred=False)
    m, n = X.shape
    wanted = np.where(magnitudes > 0, 1.0, 0.5)

    def cost(weights: Array) -> tuple[float, Array]:
        leads = X @ weights
        loss = np.logaddexp(0, -leads) + (1 - wanted) * leads
        slope: Array = X.T @ (expit(leads) - wanted) / m + _PENALTY * weights
        return float(loss.mean()) + _PENALTY / 2 * float(weights @ weights), slope

    leads = X @ _minimum(cost, np.zeros(n))
    # what was preferred is wrong behind, and half wrong level; of a tie half is wrong unless they are level
    wrong = np.where(magnitudes > 0, (1 - np.sign(leads)) / 2, np.where(leads == 0, 0.0, 0.5))
    return float(wrong.mean())
