"""The losses, against River's metrics and the package's own."""

import json
from itertools import pairwise

import numpy as np
import pytest

from stream_rank import MSD, Misranking, RankLoss
from stream_rank.contestants.learner_spec import contestants_of
from stream_rank.evaluation.board import Board
from stream_rank.evaluation.drift import BLOCK, DriftDetector
from stream_rank.evaluation.group_numbers import GroupNumbers
from stream_rank.evaluation.scoreboard import Scoreboard, _mark_after
from stream_rank.learners.base.capabilities import Insight
from tests.pipeline.conftest import feed, loop_of


def split(n_events: int, size: int) -> list[slice]:
    return [slice(begin, begin + size) for begin in range(0, n_events, size)]


@pytest.mark.parametrize("ranks", [True, False])
def test_losses_are_those_of_the_metrics(ranks: bool) -> None:
    generator = np.random.default_rng(1)
    labels = generator.integers(1, 6, 1_000).astype(float)
    found = generator.integers(1, 6, 1_000).astype(float) if ranks else generator.normal(size=1_000)
    found[::50] = np.nan
    groups = np.zeros(1_000, np.int64)
    boards = []
    for size in (1_000, 1, 37):
        board = Board(ranks, 5, 200)
        for part in split(1_000, size):
            board.count(labels[part], found[part], groups[part], 1)
        boards.append((board.described(), {k: v.tobytes() for k, v in board.arrays().items()}))
    assert boards[0] == boards[1] == boards[2]
    told = ~np.isnan(found)
    metric, recent = (RankLoss(), RankLoss()) if ranks else (MSD(), MSD())
    for y, prediction in zip(labels[told], found[told], strict=True):
        metric.update(y, prediction)
    for y, prediction in zip(labels[told][-200:], found[told][-200:], strict=True):
        recent.update(y, prediction)
    assert board.events == told.sum()
    if ranks:
        assert board.loss == pytest.approx(metric.get(), rel=1e-12)
        assert board.recent_loss == pytest.approx(recent.get(), rel=1e-12)
        assert np.sum(board.confusion) == told.sum()
        steps = abs(np.subtract.outer(np.arange(5), np.arange(5)))
        assert (np.array(board.confusion) * steps).sum() / told.sum() == pytest.approx(board.loss)
    else:
        assert board.loss == pytest.approx(_all_pairs(labels[told] - found[told]))
        assert board.recent_loss == pytest.approx(_all_pairs((labels[told] - found[told])[-200:]))
        misranking = Misranking()
        for y, prediction in zip(labels[told][-200:], found[told][-200:], strict=True):
            misranking.update(y, prediction)
        assert board.summary()["recent_misranking"] == misranking.get()


