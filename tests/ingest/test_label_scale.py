"""Labels that are not the ranks 1 to N."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_rank.config.labels import labels_in
from stream_rank.errors import LabelError
from stream_rank.ingest.label_scale import LabelScale

NUMBERS = st.lists(st.integers(-1000, 1000), min_size=2, max_size=30, unique=True)


@given(NUMBERS, st.integers(1, 100))
def test_every_label_has_its_rank_also_as_float32(numbers: list[int], parts: int) -> None:
    scale = LabelScale(tuple(number / parts for number in numbers))
    ranks = np.arange(1.0, len(numbers) + 1)
    labels = np.array(scale.labels)
    assert scale.ranks_of(labels).tolist() == ranks.tolist()
    assert scale.ranks_of(labels.astype(np.float32).astype(float)).tolist() == ranks.tolist()
    assert [scale.rank_of(label) for label in scale.labels] == ranks.tolist()
    assert [scale.label_of(rank) for rank in ranks] == list(scale.labels)


@given(NUMBERS, st.floats(allow_nan=False))
def test_what_is_no_label_has_no_rank(numbers: list[int], other: float) -> None:
    scale = LabelScale(tuple(map(float, numbers)))
    nearest = min(abs(other - number) for number in numbers)
    gap = min(np.diff(sorted(numbers)))
    rank = scale.ranks_of(np.array([other, np.nan]))
    assert np.isnan(rank[1])
    if nearest > 1e-3 * gap:
        assert rank[0] == 0
        with pytest.raises(LabelError, match="is not one of"):
            scale.rank_of(other)
    else:
        assert numbers[int(rank[0]) - 1] == pytest.approx(other, abs=2e-3 * gap)


@pytest.mark.parametrize("label", [True, None, "1", [1], {"a": 1}])
def test_what_is_no_number_is_no_label_of_numbers(label: object) -> None:
    with pytest.raises(LabelError):
        LabelScale((1.0, 2.0)).rank_of(label)


def test_texts_are_labels_as_they_are() -> None:
    scale = LabelScale(("bad", "good"))
    assert scale.rank_of("good") == 2
    for other in ("Good", "", 1, None):
        with pytest.raises(LabelError):
            scale.rank_of(other)
    assert scale.ranks_of(np.array([1.0, np.nan])).tolist()[0] == 0


@pytest.mark.parametrize(
    ("given_", "found"),
    [
        ("1,2,...,5", [1.0, 2.0, 3.0, 4.0, 5.0]),
        ("0,0.1,...,0.5", [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        ("5,4,...,1", [5.0, 4.0, 3.0, 2.0, 1.0]),
        (["low", "high"], ["low", "high"]),
        ([0, 1], [0.0, 1.0]),
        ("1e1,2e1", [10.0, 20.0]),
    ],
)
def test_labels_are_read(given_: object, found: list[object]) -> None:
    assert labels_in(given_) == found


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ("a", "2 to 10,000"),
        ("a,a", "twice"),
        ("1,1.0", "twice"),
        ("a,1", "all numbers"),
        ("a,", "empty"),
        ("1,...,5", "two numbers"),
        ("1,2,...", "two numbers"),
        ("1,2,...,4.5", "not reached"),
        ("1,1,...,4", "not reached"),
        ("2,1,...,4", "not reached"),
        ("0,1,...,1000000", "not reached"),
        ("nan,inf", None),
    ],
)
def test_what_are_no_labels_is_said(given_: str, words: str | None) -> None:
    if words is None:  # they are texts: no number is so called
        assert labels_in(given_) == given_.split(",")
        return
    with pytest.raises(ValueError, match=words):
        labels_in(given_)


def test_what_is_no_label_is_told_from_those_that_are() -> None:
    for label, shown in ((True, "True"), (1.0000001, "1.0000001")):
        assert f"label {shown} is not one of 0, 1" in str(LabelScale((0.0, 1.0)).unknown(label))
    assert "label 20240103 is not one of 20240101, 20240102" in str(
        LabelScale((20240101.0, 20240102.0)).unknown(20240103.0)
    )


@pytest.mark.parametrize("given_", [[True, False], ["yes", False], [[1], [2]]])
def test_labels_in_a_file_of_settings_are_numbers_or_texts(given_: object) -> None:
    with pytest.raises(ValueError, match="numbers or texts"):
        labels_in(given_)


@pytest.mark.parametrize("rank", [float("nan"), 0.0, -1.0, 3.0, float("inf")])
def test_what_is_no_rank_has_no_label(rank: float) -> None:
    """Classifiers of others may predict anything before they have learned."""
    assert LabelScale(("bad", "good")).label_of(rank) is None
