"""SVRank against libsvm on all pairs in both orders, where the constant that it wants is 0."""

from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import check_estimator

from stream_rank import Gaussian
from stream_rank.batch import SVRank
from tests.batch import plain
from tests.batch.test_rank_rls import rated


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks() -> None:
    check_estimator(SVRank())


@pytest.mark.parametrize("kernel", [None, Gaussian(1.5)])
@pytest.mark.parametrize("grouped", [False, True])
def test_it_costs_no_more_than_another_solver_finds(kernel: Any, grouped: bool) -> None:
    X, y, groups = rated(14, 3)
    if not grouped:
        groups = np.zeros(14)
    K = X @ X.T if kernel is None else plain.gaussian(X, X, 1.5)
    pairs = plain.pairs_of(y, groups, True)
    pairs += [(j, h) for h, j in pairs]
    D = np.zeros((len(pairs), 14))
    for row, (h, j) in enumerate(pairs):
        D[row, h], D[row, j] = 1, -1
    C, epsilon = 30.0, 0.2
    solver = SVR(kernel="precomputed", C=C / 14**2 / 2, epsilon=epsilon, tol=1e-8)
    solver.fit(D @ K @ D.T, D @ y)
    duals = D[solver.support_].T @ solver.dual_coef_[0]

    def cost(norm: float, scores: Any) -> float:
        return float(norm + C / 14**2 * np.maximum(0, abs(D @ (scores - y)) - epsilon).sum())

    model = SVRank(C, epsilon, kernel, max_iter=100_000).fit(X, y, groups if grouped else None)
    if kernel is None:
        norm = model.coef_ @ model.coef_
    else:
        norm = model.dual_coef_ @ K[np.ix_(model.support_, model.support_)] @ model.dual_coef_
    assert abs(solver.intercept_[0]) < 1e-6
    expected = cost(duals @ K @ duals, K @ duals)
    np.testing.assert_allclose(cost(norm, model.predict(X)), expected, rtol=1e-6)


def test_pairs_limits_and_refusals() -> None:
    X, _, _ = rated(10, 3)
    model = SVRank(1e4, 0.0).fit_pairs(X, [0, 3], [1, 4], [2.0, 1.0])
    scores = model.predict(X)
    np.testing.assert_allclose((scores[0] - scores[1], scores[3] - scores[4]), (2, 1), atol=1e-3)
    assert not SVRank().fit(X, np.ones(10)).coef_.any()
    with pytest.raises(ValueError, match="epsilon must be a number"):
        SVRank(epsilon=-1).fit(X, X[:, 0])
