"""The metrics of pairs against double loops, in windows, by group, with weights, and under numbers that hurt."""

import pickle
from collections import deque
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import evaluate, utils

from stream_rank import (
    M1D,
    MSD,
    Concordance,
    DisagreementError,
    DiscreteRankingLoss,
    Misranking,
    PRank,
    RankLoss,
    RecursiveMPRank,
)
from stream_rank.datasets.oap_stream import OAPStream

pytestmark = pytest.mark.long(12)

METRICS: list[Any] = [MSD, M1D, Misranking, DiscreteRankingLoss, DisagreementError, Concordance]

Seen = list[tuple[float, float, float, Any]]
"""Labels, predictions, weights and groups."""


def sums(metric: Any, seen: Seen) -> tuple[float, float]:
    """What is summed, and what it is divided by: every ordered pair, one after the other."""
    above = below = 0.0
    for i, (y, f, w, group) in enumerate(seen):
        for j, (other_y, other_f, other_w, other_group) in enumerate(seen):
            if group != other_group:
                continue
            dy, df, weight = y - other_y, f - other_f, w * other_w
            if metric is MSD:
                above, below = above + weight * (df - dy) ** 2, below + weight
            elif metric is M1D:
                above, below = above + weight * abs(df - dy), below + weight
            elif metric is DiscreteRankingLoss:
                if i != j:
                    wrong = 1.0 if dy * df < 0 else 0.5 if df == 0 else 0.0
                    above, below = above + weight * abs(dy) * wrong, below + weight
            elif dy > 0:
                tie = {Misranking: 1.0, DisagreementError: 0.5, Concordance: 0.5}[metric]
                misordered = 0.0 if metric is Concordance else 1.0
                part = tie if df == 0 else misordered if df < 0 else 1.0 - misordered
                above, below = above + weight * part, below + weight
    return above, below


def naive(metric: Any, seen: Seen) -> float:
    above, below = sums(metric, seen)
    return above / below if below else (0.5 if metric is Concordance else 0.0)


grades = st.integers(0, 5).map(float)
reals = st.floats(-100, 100, allow_subnormal=False)
groups = st.sampled_from([None, "a", "b"])
events = st.one_of(
    st.lists(st.tuples(grades, grades, st.just(1.0), st.none()), max_size=120),
    st.lists(st.tuples(grades, reals, st.sampled_from([1.0, 0.5, 3.0]), groups), max_size=60),
    st.lists(st.tuples(reals, reals, st.just(1.0), groups), max_size=60),
)


