"""Each bound against its value by hand, and against what happens on a thousand draws."""

from math import e, sqrt
from typing import Any

import numpy as np
import pytest

from stream_rank import OAPBagg, PRank, RecursiveMPRank, bounds
from stream_rank.batch import MPRank, RankRLS, SVRank


def test_by_hand() -> None:
    """With delta = 1/e and m = 200, `sqrt(2 ln(1 / delta) / m)` is a tenth; with 2/e, so is that of two sides."""
    m, one, two = 200, 1 / e, 2 / e
    cases = [
        # theorem 6: 2 * .01 + (200 * .01 + 3) / 10
        (bounds.loss_stable(m, 0.01, 3, one), 0.52),
        # theorem 8: 4 * .01 / .5 + (2 * 200 * .01 / .5 + 3) / 10
        (bounds.score_stable(m, 0.01, 0.5, 3, one), 0.08 + 1.1),
        # corollary 12: 32 * 2 * .25 / (4 * 200) + (16 * 2 * .25 / 4 + 3) / 10
        (bounds.regularized(m, 4, 0.5, 2, 3, one), 0.02 + 0.5),
        # corollary 15: 32 * 4 * .25 / (4 * 200) + (16 * 4 * .25 / 4 + 3) / 10
        (bounds.regularized_by_its_loss(m, 4, 0.5, 2, 3, one), 0.04 + 0.7),
        # hinge: 32 * .25 / (4 * 200) + (16 * .25 / 4 + 3) / 10
        (bounds.hinge(m, 4, 0.5, 3, one), 0.01 + 0.4),
        # squares: 64 * .25 * 3 / (4 * 200) * 1.5 + (32 * .25 * 3 / 4 * 1.5 + 3) / 10
        (bounds.least_squares(m, 4, 0.5, 3, one), 0.09 + 1.2),
        # theorem 18: 4 * 9 + 1 / 200 + 32 * 4 * .25 / (4 * 200) + (16 * 4 * .25 / 4 + 2 * 5) / 10
        (bounds.consistency(m, 4, 0.5, 2, 5, 3, two), 36 + 0.005 + 0.04 + 1.4),
        # theorem 19: 2 * .01 + sqrt((4 * 101 * 1e-4 + 8 * 5 * .01 + 2 * 25 / 100 + 25 / 101) / 2)
        (bounds.pairwise_truth(101, 0.01, 5, 2, two), 0.02 + sqrt((0.9404 + 25 / 101) / 2)),
        # MP, n = 1: 8 * .25 * 6 / 200 + 2 * (2 * .25 * 6 + 3) / 10
        (bounds.magnitude_preserving(m, 6, 0.5, 3, 1, two), 0.06 + 1.2),
        # MP, n = 2: 128 * .25 * 6 * 9 / 200 + 4 * 9 * (16 * .25 * 6 + 1) / 10
        (bounds.magnitude_preserving(m, 6, 0.5, 3, 2, two), 8.64 + 90),
    ]
    for number, (bound, gap) in enumerate(cases):
        assert bound.gap == pytest.approx(gap, rel=1e-12), number
        assert bound.vacuous == (gap >= bound.most), number
    assert bounds.prank_mistakes(4, 3.0, 0.5) == 3 * 10 / 0.25
    # b = 2 * sqrt(3 * 10): (b / 2 + sqrt(b**2 / 4 + 6))**2 = (sqrt(30) + 6)**2
    assert bounds.prank_rank_loss(4, 3.0, 2.0, 6.0) == pytest.approx((sqrt(30) + 6) ** 2)
    assert bounds.oap_rank_loss(4, 3.0, 2.0, 12.0, 0.5) == pytest.approx(2 * (sqrt(30) + 6) ** 2)


def test_vacuous_until_there_are_enough_events() -> None:
    gaps = [bounds.hinge(m, 0.1, 1.0, 1.0, 0.05) for m in (10, 10**4, 10**6)]
    assert [bound.vacuous for bound in gaps] == [True, True, False]
    assert str(gaps[0]).startswith("vacuous: a gap of")
    assert gaps[0].gap > gaps[1].gap > gaps[2].gap


PLACES = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
LABELS = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
"""Two labels to each place, each with probability 1/2: all expectations are sums of a hundred terms."""


def losses(scores: Any, y: Any) -> tuple[Any, Any, Any]:
    """The means over all ordered pairs: the ranking error, the 1-loss and the squared loss."""
    lead, wanted = scores[..., :, None] - scores[..., None, :], y[..., :, None] - y[..., None, :]
    size, agreed = np.abs(wanted), lead * np.sign(wanted)
    error = size * ((agreed < 0) + 0.5 * (agreed == 0))
    kinds = error, np.clip(size - agreed, 0, size), (lead - wanted) ** 2
    first, second, third = (kind.mean(axis=(-2, -1)) for kind in kinds)
    return first, second, third


def test_bounds_hold_on_a_thousand_draws() -> None:
    """With bounds that are not vacuous; of half a percent of the second it would not be true."""
    generator = np.random.default_rng(0)
    m, deltas, limits = 60, (0.5, 0.05), {"span": 1.0, "kappa": 1.0}
    place, coin = generator.integers(0, 5, (1000, m)), generator.integers(0, 2, (1000, m))
    X, y = PLACES[place], LABELS[place, coin]
    centred = X - X.mean(axis=1, keepdims=True)
    products, squares = (centred * y).sum(axis=1), (centred**2).sum(axis=1)
    every, labels = np.repeat(PLACES, 2), LABELS.ravel()
    for model in (RankRLS(2000.0 * m * (m - 1) / 2), MPRank(2e-4)):
        model.fit(X[0][:, None], y[0])
        ridge = model.regularization / m if isinstance(model, RankRLS) else m / (2 * model.C)
        weights = products / (squares + ridge)
        assert model.coef_[0] == pytest.approx(weights[0])  # and so of the other draws
        there = losses(weights[:, None] * every, np.broadcast_to(labels, (1000, 10)))
        here = losses(weights[:, None] * X, y)
        for delta in deltas:
            bound = model.bound(delta, **limits)
            assert not bound.vacuous
            if isinstance(model, RankRLS):  # over pairs of different events
                off = there[0] - here[1] * m / (m - 1)
            else:
                off = np.abs(there[2] - here[2])
                assert np.mean(off > 0.005 * bound.gap) > 0.3
            assert np.mean(off >= bound.gap) <= delta


