"""RankRLS against eq. 17, pair by pair, and against itself, learned anew without what is left out."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import check_estimator

from stream_rank import Gaussian, Polynomial
from stream_rank.batch import RankRLS, SVRank
from tests.batch import plain

COSTS = ("unit", "magnitude", "relative")
EXACT: dict[str, Any] = {"rtol": 0, "atol": 1e-8}


def rated(m: int, n: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Features, labels with ties, and groups, one of them of one event."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(m, n))
    y = np.round(X @ generator.normal(size=n) + generator.normal(size=m))
    groups = generator.integers(0, 4, m)
    groups[0] = 9
    return X, y, groups


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cost", COSTS)
def test_scikit_learns_checks(cost: str) -> None:
    check_estimator(RankRLS(cost=cost))


@pytest.mark.parametrize("cost", COSTS)
def test_all_forms_are_equation_17(cost: str) -> None:
    X, y, groups = rated(25, 4)
    duals = plain.rank_rls(X @ X.T, y, groups, cost, 0.7)
    model = RankRLS(0.7, cost).fit(X, y, groups)
    wide = RankRLS(0.7, cost).fit(np.hstack((X, np.zeros((25, 30)))), y, groups)
    whole = RankRLS(0.7, cost, basis=range(25)).fit(X, y, groups)
    scattered = RankRLS(0.7, cost).fit(sparse.csr_array(X), y, groups)
    forms = [each.form_ for each in (model, wide, whole, scattered)]
    assert forms == ["primal", "dual", "sparse", "conjugate"]
    for each in (model, wide, whole, scattered):
        np.testing.assert_allclose(each.coef_[:4], X.T @ duals, **EXACT)
    pairs = plain.pairs_of(y, groups, cost == "magnitude")
    h, j = np.array([pair for pair in pairs if y[pair[0]] != y[pair[1]]]).T
    preferences = RankRLS(0.7, cost).fit_pairs(X, h, j, y[h] - y[j])
    if cost != "magnitude":  # in which pairs of equal labels count
        np.testing.assert_allclose(preferences.coef_, X.T @ duals, **EXACT)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("kernel", [Gaussian(2.0), Polynomial(3, 1.0)])
def test_kernels_and_their_path(cost: str, kernel: Any) -> None:
    X, y, groups = rated(20, 3)
    K = plain.gaussian(X, X, 2.0) if kernel == Gaussian(2.0) else (X @ X.T + 1) ** 3
    model = RankRLS(1.0, cost, kernel).fit(X, y, groups)
    for regularization, each in zip((0.1, 1, 30), model.path((0.1, 1, 30)), strict=True):
        duals = plain.rank_rls(K, y, groups, cost, regularization)
        np.testing.assert_allclose(each.dual_coef_, duals, **EXACT)
        np.testing.assert_allclose(each.predict(X) - each.intercept_, K @ duals, **EXACT)
    named = RankRLS(1.0, cost, "precomputed").fit(K, y, groups)
    np.testing.assert_allclose(named.predict(K[:7]), model.predict(X[:7]), **EXACT)


@pytest.mark.parametrize("cost", COSTS)
def test_sparse_is_equation_41(cost: str) -> None:
    X, y, groups = rated(30, 3)
    R = [3, 8, 20, 29]
    K = plain.gaussian(X, X, 2.0)
    pairs = plain.pairs_of(y, groups, cost == "magnitude")
    M, N = plain.incidence(30, pairs, [y[h] - y[j] for h, j in pairs], cost)
    wanted = np.linalg.solve(K[R] @ M @ M.T @ K[R].T + 0.3 * K[np.ix_(R, R)], K[R] @ M @ N)
    for model in (
        RankRLS(0.3, cost, Gaussian(2.0), R).fit(X, y, groups),
        RankRLS(0.3, cost, "precomputed", R).fit(K, y, groups),
    ):
        np.testing.assert_allclose(model.dual_coef_, wanted, **EXACT)
        assert model.support_.tolist() == R


@pytest.mark.parametrize("kernel", [None, Gaussian(1.5)])
@pytest.mark.parametrize("cost", COSTS)
def test_leave_query_out_is_learning_without_it(cost: str, kernel: Any) -> None:
    X, y, groups = rated(24, 5)
    K = X @ X.T if kernel is None else plain.gaussian(X, X, 1.5)
    held = RankRLS(1.0, cost, kernel).fit(X, y, groups).leave_query_out(0.2)
    for group in np.unique(groups):
        left = np.flatnonzero(groups == group)
        scores = plain.without(
            K, left, lambda K, rest: plain.rank_rls(K, y[rest], groups[rest], cost, 0.2)
        )
        np.testing.assert_allclose(held[left], scores[left], **EXACT)
    sparse_model = RankRLS(0.2, cost, kernel, basis=[1, 5, 7]).fit(X, y, groups)
    held = sparse_model.leave_query_out()
    left = np.setdiff1d(np.flatnonzero(groups == 2), [1, 5, 7])  # the basis stays
    anew = RankRLS(0.2, cost, kernel, basis=[1, 5, 7])
    alone = np.where(
        groups != 2, groups, 100 + np.arange(24)
    )  # groups of one: nothing to compare with
    anew.fit(X, y, alone)
    np.testing.assert_allclose(held[left], (anew.predict(X) - anew.intercept_)[left], **EXACT)


@pytest.mark.parametrize("kernel", [None, Gaussian(1.5)])
@pytest.mark.parametrize("m", [2, 3, 4, 12])
def test_leave_pair_out_is_learning_without_it(m: int, kernel: Any) -> None:
    """Also where the kernel's matrix is singular, as that of five features and twelve events."""
    X, y, _ = rated(m, 5)
    K = X @ X.T if kernel is None else plain.gaussian(X, X, 1.5)
    Y = np.column_stack((y, -(y**2)))
    model = RankRLS(1.0, kernel=kernel).fit(X, Y)
    held = model.leave_pair_out(0.3)
    assert np.isnan(held[np.arange(m), np.arange(m)]).all()
    for i in range(m):
        for j in range(i):
            for output in range(2):
                scores = plain.without(
                    K,
                    [i, j],
                    lambda K, rest, o=output: plain.rank_rls(
                        K, Y[rest, o], np.zeros(m), "magnitude", 0.3
                    ),
                )
                rest = np.setdiff1d(np.arange(m), (i, j))
                # of two events none is left, and nothing is predicted
                constant = (Y[rest, output] - scores[rest]).mean() if m > 2 else 0.0
                got = held[i, j, output], held[j, i, output]
                np.testing.assert_allclose(got, scores[[i, j]] + constant, **EXACT)


