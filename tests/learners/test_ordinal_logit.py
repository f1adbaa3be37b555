"""OrdinalLogit against its definition: dense matrices, NumPy, one event at a time."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from stream_rank import OAPStream, OrdinalLogit
from stream_rank.engine.jit import compiled
from stream_rank.engine.ordinal.likelihood import settle, slopes
from tests.learners.conftest import dicts, events

Array = np.ndarray[Any, Any]


@compiled
def _slopes(has_above, has_below, place, gap):
    return slopes(has_above, has_below, place, gap)


@compiled
def _settle(has_above, has_below, place, gap, var, cov, var_gap):
    return settle(has_above, has_below, place, gap, var, cov, var_gap)


def _log_likelihood(has_above: bool, has_below: bool, place: float, gap: float) -> float:
    def log_logistic(z: float) -> float:
        return float(-np.logaddexp(0.0, -z))

    found = log_logistic(place + gap) if has_above else 0.0
    found += log_logistic(-place) if has_below else 0.0
    return found + (np.log(-np.expm1(-gap)) if has_above and has_below else 0.0)


SIDES = [(True, False), (False, True), (True, True)]


@pytest.mark.parametrize(("has_above", "has_below"), SIDES)
@given(st.floats(-8, 8), st.floats(0.05, 8))
def test_slopes_and_curvatures_are_derivatives(
    has_above: bool, has_below: bool, place: float, gap: float
) -> None:
    both, h = has_above and has_below, 1e-5
    gap = gap if both else 0.0

    def value(by: float, wider: float) -> float:
        return _log_likelihood(has_above, has_below, place + by, gap + wider)

    def slopes_at(by: float, wider: float) -> Array:
        return np.array(_slopes(has_above, has_below, place + by, gap + wider))

    along, wider, above, below, between = slopes_at(0, 0)
    assert along == pytest.approx((value(h, 0) - value(-h, 0)) / (2 * h), abs=1e-6)
    bends = (slopes_at(-h, 0) - slopes_at(h, 0)) / (2 * h)
    assert above + below == pytest.approx(bends[0], rel=1e-4, abs=1e-6)
    if both:
        assert wider == pytest.approx((value(0, h) - value(0, -h)) / (2 * h), rel=1e-4, abs=1e-6)
        assert above == pytest.approx(bends[1], rel=1e-4, abs=1e-6)
        assert above + between == pytest.approx(
            (slopes_at(0, -h)[1] - slopes_at(0, h)[1]) / (2 * h), rel=1e-4, abs=1e-6
        )


@pytest.mark.parametrize(("has_above", "has_below"), SIDES)
@settings(max_examples=200)
@given(
    *(st.floats(-300, 300), st.floats(1e-4, 50), st.floats(1e-6, 1e30)),
    *(st.floats(1e-6, 1e2), st.floats(-0.99, 0.99)),
)
def test_belief_and_likelihood_settle_where_their_slopes_cancel(
    has_above: bool, has_below: bool, place: float, gap: float, var: float, own: float, tied: float
) -> None:
    """At the largest product, what moved the mean there are the slopes of the likelihood there."""
    both = has_above and has_below
    gap, own = (gap, own) if both else (0.0, 0.0)
    cov = tied * min(1.0, own) * np.sqrt(min(var, own)) if both else 0.0
    g, g_gap, *_ = _settle(has_above, has_below, place, gap, var, cov, own)
    there = place + (var * g + cov * g_gap), gap + (cov * g + own * g_gap)
    assert not both or there[1] > 0
    along, wider, above, below, between = _slopes(has_above, has_below, *there)
    S = np.array([[var, cov], [cov, own]])
    H = (
        np.array([[above + below, above], [above, above + between]])
        if both
        else np.diag([above + below, 0.0])
    )
    rest = np.array([along - g, wider - g_gap if both else 0.0])
    moved = np.array([g, g_gap])
    left = np.sqrt(max(0.0, rest @ S @ np.linalg.solve(np.eye(2) + H @ S, rest)))
    # a place is known to its last digits alone, and its slopes as well as that: how much that is, says their curvature
    digits = 1e-13 * (abs(place) + abs(var * g) + abs(there[1]) + 1.0)
    blur = digits * np.sqrt(above + below + between)
    assert left <= 1e-8 * np.sqrt(moved @ S @ moved) + blur


class Oracle:
    """The belief as one dense covariance of weights, the tie's width and thresholds' edges."""

    def __init__(self, d: int, k: int, regularization: float, forgetting: float) -> None:
        self.d, self.k, self.forgetting, self.prior = d, k, forgetting, 1 / regularization
        below = np.arange(1, k) / k
        self.thresholds = np.log(below / (1 - below))
        self.tie: float = 0.1
        self.weights, self.middle = np.zeros(d), (k - 2) // 2
        edges = np.array([9.0, *[4.0] * (k - 1)])  # the middle, the tie, the gaps
        self.most = np.concatenate([np.zeros(d), edges])
        self.P = np.diag(self.most)
        self.squares, self.n = 0.0, 0

    def slopes_of(self, threshold: int) -> Array:
        found = np.zeros(self.k)
        found[0] = 1.0
        gaps = np.diff(self.thresholds)
        found[2:][self.middle : threshold] = gaps[self.middle : threshold]
        found[2:][threshold : self.middle] = -gaps[threshold : self.middle]
        return found

    def learn(self, x: Array, rank: int) -> None:
        above = self.slopes_of(rank - 1) if rank < self.k else None
        below = self.slopes_of(rank - 2) if rank > 1 else None
        t = self.thresholds
        self.observe(
            x, above, t[rank - 1] if rank < self.k else 0.0, below, t[rank - 2] if rank > 1 else 0.0
        )

    def learn_pair(self, x: Array, magnitude: float) -> None:
        slope = np.zeros(self.k)
        slope[1] = self.tie
        if magnitude:
            self.observe(x, None, 0.0, slope, self.tie)
        else:
            self.observe(x, slope, self.tie, -slope, -self.tie)

    def observe(
        self, x: Array, above: Array | None, top: float, below: Array | None, bottom: float
    ) -> None:
        self.squares += float(x @ x)
        self.n += 1
        if self.forgetting < 1:
            U, D = self.factors()
            D = np.minimum(D / self.forgetting, self.most)
            self.P = U @ np.diag(D) @ U.T
        new = (self.most[: self.d] == 0) & (x != 0)
        for j in np.flatnonzero(new):
            self.most[j] = self.P[j, j] = self.prior / (self.squares / self.n) / self.n**0.5
        score = self.weights @ x
        J = np.array([np.concatenate([-x, edge]) for edge in (above, below) if edge is not None])
        S = J @ self.P @ J.T
        sides = np.flatnonzero([above is not None, below is not None])
        if len(sides) == 2:
            var, cov, var_gap = S[1, 1], S[0, 1] - S[1, 1], S[0, 0] - 2 * S[0, 1] + S[1, 1]
            place, gap = bottom - score, top - bottom
        else:
            var, cov, var_gap = S[0, 0], 0.0, 0.0
            place, gap = (bottom if above is None else top) - score, 0.0
        along, wider, v_a, v_b, v_gap = _settle(
            above is not None, below is not None, place, gap, var, cov, var_gap
        )
        g = np.array([wider, along - wider]) if len(sides) == 2 else np.array([along])
        H = np.array([[v_a + v_gap, -v_gap], [-v_gap, v_b + v_gap]])[np.ix_(sides, sides)]
        move = self.P @ J.T @ g
        self.P = self.P - self.P @ J.T @ H @ np.linalg.inv(np.eye(len(S)) + S @ H) @ J @ self.P
        self.P = (self.P + self.P.T) / 2
        self.weights += move[: self.d]
        edges = move[self.d :]
        self.tie = self.stretched(self.tie, edges[1])
        gaps = [
            self.stretched(gap, m)
            for gap, m in zip(np.diff(self.thresholds), edges[2:], strict=True)
        ]
        places = np.concatenate([[0], np.cumsum(gaps)])
        middle = self.thresholds[self.middle] + edges[0]
        self.thresholds = middle + places - places[self.middle]

    @staticmethod
    def stretched(gap: float, move: float) -> float:
        return gap * (1 + move) if move > 0 else gap * float(np.exp(move))

    def factors(self) -> tuple[Array, Array]:
        """`U D U'`, by Cholesky's method from the last row up."""
        L = np.linalg.cholesky(self.P[::-1, ::-1] + 1e-300 * np.eye(len(self.P)))
        R = L[::-1, ::-1]
        return R / np.diag(R), np.diag(R) ** 2


