"""The metrics of preferences against their definitions, and under windows that take back what they counted."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import utils

from stream_rank import PreferenceError, PreferenceLogLoss

outcomes = st.sampled_from([1, 0, -1])
leads = st.lists(st.tuples(outcomes, st.sampled_from([-2.0, -0.0, 0.5])), min_size=1, max_size=40)
proba = st.tuples(*[st.floats(0.01, 1.0)] * 3)
chances = st.lists(st.tuples(outcomes, proba), min_size=1, max_size=40)


def mistake(outcome: int, lead: float) -> float:
    """Slow and obvious."""
    if outcome == 0:
        return 0.0 if lead == 0 else 0.5
    return 0.5 if lead == 0 else float((lead > 0) != (outcome > 0))


@given(seen=leads, window=st.integers(1, 20))
def test_the_error_is_the_share_of_mistakes(seen: list[tuple[int, float]], window: int) -> None:
    whole: Any = PreferenceError()
    rolling: Any = utils.Rolling(PreferenceError, window_size=window)
    for outcome, lead in seen:
        whole.update(outcome, lead)
        rolling.update(outcome, lead)
    wrong = [mistake(*each) for each in seen]
    assert whole.get() == sum(wrong) / len(wrong)
    last = wrong[-window:]
    assert rolling.get() == pytest.approx(sum(last) / len(last))


@given(seen=chances, window=st.integers(1, 20))
def test_the_log_loss_is_of_the_outcome(seen: list[tuple[int, Any]], window: int) -> None:
    whole: Any = PreferenceLogLoss()
    rolling: Any = utils.Rolling(PreferenceLogLoss, window_size=window)
    losses = []
    for outcome, odds in seen:
        total = sum(odds)
        said = dict(zip((1, 0, -1), (each / total for each in odds), strict=True))
        whole.update(outcome, said)
        rolling.update(outcome, said)
        losses.append(-math.log(said[outcome]))
    assert whole.get() == pytest.approx(sum(losses) / len(losses))
    last = losses[-window:]
    assert rolling.get() == pytest.approx(sum(last) / len(last), abs=1e-9)


def test_what_was_thought_impossible_is_not_infinite() -> None:
    loss = PreferenceLogLoss()
    loss.update(0, {1: 0.5, -1: 0.5})
    assert loss.get() == pytest.approx(-math.log(1e-15))


@pytest.mark.parametrize("outcome", [2, 0.5, "1", None])
def test_an_outcome_is_one_of_three(outcome: Any) -> None:
    with pytest.raises(ValueError, match="1 if the first item was preferred"):
        PreferenceError().update(outcome, 1.0)
    with pytest.raises(ValueError, match="1 if the first item was preferred"):
        PreferenceLogLoss().update(outcome, {1: 1.0})
