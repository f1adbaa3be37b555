"""What users liked next, as runs count it: against popularity, however the stream is cut, and in a snapshot."""

from typing import Any

import numpy as np
import pytest

from stream_rank.evaluation.finding_board import FindingBoard
from tests.benchmarks.factors import learned, lines_of, loop_of

_COUNT = 20_000


def _tastes() -> list[bytes]:
    """Users of two kinds, who like every second item, and see all of them alike."""
    generator = np.random.default_rng(0)
    users, items = generator.integers(0, 60, _COUNT), generator.integers(0, 400, _COUNT)
    stars = np.where(users % 2 == items % 2, 5, generator.integers(1, 4, _COUNT))
    return lines_of(users, items, stars)


def _counted(lines: list[bytes], sizes: list[int]) -> Any:
    loop, at = loop_of(10_000), 0
    for size in sizes:
        learned(loop, lines[at : at + size])
        at += size
    return loop.scoreboard


def test_it_finds_more_than_popularity_however_the_stream_is_cut() -> None:
    lines = _tastes()
    board = _counted(lines, [_COUNT])
    cut = _counted(lines, [1, 99, 5_000, 3, 7_000, _COUNT])
    (one,), (other,) = board.boards.values(), cut.boards.values()
    found = one.summary()
    # one in 32 of the half that are likes
    assert 200 < found["recall_questions"] < 420
    assert found["popularity_recall_at_10"] < 0.2  # by chance it is a tenth
    assert found["recall_at_10"] > 1.3 * found["popularity_recall_at_10"]
    assert 0 < found["ndcg_at_10"] < found["recall_at_10"]
    assert other.summary() == found
    for name, array in one.finding.arrays().items():
        assert (other.finding.arrays()[name] == array).all()


def test_it_goes_on_from_a_snapshot() -> None:
    lines = _tastes()
    whole = _counted(lines, [_COUNT])
    loop = loop_of(10_000)
    learned(loop, lines[:9_000])
    state = loop.scoreboard.dump()
    again = loop_of(10_000).scoreboard
    again.load(state)
    loop.scoreboard = again
    learned(loop, lines[9_000:])
    one: Any
    other: Any
    (one,), (other,) = whole.boards.values(), again.boards.values()
    assert one.finding.summary() == other.finding.summary() != {}


def test_a_stream_without_users_leaves_nothing() -> None:
    loop = loop_of(10_000)
    learned(loop, [b'{"x":{"a":1,"b":2},"y":5}'] * 500)
    (board,) = loop.scoreboard.boards.values()
    assert not any(key.startswith("found") for key in board.arrays())
    assert not any("recall" in key for key in board.summary())


@pytest.mark.parametrize("name", ["found", "found_items", "found_pairs"])
def test_what_is_no_state(name: str) -> None:
    board = FindingBoard()
    sums, items, pairs, _ = board.watched(np.zeros(0, np.bool_))
    given = {"found": sums, "found_items": items, "found_pairs": pairs}
    board.restore({})  # a snapshot of before
    board.restore(given)
    with pytest.raises(ValueError, match="another size"):
        board.restore({**given, name: given[name][:-1]})
    with pytest.raises(ValueError, match="no counts"):
        board.restore({**given, "found": np.full(len(sums), 0.5)})