@pytest.mark.parametrize("forgetting", [1.0, 0.98])
@pytest.mark.parametrize("k", [2, 3, 5, 9])
def test_the_engine_does_what_the_definition_says(k: int, forgetting: float) -> None:
    X, y = events(400, 7, k)
    model = OrdinalLogit(n_ranks=k, regularization=0.1, forgetting=forgetting)
    oracle = Oracle(7, k, 0.1, forgetting)
    rng = np.random.default_rng(3)
    for i, (x, rank) in enumerate(zip(X, y, strict=True)):
        if i % 5 == 4:
            magnitude = float(rng.integers(0, 2))
            other = X[rng.integers(len(X))]
            model.learn_pair(dict(enumerate(x)), dict(enumerate(other)), magnitude)
            oracle.learn_pair(x - other, magnitude)
        else:
            model.learn_one(dict(enumerate(x)), int(rank))
            oracle.learn(x, int(rank))
        if i % 50 == 49:
            assert list(model.weights.values()) == pytest.approx(oracle.weights, rel=1e-6, abs=1e-8)
            assert model.thresholds == pytest.approx(oracle.thresholds, rel=1e-6, abs=1e-8)


def _covariance(model: OrdinalLogit) -> Array:
    """The covariance of weights that the memory holds."""
    memory = model._model.memory
    n, edges = len(model.weights), max(model._model.n_ranks, 2)
    U = np.zeros((n + edges, n + edges))
    triangle, start = memory["triangle"], 0
    for column in range(n):
        block = column // 8
        length = 8 * (block + 1)
        start = 32 * block * (block + 1) + (column % 8) * length
        U[: min(n, length), column] = triangle[start : start + min(n, length)]
    U[:n, n:] = memory["border"][:edges, :n].T
    U[n:, n:] = np.triu(memory["corner"][:edges, :edges].T)
    D = np.concatenate([memory["diagonal"][:n], memory["edge_diagonal"][:edges]])
    found: Array = (U * D) @ U.T
    return found