def test_hold_outs_of_rules_that_go_through_every_label() -> None:
    """With more features than events and hardly any regularization: no less exact than learning anew."""
    X, y, _ = rated(9, 12)
    model, groups = RankRLS(1e-5).fit(X, y), np.arange(9) // 3
    held = model.leave_pair_out()
    for i in range(9):
        for j in range(i):
            rest = np.setdiff1d(np.arange(9), (i, j))
            anew = RankRLS(1e-5).fit(X[rest], y[rest]).predict(X[[i, j]])
            np.testing.assert_allclose((held[i, j], held[j, i]), anew, atol=1e-6)
    held = RankRLS(1e-5).fit(X, y, groups).leave_query_out()
    for group in range(3):
        rest, left = groups != group, groups == group
        anew = RankRLS(1e-5).fit(X[rest], y[rest], groups[rest])
        np.testing.assert_allclose(held[left], anew.predict(X[left]) - anew.intercept_, atol=1e-6)


def test_outputs_are_learned_as_if_alone() -> None:
    X, y, groups = rated(15, 3)
    Y = np.column_stack((y, X[:, 0], -y))
    model = RankRLS(kernel=Gaussian(1.0)).fit(X, Y, groups)
    for column in range(3):
        alone = RankRLS(kernel=Gaussian(1.0)).fit(X, Y[:, column], groups)
        np.testing.assert_allclose(model.predict(X)[:, column], alone.predict(X), **EXACT)
        held = model.leave_query_out()[:, column]
        np.testing.assert_allclose(held, alone.leave_query_out(), **EXACT)


def test_limits() -> None:
    """No preference, no rule: one label, groups of one; and a small regularization of a singular kernel."""
    X, y, _ = rated(10, 3)
    for cost in COSTS:
        assert not RankRLS(cost=cost).fit(X, np.ones(10)).coef_.any()
        assert not RankRLS(cost=cost).fit(X, y, range(10)).coef_.any()
    twice = np.vstack((X, X))
    exact = RankRLS(1e-7, kernel=Gaussian(1.0)).fit(twice, np.tile(X[:, 0], 2))
    np.testing.assert_allclose(exact.predict(X), X[:, 0], atol=1e-5)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (RankRLS(regularization=0), "regularization must be a number between 1e-100"),
        (RankRLS(cost="hinge"), "cost must be one of unit, magnitude, relative, not 'hinge'"),
        (RankRLS(kernel="rbf"), "kernel must be None, Linear"),
        (RankRLS(kernel="precomputed"), "must be a square matrix"),
        (RankRLS(kernel=lambda A, B: A @ B.T - 100.0), "must have no negative eigenvalue"),
        (RankRLS(kernel=lambda A, B: A), "must have the shape"),
        (RankRLS(basis=11), "basis must be 1 to 10 events"),
        (RankRLS(basis=[0, 10]), "basis must be rows of X, 0 to 9"),
        (RankRLS(basis=[0, 0]), "each once"),
    ],
)
def test_refusals(model: RankRLS, said: str) -> None:
    X, y, _ = rated(10, 3)
    with pytest.raises(ValueError, match=said):
        model.fit(X, y)