@pytest.mark.parametrize("most", [4, 64])
def test_only_pairs_within_a_group_count(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the metrics, however events are cut; a group that was forgotten is another when it comes again."""
    monkeypatch.setattr("stream_rank.evaluation.board.MOST_GROUPS", most)
    monkeypatch.setattr("stream_rank.evaluation.group_numbers.MOST_GROUPS", most)
    generator = np.random.default_rng(1)
    names = [None if i % 7 == 0 else f"g{i // 100 % 5 + i % 3}" for i in range(1_000)]
    labels, found = generator.normal(size=1_000), generator.normal(size=1_000)
    metric, recent, misranking = MSD(), MSD(), Misranking()
    numbers = GroupNumbers().numbers(names, 1_000).tolist()
    for i, (number, y, prediction) in enumerate(zip(numbers, labels, found, strict=True)):
        metric.update(y, prediction, group=number)
        if i >= 800:
            recent.update(y, prediction, group=number)
            misranking.update(y, prediction, group=number)
    boards = []
    for size in (1_000, 1, 37):
        scoreboard = Scoreboard(contestants_of(["recursive-mprank"], None, 1), None, 200)
        for part in split(1_000, size):
            scoreboard.count(
                labels[part], {"recursive-mprank": found[part]}, np.array(names, object)[part]
            )
        board = scoreboard.boards["recursive-mprank"]
        boards.append({key: array.tobytes() for key, array in board.arrays().items()})
        assert board.loss == pytest.approx(metric.get(), rel=1e-12)
        assert board.recent_loss == pytest.approx(recent.get(), rel=1e-12)
        assert board.summary()["recent_misranking"] == pytest.approx(misranking.get())
    assert boards[0] == boards[1] == boards[2]
    if most > 10:
        assert max(numbers) < 10


def test_a_rule_that_is_right_within_groups_has_no_loss() -> None:
    lines = []
    for i in range(2_000):
        x, group = i * 37 % 100 / 100, i % 20
        lines.append(json.dumps({"x": {"a": x}, "y": 10 * group + 2 * x, "group": group}).encode())
    loop = loop_of(["recursive-mprank", "widrow-hoff"], n_ranks=None, window=1_000)
    feed(loop, lines, [300])
    boards = loop.scoreboard.boards
    loss = boards["recursive-mprank"].recent_loss
    assert loss is not None
    assert (
        loss < 0.05
    )  # of some 6,000 over all pairs; it is the constant of predictions, which moves
    assert boards["recursive-mprank"].summary()["recent_misranking"] < 0.05
    assert boards["widrow-hoff"].recent_loss is not None


def _all_pairs(residuals: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """The slow, obvious way."""
    return float(np.mean(np.subtract.outer(residuals, residuals) ** 2))


def test_a_loss_that_grows_is_noticed_and_one_that_does_not_is_not() -> None:
    generator = np.random.default_rng(3)
    falling = np.linspace(2.0, 0.3, 200) + generator.normal(0, 0.03, 200)
    level = 0.3 + generator.normal(0, 0.03, 20_000)
    detector = DriftDetector()
    assert not any(detector.update(mean) for mean in [*falling.tolist(), *level.tolist()])
    worse = 0.6 + generator.normal(0, 0.03, 60)
    assert any(detector.update(mean) for mean in worse.tolist())


def test_a_detector_goes_on_where_another_was() -> None:
    generator = np.random.default_rng(3)
    means = np.concatenate([generator.random(100), 3 + generator.random(100)]).tolist()
    whole, other = DriftDetector(), DriftDetector()
    expected = [whole.update(mean) for mean in means]
    found = []
    for mean in means:
        other, before = DriftDetector(), other
        other.state = before.state
        found.append(other.update(mean))
    assert found == expected
    assert any(expected)


def test_blocks_end_where_they_end_whatever_the_portions() -> None:
    losses = np.repeat([1.0, 4.0], 10_000)
    boards = []
    for size in (20_000, 99, 1_001):
        board = Board(True, 5, 100)
        for part in split(20_000, size):
            board.count(losses[part] + 1, np.ones(20_000)[part], np.zeros(20_000, np.int64)[part])
        boards.append(board.drifts)
    assert boards[0] == boards[1] == boards[2]
    assert boards[0]
    assert boards[0][0] % BLOCK == 0
    assert 10_000 < boards[0][0] < 13_000


def test_a_learner_that_diverges_spoils_nothing() -> None:
    """Its losses may be infinite; what is said of it stays JSON."""
    board = Board(False, None, 100)
    predictions = np.concatenate(
        [np.ones(2_000), 10.0 ** np.arange(0, 308), np.full(3_000, np.inf)]
    )
    board.count(np.ones(len(predictions)), predictions, np.zeros(len(predictions), np.int64))
    board.mark(len(predictions), None, Insight({}, [], None, []))
    json.dumps(board.described(), allow_nan=False)
    assert board.points[0]["loss"] is None
    assert board.summary()["recent_misranking"] is None


def test_marks_are_dense_and_few() -> None:
    marks, events = [], 0
    while events < 10**7:
        events = _mark_after(events)
        marks.append(events)
    assert marks[:4] == [10, 11, 12, 13]
    assert len(marks) < 260
    assert all(b / a < 1.13 for a, b in pairwise(marks))