@pytest.mark.parametrize("metric", METRICS)
@given(seen=events)
def test_definition(metric: Any, seen: Seen) -> None:
    measured = metric()
    for y, f, w, group in seen:
        measured.update(y, f, w, group=group)
    assert measured.get() == pytest.approx(naive(metric, seen), rel=1e-9, abs=1e-9)
    apart = {name: naive(metric, [e for e in seen if e[3] == name]) for *_, name in seen}
    assert measured.by_group() == pytest.approx(apart, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("metric", METRICS)
@given(seen=events, window=st.integers(1, 50))
def test_windows(metric: Any, seen: Seen, window: int) -> None:
    rolling: Any = utils.Rolling(metric, window_size=window)
    for end, (y, f, w, group) in enumerate(seen, start=1):
        rolling.update(y, f, w, group=group)
        if end % 7 == 0 or end == len(seen):
            inside = seen[max(0, end - window) : end]
            assert rolling.get() == pytest.approx(naive(metric, inside), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("metric", METRICS)
def test_long_windows(metric: Any) -> None:
    """Several merges of runs, points that come back, and an odd number of events."""
    generator = np.random.default_rng(0)
    rolling: Any = utils.Rolling(metric, window_size=400)
    kept: deque[Any] = deque(maxlen=400)
    for i in range(3000):
        y = float(generator.integers(1, 6)) if i % 1000 < 500 else generator.normal()
        f = round(generator.normal() + y, int(generator.integers(0, 3)))
        rolling.update(y, f)
        kept.append((y, f, 1.0, None))
        if i % 700 == 699 or i == 2999:
            assert rolling.get() == pytest.approx(naive(metric, [*kept]), rel=1e-9)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("far", [1e6, 1e15, 1e70])
@pytest.mark.parametrize("window", [30, 100])
def test_an_event_far_off_is_forgotten(metric: Any, far: float, window: int) -> None:
    """As soon as it is gone, also where it was of a size that leaves no other digit."""
    generator = np.random.default_rng(1)
    seen = [(float(y), float(f), 1.0, None) for y, f in generator.normal(size=(500, 2))]
    rolling: Any = utils.Rolling(metric, window_size=window)
    rolling.update(far, -far)
    for number, (y, f, *_) in enumerate(seen, start=1):
        rolling.update(y, f)
        if number in (window, window + 1, 2 * window + 2, 500):
            inside = seen[number - window : number]
            assert rolling.get() == pytest.approx(naive(metric, inside), rel=1e-9)


@pytest.mark.parametrize("metric", METRICS)
def test_all_may_be_taken_back(metric: Any) -> None:
    generator = np.random.default_rng(1)
    measured, moved = metric(), metric()
    for round_ in range(3):
        seen = (generator.normal(size=(90, 2)) * 10**round_).tolist()
        for y, f in seen:
            measured.update(y, f)
            moved.update(y, f + 1e6)
        assert moved.get() == pytest.approx(measured.get(), rel=1e-6)
        for y, f in seen:
            measured.revert(y, f)
            moved.revert(y, f + 1e6)
        assert measured.get() == metric().get()
        assert measured.by_group() == {}


def test_a_residual_common_to_all_costs_no_digits() -> None:
    """Twice the variance, where the mean is a billion times the spread."""
    generator = np.random.default_rng(2)
    residuals = np.round(generator.normal(size=1000) * 2**20) / 2**20
    metric = MSD()
    for residual in residuals.tolist():
        metric.update(residual, -1e9)
    assert metric.get() == pytest.approx(2 * residuals.var(), rel=1e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_what_cannot_be_compared_changes_nothing(metric: Any) -> None:
    measured = metric()
    measured.update(1.0, None)
    assert measured.get() == metric().get()
    for y, f in ((1.0, 2.0), (3.0, 1.0), (2.0, 2.5)):
        measured.update(y, f)
    before = pickle.dumps(measured)
    nan, inf = float("nan"), float("inf")
    wrong: Any
    for wrong in (
        (10**400, 1.0),
        (bytearray(b"1"), 1.0),
        (nan, 1.0),
        (1.0, inf),
        (1.0, nan),
        (1e80, 1.0),
        (1.0, np.complex64(1j)),
        ("3", 1.0),
        (None, 1.0),
    ):
        with pytest.raises(ValueError, match="must be a finite number of at most 1e"):
            measured.update(*wrong)
    for wrong in (nan, inf, "heavy", None):
        with pytest.raises(ValueError, match=r"weight .* must be a finite number"):
            measured.update(1.0, 1.0, wrong, group="new")
    with pytest.raises(ValueError, match=r"neither 0 nor at least"):
        measured.update(1.0, 1.0, 1e-31)
    with pytest.raises(ValueError, match=r"weight -1.0 is below 0"):
        measured.update(1.0, 1.0, -1.0)
    for wrong in (nan, [1]):
        with pytest.raises(ValueError, match="must be hashable and equal to itself"):
            measured.update(1.0, 1.0, group=wrong)
    with pytest.raises(ValueError, match="no event of group 'other' to take back"):
        measured.revert(1.0, 2.0, group="other")
    assert pickle.dumps(measured) == before


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("weights", [[1.0, 2.0, 3.0], [0.0, 1.0], [0.1, 0.7]], ids=str)
def test_ties_of_different_weight_in_long_windows(metric: Any, weights: list[float]) -> None:
    """Events that come and go at one point are told apart by their weight."""
    generator = np.random.default_rng(0)
    rolling: Any = utils.Rolling(metric, window_size=300)
    kept: deque[Any] = deque(maxlen=300)
    for i in range(2000):
        y, f = map(float, generator.integers(1, 6, 2))
        w = float(generator.choice(weights))
        rolling.update(y, f, w)
        kept.append((y, f, w, None))
        if i % 311 == 310:
            assert rolling.get() == pytest.approx(naive(metric, [*kept]), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_few_events_of_any_weight(metric: Any) -> None:
    """Where there is no pair left to count, rounding must not make one."""
    generator = np.random.default_rng(1)
    rolling: Any = utils.Rolling(metric, window_size=5)
    kept: deque[Any] = deque(maxlen=5)
    for _ in range(3000):
        y, f, w = float(generator.random() < 0.1), generator.normal(), generator.random()
        rolling.update(y, f, w)
        kept.append((y, f, w, None))
        assert rolling.get() == pytest.approx(naive(metric, [*kept]), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("metric", METRICS)
def test_the_largest_numbers_that_are_let_in(metric: Any) -> None:
    measured = metric()
    for y, f in ((1e75, -1e75), (-1e75, 1e75), (0.0, 1.0), (1e75, 1e75)) * 3:
        measured.update(y, f, 1e30)
    assert np.isfinite(measured.get())
    assert measured.get() > 0


@pytest.mark.parametrize("weight", [1e-9, 1e-15, 1e-29])
def test_pairs_of_very_unequal_weight(weight: float) -> None:
    metric = DiscreteRankingLoss()
    metric.update(1.0, 2.0, 1.0)
    metric.update(2.0, 1.0, weight)
    assert metric.get() == pytest.approx(1.0)


@pytest.mark.parametrize("metric", METRICS)
def test_labels_that_weigh_nothing(metric: Any) -> None:
    """Two labels, of which one has no weight, make no pair."""
    generator = np.random.default_rng(4)
    rolling: Any = utils.Rolling(metric, window_size=20)
    kept: deque[Any] = deque(maxlen=20)
    for _ in range(2000):
        y = float(generator.random() < 0.1)
        f, w = generator.normal(), generator.random() * (y == 0 or generator.random() < 0.2)
        rolling.update(y, f, w)
        kept.append((y, f, w, None))
        assert rolling.get() == pytest.approx(naive(metric, [*kept]), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("heavy", [1e6, 1e15])
def test_an_event_that_outweighed_all_is_forgotten(metric: Any, heavy: float) -> None:
    generator = np.random.default_rng(5)
    rolling: Any = utils.Rolling(metric, window_size=40)
    kept: deque[Any] = deque(maxlen=40)
    for number in range(400):
        y, f = float(generator.integers(1, 4)), generator.normal()
        w = heavy if number in (3, 200) else generator.random() + 0.1
        rolling.update(y, f, w)
        kept.append((y, f, w, None))
        if number in (43, 60, 84, 199, 240, 281, 399):
            assert rolling.get() == pytest.approx(naive(metric, [*kept]), rel=1e-6)


@pytest.mark.parametrize("weight", [1.0, 0.3, 3.0])
def test_msd_keeps_all_digits(weight: float) -> None:
    residuals = np.random.default_rng(2).normal(size=50)
    plain, moved = MSD(), MSD()
    for residual in (np.round(residuals * 2**20) / 2**20).tolist():
        plain.update(residual, 0.0, weight)
        moved.update(residual, -(2.0**30), weight)
    assert moved.get() == plain.get()


@pytest.mark.parametrize("metric", METRICS)
def test_metrics_are_pickled_in_the_middle(metric: Any) -> None:
    generator = np.random.default_rng(3)
    first, second = metric(), None
    for number, (y, f) in enumerate(generator.normal(size=(300, 2)).tolist()):
        if number == 150:
            second = pickle.loads(pickle.dumps(first))
        for measured in (first, second):
            if measured is not None:
                measured.update(y, f, group=number % 2)
    assert second is not None
    assert second.get() == first.get()


@pytest.mark.parametrize("metric", METRICS)
def test_inside_river(metric: Any) -> None:
    stream = OAPStream(seed=4, features="quadratic")
    for model in (PRank(n_ranks=5), RecursiveMPRank()):
        together = metric() + RankLoss()
        evaluate.progressive_val_score(stream.take(400), model, together)
        value, _ = together.get()
        assert value > (0.6 if metric is Concordance else 0.0)
        assert metric().works_with(model)
    assert metric().bigger_is_better == (metric is Concordance)
    assert repr(metric()).startswith(metric.__name__)