def test_refusals_of_calls() -> None:
    X, y, groups = rated(10, 3)
    with pytest.raises(ValueError, match="one entry for each of 10 events"):
        RankRLS().fit(X, y, groups[:9])
    with pytest.raises(ValueError, match="y should be a 1d array"):
        RankRLS(cost="unit").fit(X, np.column_stack((y, y)))
    with pytest.raises(ValueError, match="rows of X, 0 to 9; there is 1 to 10"):
        RankRLS().fit_pairs(X, [1, 10], [2, 3])
    with pytest.raises(ValueError, match="cannot be preferred over itself, as row 4"):
        RankRLS().fit_pairs(X, [1, 4], [2, 4])
    with pytest.raises(ValueError, match="positive number for each of 1 pairs"):
        RankRLS().fit_pairs(X, [1], [2], [0.0])
    with pytest.raises(ValueError, match="fitted with groups"):
        RankRLS().fit(X, y).leave_query_out()
    with pytest.raises(ValueError, match="labels without groups"):
        RankRLS().fit(X, y, groups).leave_pair_out()
    with pytest.raises(ValueError, match="give a dense X"):
        RankRLS().fit(sparse.csr_array(X), y).path([1.0])


def test_what_would_not_fit_is_refused_in_words() -> None:
    """Before anything of that size is made: twenty thousand events are few enough, and a few more are not."""
    X = np.zeros((20_001, 1))
    y = np.arange(20_001.0)
    assert RankRLS().fit(X, y).form_ == "primal"
    with pytest.raises(ValueError, match="the kernel of 20,001 and 20,001 events has 400,040,001"):
        RankRLS(kernel=Gaussian(1.0)).fit(X, y)
    with pytest.raises(ValueError, match="the list of all pairs of 20,001 events"):
        RankRLS(cost="relative").fit(X, y)
    with pytest.raises(ValueError, match="what is predicted for all pairs"):
        RankRLS().fit(X, y).leave_pair_out()
    with pytest.raises(ValueError, match="the table of 180,000 pairs"):
        SVRank().fit_pairs(np.zeros((2, 3000)), np.zeros(180_000, int), np.ones(180_000, int))


@pytest.mark.parametrize(
    ("kernel", "learned", "pairs", "ranked", "held"),
    [
        (
            None,
            [
                -2.616499274,
                -0.5465573572,
                0.5623487415,
                -3.0690646176,
                0.9229489351,
                3.9539266699,
                -0.1580045983,
                0.9509015005,
            ],
            [-2.5451986313, -2.9902579721, -0.0275625877],
            [
                0.0,
                1.6031021898,
                2.9598540146,
                -0.670620438,
                1.4251824818,
                3.2746350365,
                -0.4790145985,
                0.8777372263,
            ],
            [
                0.0,
                2.9497326203,
                6.0363636364,
                0.3893048128,
                0.0923787529,
                0.603926097,
                -0.92147806,
                -0.2990762125,
            ],
        ),
        (
            Gaussian(2.0),
            [
                -1.0591644247,
                -0.9669257267,
                0.2425120626,
                -1.7370013369,
                0.1236838984,
                3.5455242233,
                -1.0354940129,
                0.886865317,
            ],
            [-0.5230432721, -0.4408948309, 0.7288480473],
            [
                -0.6993313882,
                -0.9292943875,
                0.3964875484,
                -1.2323036158,
                -1.1396404409,
                1.0170861838,
                -2.3393038288,
                -0.4811524304,
            ],
            [
                -0.9487536052,
                -0.5081291661,
                0.1106338162,
                -0.5072271132,
                -0.5895512334,
                -0.3991299586,
                -0.4946540724,
                -0.0950223168,
            ],
        ),
    ],
)
def test_it_is_what_rlscore_finds(
    kernel: Any, learned: Any, pairs: Any, ranked: Any, held: Any
) -> None:
    """What GlobalRankRLS and QueryRankRLS of RLScore predict, and by their own cross-validations: recorded, since its release does not compile on Python 3.11.

    It divides a query's cost by the number of its events: here both have four.
    """
    i = np.arange(8.0)
    X, y = np.column_stack((i % 3, (i * i) % 5, i / 4)), [3.0, 1, 4, 1, 5, 9, 2, 6]
    model = RankRLS(2.0, kernel=kernel).fit(X, y)
    found = model.predict(X)
    np.testing.assert_allclose(found - found.mean(), learned, atol=1e-9)
    left = model.leave_pair_out()
    h, j = np.array([[0, 1, 6], [1, 5, 7]])
    np.testing.assert_allclose(left[h, j] - left[j, h], pairs, atol=1e-9)
    model = RankRLS(4 * 0.5, kernel=kernel).fit(X, y, np.repeat([0, 1], 4))
    np.testing.assert_allclose(model.predict(X) - model.intercept_, ranked, atol=1e-9)
    np.testing.assert_allclose(model.leave_query_out(), held, atol=1e-9)