def test_models_report_theirs() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(50, 3))
    y = X[:, 0] + 5
    kappa, span = np.sqrt((X**2).sum(axis=1).max()), np.ptp(y)
    assert RankRLS(49.0).fit(X, y).bound(0.1) == bounds.least_squares(50, 0.04, kappa, span, 0.1)
    distance = span / 2 + kappa * np.sqrt(3.0 / 2) * span
    expected = bounds.magnitude_preserving(50, 3.0, kappa, distance, 2, 0.1)
    assert MPRank(3.0).fit(X, y).bound(0.1).gap == pytest.approx(expected.gap)
    distance = span / 2 + kappa * np.sqrt(3.0 * span / 2)
    expected = bounds.magnitude_preserving(50, 3.0, kappa, distance, 1, 0.1)
    assert SVRank(3.0).fit(X, y).bound(0.1).gap == pytest.approx(expected.gap)
    # no score is farther from its label than the bound takes for granted
    for model in (MPRank(300.0).fit(X, y), SVRank(300.0).fit(X, y)):
        off = np.abs(model.predict(X) - model.intercept_ - (y - (y.max() + y.min()) / 2))
        root = span**2 if isinstance(model, MPRank) else span
        assert off.max() <= span / 2 + kappa * np.sqrt(300.0 * root / 2)
    for model in (MPRank(), SVRank(), RankRLS()):
        with pytest.raises(ValueError, match="a bound is known"):
            model.fit(X, y, np.arange(50) // 10).bound()
    with pytest.raises(ValueError, match="delta must be a number"):
        MPRank().fit(X, y).bound(0.0)
    with pytest.raises(ValueError, match="without a basis"):
        RankRLS(basis=5).fit(X, y).bound()


def hinge_of(X: Any, y: Any, weights: Any, thresholds: Any) -> float:
    """The loss of a fixed rule: how far each threshold is from a margin of 1."""
    signs = np.where(y[:, None] <= np.arange(1, len(thresholds) + 1), -1.0, 1.0)
    return float(np.maximum(0, 1 - signs * ((X @ weights)[:, None] - thresholds)).sum())


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_perceptrons_lose_no_more_than_is_said(noise: float) -> None:
    generator = np.random.default_rng(1)
    X = generator.normal(size=(1500, 2))
    X = X[np.abs(X[:, 0] * 2 % 1 - 0.5) < 0.35]  # away from the thresholds
    scores = 2 * X[:, 0] + generator.normal(0, noise, len(X))
    y = 1 + (scores > -1).astype(int) + (scores > 1)
    X, y = X[np.abs(X[:, 0]) < 2], y[np.abs(X[:, 0]) < 2]
    X, y = X[:1000], y[:1000]
    weights, thresholds = np.array([2.0, 0.0]) / 0.15, np.array([-1.0, 1.0]) / 0.15
    radius = float(np.sqrt((X**2).sum(axis=1).max()))
    norm = float(np.sqrt(weights @ weights + thresholds @ thresholds))
    hinge = hinge_of(X, y, weights, thresholds)
    if noise == 0:
        assert hinge == 0
        margin = 1 / norm
        model = PRank(n_ranks=3)
        mistakes = int((model.test_then_train(X, y) != y).sum())
        assert 0 < mistakes <= bounds.prank_mistakes(3, radius, margin)
    model = PRank(n_ranks=3)
    loss = float(np.abs(model.test_then_train(X, y) - y).sum())
    assert loss <= bounds.prank_rank_loss(3, radius, norm, hinge)
    bagged = OAPBagg(n_ranks=3, n_members=20, sampling=0.3, seed=1)
    total = 0.0
    for x, rank in zip(X.tolist(), y.tolist(), strict=True):
        event = dict(enumerate(x))
        total += abs(bagged.vote_one(event) - rank)
        bagged.learn_one(event, rank)
    assert total <= bounds.oap_rank_loss(3, radius, norm, hinge, 0.3)
    assert total > 0


def test_learners_of_streams_have_the_bound_of_the_batch_method() -> None:
    generator = np.random.default_rng(0)
    X, y = generator.random((200, 3)), generator.random(200)
    batch = MPRank(0.02).fit(X, y).bound(span=1.0, kappa=2.0)
    for model in (RecursiveMPRank(C=0.02), RecursiveMPRank(regularization=200 / 0.04)):
        with pytest.raises(ValueError, match="ratings of one group"):
            model.bound(1.0, 2.0)
        model.learn_many(X, y)
        assert model.bound(1.0, 2.0) == pytest.approx(batch)
        model.learn_pair({"a": 1.0}, {"a": 0.0})
        with pytest.raises(ValueError, match="without preferences"):
            model.bound(1.0, 2.0)
    groups = RecursiveMPRank()
    groups.learn_many(X, y, np.arange(200) % 2)
    fading = RecursiveMPRank(forgetting=0.9)
    fading.learn_many(X, y)
    for model in (groups, fading):
        with pytest.raises(ValueError, match="ratings of one group"):
            model.bound(1.0, 2.0)