def test_the_factors_are_the_inverse_of_the_precision_after_many_events() -> None:
    """What every event added, summed up and inverted at the end."""
    X, y = events(20_000, 12, 2, seed=5)
    X[:, 11] = X[:, 10]  # doubled
    model = OrdinalLogit(n_ranks=2, regularization=0.01)
    precision = np.zeros((14, 14))
    thresholds, weights = [], []
    for x, rank in zip(dicts(X), y.tolist(), strict=True):
        model.learn_one(x, rank)
        thresholds.append(model.thresholds[0])
        weights.append(list(model._model.memory["weights"][:12]))
    precision[np.diag_indices(12)] = 1 / model._model.memory["priors"][:12]
    precision[12, 12], precision[13, 13] = 1 / 9.0, 1 / 4.0
    for x, threshold, w in zip(X, thresholds, weights, strict=True):
        share = 1 / (1 + np.exp(-(threshold - np.array(w) @ x)))
        u = np.concatenate([-x, [1.0, 0.0]])
        precision += share * (1 - share) * np.outer(u, u)
    wanted = np.linalg.inv(precision)
    assert np.abs(_covariance(model) - wanted).max() <= 1e-6 * np.abs(wanted).max()


def test_one_pass_is_close_to_the_batch_optimum() -> None:
    X, y = OAPStream(seed=2, features="quadratic").arrays(3_000)
    X = (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1)
    model = OrdinalLogit(n_ranks=5)
    model.learn_many(X, y)

    def lost(z: Array) -> float:
        scores = X @ z[:6]
        edges = np.concatenate([[-1e3], np.cumsum([z[6], *np.exp(z[7:])]), [1e3]])
        upper, lower = edges[y] - scores, edges[y - 1] - scores
        chance = 1 / (1 + np.exp(-np.clip(upper, -500, 500))) - 1 / (
            1 + np.exp(-np.clip(lower, -500, 500))
        )
        return float(-np.log(np.maximum(chance, 1e-300)).sum() + 0.005 * (z[:6] @ z[:6]))

    best = minimize(lost, np.zeros(10), options={"maxiter": 500})
    scores, thresholds = X @ best.x[:6], np.cumsum([best.x[6], *np.exp(best.x[7:])])
    batch = 1 + (thresholds[None] <= scores[:, None]).sum(1)
    ours = model.predict_many(X)
    assert abs(np.abs(ours - y).mean() - np.abs(batch - y).mean()) <= 0.005


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_no_scale_needs_tuning(scale: float) -> None:
    """The prior is in units of the events' length, so scaled features give the same ranks."""
    X, y = events(500, 5)
    plain, scaled = OrdinalLogit(n_ranks=5), OrdinalLogit(n_ranks=5)
    wanted = plain.test_then_train(X, y)
    got = scaled.test_then_train(X * 2.0 ** np.round(np.log2(scale)), y)
    assert np.array_equal(got, wanted)  # powers of two leave every rounding as it was


