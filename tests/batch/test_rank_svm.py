"""RankSVM against scikit-learn's LinearSVC on explicit pairs, and its passes against all pairs."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import check_estimator

from stream_rank import Gaussian
from stream_rank.batch import RankSVM
from stream_rank.batch.hinge import HingeOfLabels
from tests.batch import plain
from tests.batch.test_rank_rls import rated


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks() -> None:
    check_estimator(RankSVM())


def test_a_pass_is_the_sum_over_all_pairs() -> None:
    generator = np.random.default_rng(0)
    y, groups = generator.integers(0, 4, 60).astype(float), generator.integers(0, 3, 60)
    scores = np.round(generator.normal(size=60), 1)  # with leads of exactly 1, and ties
    pairs = plain.pairs_of(y, groups, False)
    short = {(h, j): 1 - (scores[h] - scores[j]) for h, j in pairs}
    slope = np.zeros(60)
    for h, j in pairs:
        if short[h, j] > 0:
            slope[h] -= 1 / len(pairs)
            slope[j] += 1 / len(pairs)
    risk = HingeOfLabels(y, groups)
    assert risk.n_pairs == len(pairs)
    found = risk.at(scores)
    np.testing.assert_allclose(found.slope, slope, atol=1e-15)
    np.testing.assert_allclose(found.loss, np.mean([max(0, s) for s in short.values()]))


@pytest.mark.parametrize("C", [0.1, 10.0, 1e4])
def test_linear_is_what_another_solver_finds_on_explicit_pairs(C: float) -> None:
    X, y, groups = rated(60, 5)
    h, j = np.array(plain.pairs_of(y, groups, False)).T
    D = X[h] - X[j]
    signs = np.where(np.arange(len(D)) % 2, 1.0, -1.0)
    solver = LinearSVC(
        loss="hinge", C=C / len(D), fit_intercept=False, tol=1e-6, max_iter=200_000, random_state=0
    ).fit(D * signs[:, None], signs)

    def cost(w: Any) -> float:
        return float(w @ w / 2 + C * np.maximum(0, 1 - D @ w).mean())

    models = [
        RankSVM(C, tol=1e-6).fit(X, y, groups),
        RankSVM(C, tol=1e-6).fit(sparse.csr_array(X), y, groups),
        RankSVM(C, tol=1e-6).fit_pairs(X, h, j),
    ]
    for model in models:
        assert model.gap_ <= 1e-6
        np.testing.assert_allclose(cost(model.coef_), cost(solver.coef_[0]), rtol=2e-6)
        assert cost(model.coef_) * (1 - model.gap_) <= cost(solver.coef_[0])


def test_with_a_kernel_it_is_what_libsvm_finds() -> None:
    """On pairs in both orders, where the constant that it wants is 0."""
    X, y, groups = rated(16, 3)
    K = plain.gaussian(X, X, 1.5)
    pairs = plain.pairs_of(y, groups, False)
    h, j = np.array(pairs + [(j, h) for h, j in pairs]).T
    D = np.eye(16)[h] - np.eye(16)[j]
    C, p = 40.0, len(pairs)
    solver = SVC(kernel="precomputed", C=C / p / 2, tol=1e-8)
    solver.fit(D @ K @ D.T, np.repeat([1.0, -1.0], p))
    duals = D[solver.support_].T @ solver.dual_coef_[0]

    def cost(norm: float, scores: Any) -> float:
        return float(norm / 2 + C * np.maximum(0, 1 - D[:p] @ scores).mean())

    model = RankSVM(C, Gaussian(1.5), tol=1e-7, max_iter=100_000).fit(X, y, groups)
    norm = model.dual_coef_ @ K[np.ix_(model.support_, model.support_)] @ model.dual_coef_
    expected = cost(duals @ K @ duals, K @ duals)
    np.testing.assert_allclose(cost(norm, model.predict(X)), expected, rtol=1e-6)
    one = RankSVM(1e4, Gaussian(1.5), tol=1e-9).fit_pairs(X, [3], [5]).predict(X)
    np.testing.assert_allclose(one[3] - one[5], 1, atol=1e-6)


def test_limits_and_refusals() -> None:
    X, y, _ = rated(10, 3)
    for model in (RankSVM(), RankSVM(kernel=Gaussian(1.0))):
        with pytest.raises(ValueError, match="there is no pair to learn"):
            model.fit(X, np.ones(10))
        with pytest.raises(ValueError, match="there is no pair to learn"):
            model.fit(X, y, range(10))
    with pytest.raises(ValueError, match="a kernel needs a dense X"):
        RankSVM(kernel=Gaussian(1.0)).fit(sparse.csr_array(X), y)
    with pytest.warns(ConvergenceWarning, match="2 passes leave the cost up to"):
        RankSVM(1e4, tol=1e-9, max_iter=2).fit(X, y)
