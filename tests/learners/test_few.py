"""Single events that have few of the known features: as entries, in whatever order they are listed."""

from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd
import pytest

from stream_rank import PRank, VotedPRank, WidrowHoff
from stream_rank.engine.few import MOST
from stream_rank.errors import FeatureError
from tests.learners.conftest import Make
from tests.learners.test_many_is_one import state

N_FEATURES = 400


def _events(count: int, most: int, seed: int = 3) -> list[tuple[dict[int, float], int]]:
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        places = generator.permutation(N_FEATURES)[: generator.integers(1, most + 1)].tolist()
        values = generator.normal(size=len(places)).tolist()
        found.append((dict(zip(places, values, strict=True)), int(generator.integers(1, 6))))
    return found


def _known(model: Any) -> Any:
    model.learn_one(dict.fromkeys(range(N_FEATURES), 0.5), 3)
    return model


def _row(x: dict[Any, float]) -> pd.DataFrame:
    return pd.DataFrame([x])


def test_entries_in_any_order_are_rows_of_tables(learner: Make) -> None:
    one, many = _known(learner(5)), _known(learner(5))
    for x, label in _events(40, N_FEATURES // 8):
        assert one.predict_one(x) == many.predict_many(_row(x)).tolist()[0]
        one.learn_one(x, label)
        many.learn_many(_row(dict(sorted(x.items()))), [label])
    assert state(one) == state(many)


def test_names_that_are_new(learner: Make) -> None:
    one, many = _known(learner(5)), _known(learner(5))
    for number, (x, label) in enumerate(_events(12, 10)):
        more: dict[Any, float] = {f"b{number}": 2.0, **x, f"a{number}": -1.0}
        assert one.predict_one(more) == many.predict_many(_row(more)).tolist()[0]
        one.learn_one(more, label)
        many.learn_many(_row(more), [label])
    assert one.features == many.features
    assert state(one) == state(many)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", [PRank, VotedPRank, WidrowHoff])
def test_more_than_there_is_room_for(kind: Any, dtype: str) -> None:
    one, many = kind(5, dtype=dtype), kind(5, dtype=dtype)
    wide = dict.fromkeys(range(9 * MOST), 0.25)
    for model in (one, many):
        model.learn_one(wide, 2)
    for count in (MOST - 1, MOST, MOST + 1):
        x = {place: float(place % 7) for place in range(9 * MOST - 1, 9 * MOST - 1 - count, -1)}
        one.learn_one(x, 4)
        many.learn_many(_row(x), [4])
        assert one.predict_one(x) == many.predict_many(_row(x)).tolist()[0]
    assert state(one) == state(many)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e200, "much", None])
def test_what_is_no_number_is_refused(learner: Make, value: Any) -> None:
    model = _known(learner(5))
    before = state(model)
    refused: list[dict[Any, Any]] = [{7: 1.0, 3: value}, {3: value, "new": 1.0}]
    for x in refused:
        with pytest.raises(FeatureError):
            model.learn_one(x, 1)
        with pytest.raises(FeatureError):
            model.predict_one(x)
    assert state(model) == before


def test_a_copy_has_entries_of_its_own(learner: Make) -> None:
    model = _known(learner(5))
    copy = deepcopy(model)
    (x, _), (other, label) = _events(2, 20)
    expected = model.predict_one(x)
    copy.learn_one(other, label)
    assert model.predict_one(x) == expected
    assert state(model) != state(copy)