@pytest.mark.parametrize("precision", ["full", "diagonal"])
def test_columns_that_are_constant_doubled_or_separable_stay_finite(precision: Any) -> None:
    rng = np.random.default_rng(1)
    X = np.ones((5_000, 4))
    X[:, 1] = X[:, 2] = rng.normal(size=5_000)
    X[:, 3] = np.sign(rng.normal(size=5_000)) * 1e6
    y = np.where(X[:, 3] > 0, 3, 1)
    model = OrdinalLogit(n_ranks=3, precision=precision)
    model.learn_many(X, y)
    assert np.isfinite([*model.weights.values(), *model.thresholds]).all()
    assert (model.predict_many(X) == y).all()
    shares = model.predict_proba_many(X[:50])
    assert (shares >= 0).all()
    assert np.allclose(shares.sum(1), 1)


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.lists(
                st.sampled_from([0.0, 1e-30, 1.0, -3.0, 1e8, -1e25, 1e25]), min_size=3, max_size=3
            ),
            st.integers(1, 4),
        ),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from(["full", "diagonal"]),
    st.sampled_from([1.0, 0.7]),
)
def test_whatever_comes_stays_finite(
    stream: list[tuple[list[float], int]], precision: Any, forgetting: float
) -> None:
    model = OrdinalLogit(n_ranks=4, precision=precision, forgetting=forgetting)
    for values, rank in stream:
        model.learn_one(dict(enumerate(values)), rank)
        assert model.thresholds == sorted(model.thresholds)
    kept = model._model.memory.kept()
    assert all(np.isfinite(section).all() for section in kept.values())
    shares = model.predict_proba_one(dict(enumerate(stream[0][0])))
    assert sum(shares.values()) == pytest.approx(1)


def test_probabilities_are_calibrated() -> None:
    """On a stream whose true probabilities are known, those that are predicted lose little more than they do."""
    rng = np.random.default_rng(7)
    n, w, edges = 8_000, np.array([1.5, -1.0, 0.5]), np.array([-1.0, 0.2, 1.5])
    X = rng.normal(size=(n, 3))
    true = np.diff(1 / (1 + np.exp(-(edges[None] - (X @ w)[:, None]))), axis=1, prepend=0, append=1)
    y = 1 + (rng.random(n)[:, None] > true.cumsum(1)).sum(1)
    model = OrdinalLogit(n_ranks=4)
    found = []
    for first in range(0, n, 500):
        found.append(model.predict_proba_many(X[first : first + 500]))
        model.learn_many(X[first : first + 500], y[first : first + 500])
    late = slice(1_000, n)
    ours = np.concatenate(found)[late]
    chosen = np.arange(n)[late], y[late] - 1
    excess = np.log(true[chosen]) - np.log(ours[np.arange(len(ours)), y[late] - 1])
    assert excess.mean() <= 0.003
    for rank in range(4):
        for low in np.arange(0, 1, 0.1):
            some = (ours[:, rank] >= low) & (ours[:, rank] < low + 0.1)
            if some.sum() >= 300:
                happened, said = (y[late][some] == rank + 1).mean(), ours[some, rank].mean()
                assert abs(happened - said) <= 4 * np.sqrt(said * (1 - said) / some.sum())


def test_forgetting_recovers_from_a_sudden_change() -> None:
    X, y = events(3_000, 5, seed=1)
    after = 6 - y  # the opposite rule
    model = OrdinalLogit(n_ranks=5, forgetting=0.99)
    before = np.abs(model.test_then_train(X, y) - y)[-500:].mean()
    found = np.abs(model.test_then_train(X, after) - after)
    assert found[500:1_000].mean() <= before + 0.05
    lasting = OrdinalLogit(n_ranks=5)
    lasting.learn_many(X, y)
    assert np.abs(lasting.test_then_train(X, after) - after)[500:1_000].mean() > 2 * before


