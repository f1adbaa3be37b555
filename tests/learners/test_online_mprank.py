"""On-line MPRank converges to the paper's closed form, over what it keeps."""

import pickle
from typing import Any

import numpy as np
import pytest

from stream_rank import Gaussian, Linear, OnlineMPRank, Polynomial
from tests.learners import oracle
from tests.learners.conftest import dicts

KERNELS: dict[str, tuple[Any, Any]] = {
    "linear": (Linear(), lambda A, B: A @ B.T),
    "gaussian": (
        Gaussian(2.0),
        lambda A, B: np.exp(-((A[:, None] - B[None]) ** 2).sum(-1) / (2 * 2.0**2)),
    ),
    "polynomial": (Polynomial(2, 1.0), lambda A, B: (A @ B.T + 1) ** 2),
}


@pytest.fixture(params=KERNELS)
def kernel(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    return KERNELS[request.param]


def rated(n_events: int, n_features: int = 5, seed: int = 0) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_events, n_features)) + 1
    return X, X @ generator.normal(size=n_features) + generator.normal(size=n_events)


def differences(scores: Any) -> Any:
    return np.asarray(scores) - scores[0]


def closed_form(kernel: Any, X: Any, y: Any, groups: list[Any], C: float, test: Any) -> Any:
    """What eq. 13 predicts for other events, up to a constant."""
    return kernel(test, X) @ oracle.mprank_coefficients(kernel(X, X), y, groups, C)


@pytest.mark.parametrize("C", [0.1, 5.0, 50.0])
@pytest.mark.parametrize("n_groups", [1, 3])
def test_passes_converge_to_the_closed_form(
    kernel: tuple[Any, Any], n_groups: int, C: float
) -> None:
    X, y = rated(120)
    groups = np.random.default_rng(3).integers(0, n_groups, 120).tolist()
    model = OnlineMPRank(C=C, kernel=kernel[0])
    model.learn_many(X, y, group=groups)
    model.sweep(30_000)
    test = rated(30, seed=4)[0]
    expected = closed_form(kernel[1], X, y, groups, C, test)
    scores = model.predict_many(test)
    assert differences(scores) == pytest.approx(differences(expected), abs=1e-6)
    if n_groups == 1:
        assert model.predict_many(X).mean() == pytest.approx(y.mean())


@pytest.mark.parametrize(
    ("kernel", "C"), [(Linear(), 10.0), (Gaussian(8.0), 1000.0)], ids=["linear", "gaussian"]
)
def test_the_cost_has_settled_after_the_papers_passes(kernel: Any, C: float) -> None:
    """Some 700 events and 120 passes, as in figure 1: then less than 0.01 percent in a pass."""
    X, y = rated(700, 20)
    model = OnlineMPRank(C=C, kernel=kernel)
    model.learn_many(X, y)
    costs = [model.cost]
    for _ in range(120):
        model.sweep()
        costs.append(model.cost)
    change = np.abs(np.diff(costs)) / costs[:-1]
    assert change[0] > 1e-2, "it was settled before the first pass"
    assert change[-1] < 1e-4
    K = X @ X.T
    if not isinstance(kernel, Linear):
        squares = np.diag(K)
        K = np.exp(-(squares[:, None] + squares - 2 * K) / (2 * kernel.width**2))
    best = oracle.mprank_coefficients(K, y, [0] * 700, C)
    lowest = best @ K @ best + 2 * C * (y - K @ best).var()
    assert lowest * (1 - 1e-9) <= costs[-1] <= lowest * 1.01


def dual(model: OnlineMPRank, kernel: Any, X: Any, y: Any) -> float:
    """MP's eq. 16, which steps climb."""
    alphas, m = model._model.memory["alphas"][: len(y)], len(y)
    K = oracle.centring([0] * m) @ kernel(X, X) @ oracle.centring([0] * m)
    assert model.C is not None
    size = alphas @ K @ alphas + m / (2 * model.C) * alphas @ alphas
    return float(2 * alphas @ (y - y.mean()) - size)


def test_every_pass_climbs(kernel: tuple[Any, Any]) -> None:
    X, y = rated(60)
    model = OnlineMPRank(C=30.0, kernel=kernel[0])
    model.learn_many(X, y)
    values = []
    for _ in range(60):
        values.append(dual(model, kernel[1], X, y))
        model.sweep()
    assert (np.diff(values) >= -1e-9 * np.abs(values[:-1])).all()
    assert values[-1] <= model.cost * (1 + 1e-9)  # no dual value is above the least cost


