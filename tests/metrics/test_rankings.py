"""Distances between rankings, against their definitions over all pairs."""

from itertools import combinations
from math import log2
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_rank import discounted_error, kendall_distance, position_error, spearman_footrule


@given(st.permutations(range(9)), st.permutations(range(9)))
def test_definitions(true: list[int], predicted: list[int]) -> None:
    place, guess = ({item: r.index(item) + 1 for item in r} for r in (true, predicted))
    inverted = sum(
        (place[a] - place[b]) * (guess[a] - guess[b]) < 0 for a, b in combinations(true, 2)
    )
    assert kendall_distance(true, predicted) == inverted
    off = {item: abs(place[item] - guess[item]) for item in true}
    assert spearman_footrule(true, predicted) == sum(off.values())
    assert position_error(true, predicted) == guess[true[0]] - 1
    discounted = sum(steps / log2(place[item] + 1) for item, steps in off.items())
    assert discounted_error(true, predicted) == pytest.approx(discounted)
    assert inverted <= spearman_footrule(true, predicted) <= 2 * inverted  # Diaconis and Graham


def test_the_lectures_worked_example() -> None:
    """E, B, C, A, D was predicted with four pairs inverted: (A, B), (A, E), (A, C) and (B, E)."""
    true, predicted = list("EBCAD"), list("ABECD")
    place, guess = ({item: r.index(item) for item in r} for r in (true, predicted))
    inverted = {
        "".join(sorted(pair))
        for pair in combinations(true, 2)
        if (place[pair[0]] - place[pair[1]]) * (guess[pair[0]] - guess[pair[1]]) < 0
    }
    assert inverted == {"AB", "AE", "AC", "BE"}
    assert kendall_distance(true, predicted) == 4


def test_extremes() -> None:
    items = list(range(1000))
    assert kendall_distance(items, items) == 0
    assert kendall_distance(items, items[::-1]) == 1000 * 999 // 2
    assert spearman_footrule(items, items[::-1]) == 1000**2 // 2
    assert position_error(items, items[::-1]) == 999
    assert kendall_distance([], []) == spearman_footrule([], []) == 0


@pytest.mark.parametrize(
    "distance", [kendall_distance, spearman_footrule, position_error, discounted_error]
)
def test_rankings_of_different_items(distance: Any) -> None:
    for true, predicted in (("abc", "abd"), ("abc", "ab"), ("abc", "aab"), ("aab", "abc")):
        with pytest.raises(ValueError, match=r"such as 'd'|same items once|every item once"):
            distance(true, predicted)
    if distance is position_error:
        with pytest.raises(ValueError, match="without items"):
            distance([], [])
