"""MPRank against its cost, against RankRLS, against itself learned anew, and against the stream's MPRank."""

from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from stream_rank import Gaussian, OnlineMPRank
from stream_rank.batch import MPRank, RankRLS
from tests.batch import plain
from tests.batch.test_rank_rls import EXACT, rated


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks() -> None:
    check_estimator(MPRank())


@pytest.mark.parametrize("kernel", [None, Gaussian(1.5)])
def test_it_is_rank_rls_on_one_object_and_on_many(kernel: Any) -> None:
    """Also where there are more features than events, which is the dual form."""
    for n in (3, 40):
        X, y, groups = rated(20, n)
        for given in (None, groups):
            ours = MPRank(5.0, kernel).fit(X, y, given).predict(X)
            theirs = RankRLS(20**2 / (2 * 5.0), kernel=kernel).fit(X, y, given).predict(X)
            np.testing.assert_allclose(ours, theirs, **EXACT)
        h, j = np.array([(1, 2), (3, 2), (4, 9), (1, 2)]).T
        ours = MPRank(5.0, kernel).fit_pairs(X, h, j, [1, 2, 0.5, 3]).predict(X)
        theirs = RankRLS(4 / 5.0, kernel=kernel).fit_pairs(X, h, j, [1, 2, 0.5, 3]).predict(X)
        np.testing.assert_allclose(ours, theirs, **EXACT)


def test_nothing_near_costs_less() -> None:
    X, y, _ = rated(15, 4)

    def cost(w: Any) -> float:
        errors = (X @ w)[:, None] - X @ w - (y[:, None] - y)
        return float(w @ w + 7.0 / 15**2 * (errors**2).sum())

    w = MPRank(7.0).fit(X, y).coef_
    for step in np.vstack((np.eye(4), -np.eye(4))) * 1e-3:
        assert cost(w) < cost(w + step)


def test_the_stream_comes_to_it() -> None:
    X, y, _ = rated(30, 3)
    model = OnlineMPRank(C=10.0, kernel=Gaussian(1.0))
    model.learn_many(X, y)
    model.settle(1e-9, 20_000)
    expected = MPRank(10.0, Gaussian(1.0)).fit(X, y).predict(X)
    np.testing.assert_allclose(model.predict_many(X), expected, atol=1e-4)


@pytest.mark.parametrize("kernel", [None, Gaussian(1.5)])
def test_leave_pair_out_is_learning_without_it(kernel: Any) -> None:
    X, y, _ = rated(11, 3)
    held = MPRank(1.0, kernel).fit(X, y).leave_pair_out(4.0)
    errors = []
    for i in range(11):
        for j in range(i):
            rest = np.setdiff1d(np.arange(11), (i, j))
            scores = MPRank(4.0, kernel).fit(X[rest], y[rest]).predict(X[[i, j]])
            np.testing.assert_allclose((held[i, j], held[j, i]), scores, **EXACT)
            errors.append((scores[0] - scores[1] - y[i] + y[j]) ** 2)
    model = MPRank(1.0, kernel).fit(X, y)
    np.testing.assert_allclose(model.leave_one_out_error(4.0), np.mean(errors))
    candidates = [0.01, 1.0, 10.0, 1e4]
    assert model.best_trade_off(candidates) == min(candidates, key=model.leave_one_out_error)


def test_equation_24_with_its_minus_sign() -> None:
    """It leaves `C / m` as it is, and has the mean of the new scores over all events: then it agrees."""
    m, C = 9, 6.0
    X, y, _ = rated(m, 4)
    K = plain.gaussian(X, X, 1.0)
    c = 2 * C / m
    centring = np.eye(m) - 1 / m
    inverse = np.linalg.inv(np.eye(m) + c * centring @ K @ centring)
    U = c * (K - K.mean(axis=1)[:, None]) @ inverse
    h = U @ (y - y.mean())
    held = MPRank(1.0, Gaussian(1.0)).fit(X, y).leave_pair_out(C * (m - 2) / m)
    for i in range(m):
        for j in range(i):
            rest = np.setdiff1d(np.arange(m), (i, j))
            new = MPRank(C * (m - 2) / m, Gaussian(1.0)).fit(X[rest], y[rest])
            scores = new.predict(X) - new.intercept_
            pair = np.array((i, j))
            V = U[np.ix_(pair, pair)] - U[np.ix_(pair, rest)].sum(axis=1)[:, None] / (m - 2)
            known = (h - y)[[i, j]] - V.sum(axis=1) * (scores.mean() - y.mean())
            errors = np.linalg.solve(np.eye(2) - V, known)
            np.testing.assert_allclose(errors, (scores - y)[[i, j]], **EXACT)
            expected = held[i, j] - held[j, i]
            np.testing.assert_allclose(errors @ [1, -1] + y[i] - y[j], expected, **EXACT)


def test_limits_and_refusals() -> None:
    X, y, groups = rated(10, 3)
    assert not MPRank().fit(X, np.ones(10)).coef_.any()
    assert MPRank().fit(X, np.ones(10)).predict(X).tolist() == [1.0] * 10
    assert not MPRank().fit(X, y, range(10)).coef_.any()
    with pytest.raises(ValueError, match="C must be a number"):
        MPRank(C=-1).fit(X, y)
    with pytest.raises(ValueError, match="labels without groups"):
        MPRank().fit(X, y, groups).leave_pair_out()