def test_cost_is_the_papers_objective(kernel: tuple[Any, Any]) -> None:
    """`|w|**2 + C / m**2 * sum over all pairs`, at a point that is not the minimum."""
    X, y = rated(40)
    model = OnlineMPRank(C=3.0, kernel=kernel[0])
    model.learn_many(X, y)
    scores = model.predict_many(X)
    off = (scores[:, None] - scores) - (y[:, None] - y)
    if isinstance(kernel[0], Linear):
        size = np.sum(np.square(list(model.weights.values())))
    else:
        vectors = np.array([[*vector.values()] for vector, _ in model.support])
        betas = np.array([coefficient for _, coefficient in model.support])
        size = betas @ kernel[1](vectors, vectors) @ betas
    assert model.cost == pytest.approx(size + 3.0 / 40**2 * (off**2).sum())


def test_steps_are_the_papers(kernel: tuple[Any, Any]) -> None:
    """MP section 2.5, written out over a growing sample, one step for each event, with a fixed rate."""
    X, y = rated(40)
    rate, C = 0.005, 4.0
    model, alphas = OnlineMPRank(C=C, kernel=kernel[0], learning_rate=rate), np.zeros(40)
    for i, x in enumerate(dicts(X)):
        model.learn_one(x, y[i])
        m = i + 1
        K = kernel[1](X[:m], X[:m])
        centred = K - K.mean(0) - K.mean(1)[:, None] + K.mean()
        slope = 2 * (y[i] - y[:m].mean() - centred[i] @ alphas[:m]) - m / C * alphas[i]
        alphas[i] += min(rate, 1 / (2 * centred[i, i] + m / C)) * slope
        assert model._model.memory["alphas"][:m] == pytest.approx(alphas[:m])


@pytest.mark.parametrize("budget", [2, 7, 25])
def test_a_full_budget_stays_full_and_is_the_sample(kernel: tuple[Any, Any], budget: int) -> None:
    """What was dropped has left no trace: the fixed point is that of the events kept."""
    X, y = rated(90)
    groups = np.random.default_rng(5).integers(0, 3, 90).tolist()
    model = OnlineMPRank(C=5.0, kernel=kernel[0], budget=budget, revisits=1)
    for i, x in enumerate(dicts(X)):
        model.learn_one(x, y[i], group=groups[i])
        assert len(model._model) == min(i + 1, budget)
        if i % 17 == 0 or i == 89:
            copy = pickle.loads(pickle.dumps(model))
            copy.sweep(20_000)
            kept = slice(max(0, i + 1 - budget), i + 1)
            test = rated(10, seed=4)[0]
            expected = closed_form(kernel[1], X[kept], y[kept], groups[kept], 5.0, test)
            scores = copy.predict_many(test)
            assert differences(scores) == pytest.approx(differences(expected), abs=1e-6)


def test_a_huge_event_that_was_dropped_leaves_nothing_after_a_round(
    kernel: tuple[Any, Any],
) -> None:
    X, y = rated(60)
    model, other = (OnlineMPRank(C=5.0, kernel=kernel[0], budget=8) for _ in range(2))
    model.learn_one(dict.fromkeys(range(5), 1e10), 1e12)
    for some in (model, other):
        some.learn_many(X, y)
        some.sweep(50_000)  # from dual variables of 1e12
    assert model.predict_many(X) == pytest.approx(other.predict_many(X), abs=1e-6)


