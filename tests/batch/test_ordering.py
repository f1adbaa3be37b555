"""Greedy orders against all orders there are."""

from itertools import permutations

import numpy as np
import pytest

from stream_rank.batch import greedy_order, preferences_of


def test_the_lectures_example() -> None:
    eighths = {("a", "c"): 2, ("a", "d"): 1, ("c", "d"): 1, ("b", "a"): 8, ("b", "c"): 8}
    eighths |= {("b", "d"): 8, ("c", "a"): 6, ("d", "a"): 7, ("d", "c"): 7}
    table = preferences_of("abcd", lambda first, second: eighths.get((first, second), 0) / 8)
    found = greedy_order(table, "abcd")
    assert found.order == ["b", "d", "c", "a"]
    assert found.net == [-18 / 8, 3, -10 / 8, 4 / 8]
    for nets, left in (([-10 / 8, -2 / 8, 12 / 8], "acd"), ([-2 / 4, 2 / 4], "ac"), ([0], "a")):
        rows = ["abcd".index(item) for item in left]
        assert greedy_order(table[np.ix_(rows, rows)]).net == nets


def test_half_of_the_best_is_guaranteed() -> None:
    generator = np.random.default_rng(0)
    worst = 1.0
    for trial in range(40):
        # every third says nothing of most pairs, and is full of cycles
        table = generator.random((5, 5)) if trial % 3 else (generator.random((5, 5)) > 0.7) * 1.0
        np.fill_diagonal(table, 0)
        found = greedy_order(table)
        agreements = {
            order: sum(table[a, b] for i, a in enumerate(order) for b in order[i + 1 :])
            for order in permutations(range(5))
        }
        best = max(agreements.values())
        np.testing.assert_allclose(found.agreement, agreements[tuple(found.order)])
        assert best / 2 <= found.agreement <= best + 1e-12 <= found.possible + 2e-12
        assert found.agreement >= table.sum() / 2
        worst = min(worst, found.agreement / best)
    assert worst < 1  # greedy is not exact, or nothing was tried


def test_scores_are_followed_and_ties_keep_their_order() -> None:
    scores = [0.3, 0.9, 0.1, 0.9]
    found = greedy_order(preferences_of(scores, lambda a, b: 0.5 + (a - b) / 2))
    assert found.order == [1, 3, 0, 2]
    assert found.guaranteed == pytest.approx(1)
    assert greedy_order(np.empty((0, 0))).order == []


def test_refusals() -> None:
    for table, said in (
        ([[0.0, 1.0]], "must be a square table"),
        ([[0.0, -1.0], [1.0, 0.0]], "at least 0"),
        ([[0.0, np.nan], [1.0, 0.0]], "at least 0"),
    ):
        with pytest.raises(ValueError, match=said):
            greedy_order(table)
    with pytest.raises(ValueError, match="a name for each of 2 items, not 3"):
        greedy_order([[0, 1], [0, 0]], "abc")