def test_pairs_and_ratings_teach_one_rule() -> None:
    rng = np.random.default_rng(2)
    w = np.array([2.0, -1.0, 0.5, 0.0])
    A, B = rng.normal(size=(2, 2_000, 4))
    lead = (A - B) @ w + rng.logistic(size=2_000)
    first, second = np.where((lead > 0)[:, None], A, B), np.where((lead > 0)[:, None], B, A)
    model = OrdinalLogit(n_ranks=5)
    model.learn_pairs(first, second, np.where(np.abs(lead) < 0.5, 0.0, 1.0))
    assert list(model.weights.values()) == pytest.approx(w, abs=0.35)  # the noise is the unit
    tie = model._model.memory["parameters"][3]
    assert tie == pytest.approx(0.5, abs=0.1)
    X, y = events(50, 4)
    model.learn_many(X, y)
    assert model.n_events == 2_050


def test_ranks_that_come_later_take_their_place() -> None:
    X, y = events(1_500, 4, 6, seed=4)
    model = OrdinalLogit()
    order = np.concatenate([np.flatnonzero((y == 3) | (y == 4)), np.flatnonzero((y < 3) | (y > 4))])
    model.learn_many(X[order], y[order])
    assert model.labels == [1, 2, 3, 4, 5, 6]
    assert model.thresholds == sorted(model.thresholds)
    model.learn_many(X, y)
    assert np.abs(model.predict_many(X) - y).mean() < 0.35


def test_what_is_forgotten_leaves_the_others_as_they_were() -> None:
    X, y = events(300, 20, 4)
    model = OrdinalLogit(n_ranks=4)
    model.learn_many(X, y)
    rest = [i for i in range(24) if i not in (3, 12)]
    before, weights = _covariance(model), model._model.memory["weights"].copy()
    model._model.forget(np.array([3, 12]))
    after = _covariance(model)
    assert after[np.ix_(rest, rest)] == pytest.approx(
        before[np.ix_(rest, rest)], rel=1e-9, abs=1e-12
    )
    assert not after[[3, 12]].any()
    assert np.array_equal(model._model.memory["weights"][rest[:18]], weights[rest[:18]])
    model.learn_many(X, y)
    assert np.abs(model.predict_many(X) - y).mean() < 0.2


@pytest.mark.parametrize("size", [1e6, 1e9, 1e25])
def test_an_outlier_that_agrees_teaches_nothing(size: float) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2_000, 2))
    y = np.searchsorted([-1.0, 1.0], X @ [1.0, 3.0] + 0.1 * rng.normal(size=2_000)) + 1
    plain, met = OrdinalLogit(n_ranks=3), OrdinalLogit(n_ranks=3)
    for i, (x, rank) in enumerate(zip(dicts(X), y.tolist(), strict=True)):
        if i == 20:
            met.learn_one({0: size, 1: 0.0}, 3)
        plain.learn_one(x, rank)
        met.learn_one(x, rank)
    wanted, got = plain.predict_many(X), met.predict_many(X)
    assert (wanted != got).mean() < 0.01


@pytest.mark.parametrize("size", [1e-12, 3e-16, 5.5e-17])
@pytest.mark.parametrize("rank", [1, 3])
def test_a_tiny_first_event_is_overcome(size: float, rank: int) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2_000, 1))
    y = np.searchsorted([-0.5, 0.5], X[:, 0]) + 1
    model = OrdinalLogit(n_ranks=3)
    model.learn_one({0: size}, rank)
    model.learn_many(X, y)
    assert np.abs(model.predict_many(X) - y).mean() < 0.05


@pytest.mark.parametrize("n_full", [1, 500, 600, 1_000, 2_000])
def test_the_estimate_of_memory_holds_for_any_number_of_full_features(n_full: int) -> None:
    model = OrdinalLogit(n_ranks=5, full_features=n_full)
    said = [model.memory_at(count) for count in (1, 100, 700, 5_000, 100_000)]
    assert said == sorted(said)
    for count, at_most in zip((100, 700, 5_000), said[1:], strict=False):
        twin = OrdinalLogit(n_ranks=5, full_features=n_full)
        twin._model.resize(count)
        assert at_most >= sum(memory.n_bytes for memory in twin._model.memories().values())