def test_a_preference_is_a_group_of_two(kernel: tuple[Any, Any]) -> None:
    X, y = rated(30)
    Z = rated(20, seed=6)[0]
    model = OnlineMPRank(C=5.0, kernel=kernel[0])
    model.learn_many(X, y)
    for first, second in zip(Z[::2], Z[1::2], strict=True):
        model.learn_pair(dict(enumerate(first)), dict(enumerate(second)), 2.0)
    model.sweep(30_000)
    everything, labels = np.concatenate([X, Z]), np.concatenate([y, [2.0, 0.0] * 10])
    groups = [-1] * 30 + [i // 2 for i in range(20)]
    test = rated(10, seed=4)[0]
    expected = closed_form(kernel[1], everything, labels, groups, 5.0, test)
    scores = model.predict_many(test)
    assert differences(scores) == pytest.approx(differences(expected), abs=1e-6)
    assert model.predict_many(X).mean() == pytest.approx(y.mean())


def test_revisits_bring_it_closer(kernel: tuple[Any, Any]) -> None:
    X, y = rated(200)
    values = []
    for revisits in (0, 1, 10):
        model = OnlineMPRank(C=50.0, kernel=kernel[0], revisits=revisits)
        model.learn_many(X, y)
        values.append(dual(model, kernel[1], X, y))
    assert values[0] < values[1] < values[2]


@pytest.mark.parametrize("rate", [0.01, 0.3, 1e12])
def test_any_rate_converges(kernel: tuple[Any, Any], rate: float) -> None:
    """One that would overshoot is cut."""
    X, y = rated(50)
    model = OnlineMPRank(C=1.0, kernel=kernel[0], learning_rate=rate)
    model.learn_many(X, y)
    model.sweep(4000)
    test = rated(10, seed=4)[0]
    expected = closed_form(kernel[1], X, y, [0] * 50, 1.0, test)
    scores = model.predict_many(test)
    assert differences(scores) == pytest.approx(differences(expected), abs=1e-6)


def test_settle_stops_where_the_cost_is_proven(kernel: tuple[Any, Any]) -> None:
    X, y = rated(150)
    model, far = (OnlineMPRank(C=20.0, kernel=kernel[0]) for _ in range(2))
    for some in (model, far):
        some.learn_many(X, y)
    far.sweep(20_000)
    for tolerance in (0.1, 0.01, 0.001):
        model.settle(tolerance)
        assert far.cost * (1 - 1e-9) <= model.cost <= far.cost / (1 - tolerance)
    assert model.settle(0.001) == 0
    assert OnlineMPRank(kernel=kernel[0]).settle() == 0
    assert far.settle(0, max_passes=3) <= 3


@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1e6, 4e24])
def test_it_stays_finite_at_every_scale(kernel: tuple[Any, Any], scale: float) -> None:
    if isinstance(kernel[0], Polynomial):
        scale = min(scale, 1e11)  # beyond, the kernel does not bear it and says so
    generator = np.random.default_rng(0)
    model = OnlineMPRank(C=1e12, kernel=kernel[0], budget=9, revisits=2)
    X = generator.normal(size=(300, 5)) * generator.choice([1.0, scale], (300, 1))
    X = X.clip(-1, 1) if scale < 1 else X.clip(-scale, scale)
    y = generator.normal(size=300).clip(-1, 1) * scale
    model.learn_many(X, y)
    model.sweep(20)
    assert np.isfinite(model.predict_many(X)).all()
    assert np.isfinite(model.cost)


def test_without_a_trade_off_the_ridge_goes_with_the_length_of_events(
    kernel: tuple[Any, Any],
) -> None:
    X, y = rated(60)
    model = OnlineMPRank(kernel=kernel[0])
    model.learn_many(X, y)
    lengths = []
    for m in range(1, 61):
        H = oracle.centring([0] * m)
        square = (H @ kernel[1](X[:m], X[:m]) @ H)[-1, -1]
        if m > 1:
            lengths.append(np.sqrt(square))
    model.sweep(5000)
    C = 60 / (20 * np.mean(lengths) ** 2)
    expected = closed_form(kernel[1], X, y, [0] * 60, C, X)
    assert differences(model.predict_many(X)) == pytest.approx(differences(expected), abs=1e-6)
    cost = OnlineMPRank(C=C, kernel=kernel[0])
    cost.learn_many(X, y)
    cost.sweep(5000)
    assert model.cost == pytest.approx(cost.cost)
    assert model.settle(0.001) == 0


@pytest.mark.parametrize("power", [-40, 30])
def test_the_scale_of_features_makes_no_difference(power: int) -> None:
    """To the bit, for powers of two."""
    X, y = rated(300)
    one, other = OnlineMPRank(budget=50, revisits=1), OnlineMPRank(budget=50, revisits=1)
    scores = one.test_then_train(X, y)
    assert (other.test_then_train(X * 2.0**power, y) == scores).all()


def test_one_hot_items_are_ordered_though_few_are_popular() -> None:
    """Users rate items of a column each. With C = 1 a weight shrinks by its item's rarity, and the popular decide."""
    generator = np.random.default_rng(0)
    worth, n_events = generator.normal(size=400), 4000
    shares = 1 / np.arange(1, 401)
    items = generator.choice(400, n_events, p=shares / shares.sum())
    users = generator.integers(0, 200, n_events)
    y = worth[items] + generator.normal(size=200)[users] + generator.normal(0, 0.5, n_events)
    misordered = []
    for C in (None, 1.0):
        model = OnlineMPRank(C=C)
        scores = model.test_then_train(np.eye(400)[items], y, group=users.tolist())[-1000:]
        together = users[-1000:, None] == users[-1000:]
        over = together & (y[-1000:, None] > y[-1000:])
        ahead = (scores[:, None] - scores)[over]
        misordered.append(((ahead < 0) + 0.5 * (ahead == 0)).mean())
    assert misordered[0] < 0.3
    assert misordered[0] < 0.8 * misordered[1]


@pytest.mark.parametrize(
    "parameters",
    [{"C": 0}, {"learning_rate": 0.0}, {"budget": 0}, {"revisits": -1}, {"kernel": "linear"}],
    ids=str,
)
def test_parameters_out_of_range(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        OnlineMPRank(**parameters)


def test_a_pair_needs_room_for_two() -> None:
    with pytest.raises(ValueError, match="budget of at least 2"):
        OnlineMPRank(budget=1).learn_pair({"a": 1.0}, {"a": 0.0})
