"""Candidates go after so many events that were learned, however the stream is cut."""

from collections.abc import Sequence

import numpy as np
import pytest

from stream_rank.evaluation.board import Board
from stream_rank.pipeline.halving import FIRST_CUT, Halving
from tests.pipeline.conftest import feed, loop_of, mixed

SPECS = [f"widrow-hoff:learning_rate={rate}" for rate in (1e-6, 1e-4, 1e-2, 1e-1, 0.5)]


@pytest.mark.parametrize("sizes", [[7], [1_999, 1, 5_000]])
def test_cuts_are_where_they_are(sizes: list[int]) -> None:
    loop = loop_of([*SPECS, "prank"], delay=30)
    learned_at: list[tuple[int, int]] = []

    def leave(names: Sequence[str]) -> None:
        learned_at.append((loop.progress.counts.learned, len(names)))
        before = [each.name for each in loop.contestants]
        left = [each for each in loop.contestants if each.name not in names]
        loop.join(left)
        loop.scoreboard.leave(names)
        loop.stages[0].seat(before, [each.name for each in left])  # type: ignore[attr-defined]

    halving = Halving(
        {"a search": SPECS},
        lambda: loop.scoreboard.boards,
        leave,
        lambda: loop.progress.counts.learned,
    )
    loop.stages = [*loop.stages, halving]
    feed(loop, mixed(11_000), sizes)
    assert learned_at == [(FIRST_CUT, 2), (2 * FIRST_CUT, 1), (4 * FIRST_CUT, 1)]
    (told,) = halving.told()
    assert [each["after"] for each in told["dropped"]] == [2000, 2000, 4000, 8000]
    assert (told["left"], told["search"]) == (["widrow-hoff:learning_rate=0.1"], "a search")
    assert list(loop.scoreboard.boards) == ["widrow-hoff:learning_rate=0.1", "prank"]
    alone = loop_of(["widrow-hoff:learning_rate=0.1", "prank"], delay=30)
    feed(alone, mixed(11_000), [4_000])
    for name, board in alone.scoreboard.boards.items():
        assert loop.scoreboard.boards[name].summary() == board.summary()


def test_who_predicted_nothing_goes_first() -> None:
    boards = {name: Board(True, 5, 50) for name in ("a", "b")}
    gone: list[str] = []
    halving = Halving({"x": ["a", "b"]}, lambda: boards, gone.extend, lambda: 0)
    labels = np.full(2_000, 1.0)
    boards["b"].count(labels, labels + 4, np.zeros(2_000, np.int64))
    halving._cut()
    assert (gone, halving.told()[0]["left"]) == (["a"], ["b"])
