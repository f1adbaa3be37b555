"""The rank loss of users: a mean of means, however events are cut, and whoever is forgotten."""

from collections import defaultdict

import numpy as np
import pytest

from stream_rank.evaluation.board import Board
from stream_rank.evaluation.group_losses import GroupLosses
from stream_rank.evaluation.group_numbers import MOST_GROUPS, GroupNumbers


def test_it_is_the_mean_of_the_groups_means() -> None:
    generator = np.random.default_rng(1)
    labels, found = (generator.integers(1, 6, 500).astype(float) for _ in range(2))
    users = [f"u{int(40 * generator.random() ** 2)}" for _ in range(500)]
    steps = defaultdict(list)
    for user, label, prediction in zip(users, labels.tolist(), found.tolist(), strict=True):
        steps[user].append(abs(label - prediction))
    expected = np.mean([np.mean(each) for each in steps.values()])
    for sizes in ([500], [7] * 72):
        board, numbers, at = Board(True, 5, 100, users=True), GroupNumbers(), 0
        for size in sizes:
            some = slice(at, at + size)
            given = numbers.numbers(users[some], len(users[some]))
            board.count(labels[some], found[some], given, numbers.met)
            at += size
        assert board.summary()["rank_loss_by_group"] == pytest.approx(expected, rel=1e-12)
        other = Board(True, 5, 100, users=True)
        other.restore(board.described(), board.arrays())
        assert other.summary() == board.summary()


def test_without_groups_there_is_none() -> None:
    board = Board(True, 5, 100, users=True)
    board.count(np.ones(3), np.ones(3), np.zeros(3, np.int64))
    assert "rank_loss_by_group" not in board.summary()


def test_whoever_needs_the_place_of_another_leaves_their_mean() -> None:
    losses, numbers = GroupLosses(), np.arange(1, MOST_GROUPS + 3)
    losses.count(np.ones(len(numbers)), 1.0 + (numbers < 3), numbers, int(numbers[-1]) + 1)
    assert losses.mean == pytest.approx(2 / len(numbers))


def test_what_is_no_state() -> None:
    losses = GroupLosses()
    losses.count(np.ones(3), np.ones(3), np.array([1, 2, 0]), 3)
    for bad in (np.zeros((3, 3)), np.zeros((2, 4)), np.full((3, 4), -1.0), np.full((3, 4), np.nan)):
        with pytest.raises(ValueError, match="do not fit"):
            GroupLosses().restore({**losses.arrays(), "by_group": bad})
    GroupLosses().restore({})  # a snapshot of before
