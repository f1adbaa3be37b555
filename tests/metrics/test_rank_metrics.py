"""The metrics of ranks against their definitions, and under windows that take back what they counted."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import utils
from sklearn.metrics import cohen_kappa_score

from stream_rank import RankErrorRate, RankLoss, WeightedKappa

pairs = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=60)


class Quadratic(WeightedKappa):
    """River's windows want a class."""

    def __init__(self, **more: Any) -> None:
        super().__init__("quadratic", **more)


MAKERS: dict[str, Any] = {
    "RankLoss": RankLoss,
    "RankErrorRate": RankErrorRate,
    "linear": WeightedKappa,
    "quadratic": Quadratic,
}


def value(name: str, seen: list[tuple[int, int]]) -> float:
    """What a metric should be, by its definition."""
    true, predicted = np.array(seen).T
    if name == "RankLoss":
        return float(np.abs(true - predicted).mean())
    if name == "RankErrorRate":
        return float((true != predicted).mean())
    if len({*true, *predicted}) == 1:
        return 0.0
    labels = range(1, 7)
    return float(cohen_kappa_score(true, predicted, weights=name, labels=labels))


@pytest.mark.parametrize("name", MAKERS)
@given(seen=pairs)
def test_definition(name: str, seen: list[tuple[int, int]]) -> None:
    metric = MAKERS[name]()
    for true, predicted in seen:
        metric.update(true, predicted)
    assert metric.get() == pytest.approx(value(name, seen))


@pytest.mark.parametrize("name", MAKERS)
@given(seen=pairs, window=st.integers(1, 20))
def test_windows(name: str, seen: list[tuple[int, int]], window: int) -> None:
    rolling: Any = utils.Rolling(MAKERS[name], window_size=window)
    for end, (true, predicted) in enumerate(seen, start=1):
        rolling.update(true, predicted)
        assert rolling.get() == pytest.approx(value(name, seen[max(0, end - window) : end]))


@pytest.mark.parametrize("name", MAKERS)
def test_labels_with_names(name: str) -> None:
    named, numbered = MAKERS[name](labels=["bad", "fair", "good"]), MAKERS[name]()
    for true, predicted in [("bad", "good"), ("fair", "fair"), ("good", "fair"), ("good", "good")]:
        named.update(true, predicted)
        numbered.update(*(["bad", "fair", "good"].index(y) for y in (true, predicted)))
    assert named.get() == numbered.get()
    with pytest.raises(ValueError, match="'worse' is not among"):
        named.update("bad", "worse")
    with pytest.raises(ValueError, match=r"label 'bad' is not a number; give labels="):
        numbered.update("bad", "fair")


@pytest.mark.parametrize("name", MAKERS)
def test_no_prediction_does_not_count(name: str) -> None:
    metric = MAKERS[name]()
    metric.update(3, None)
    assert metric.get() == 0.0
    metric.update(1, 2)
    metric.update(2, 2)
    before = metric.get()
    metric.update(3, None)
    metric.revert(3, None)
    assert metric.get() == before


def test_weights_of_events() -> None:
    loss = RankLoss()
    loss.update(1, 3, w=3.0)
    loss.update(1, 1, w=1.0)
    assert loss.get() == 1.5


def test_scores_count_as_they_are_or_as_their_nearest_rank() -> None:
    loss, rate = RankLoss(), RankErrorRate()
    for metric in (loss, rate):
        metric.update(2, 2.4)
        metric.update(2, 2.5)
    assert loss.get() == pytest.approx(0.45)
    assert rate.get() == 0.5


def test_which_way_is_better() -> None:
    assert not RankLoss().bigger_is_better
    assert not RankErrorRate().bigger_is_better
    assert WeightedKappa().bigger_is_better
    good, bad = RankLoss(), RankLoss()
    good.update(1, 1)
    bad.update(1, 2)
    assert good.is_better_than(bad)


def test_a_window_of_steps_stays_exact() -> None:
    """A mean that is updated and downdated drifts; a sum of whole steps does not."""
    rolling: Any = utils.Rolling(RankLoss, window_size=7)
    generator = np.random.default_rng(0)
    recent: list[int] = []
    for _ in range(20_000):
        true, predicted = generator.integers(1, 1000, 2).tolist()
        rolling.update(true, predicted)
        recent = [*recent, abs(true - predicted)][-7:]
    assert rolling.get() == sum(recent) / 7
