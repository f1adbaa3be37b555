"""Baselines against slow, obvious ones; and what a scoreboard says of learners beside them."""

import json
from collections import defaultdict
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from stream_rank.contestants.learner_spec import contestants_of
from stream_rank.evaluation.baseline import Answer, best_of
from stream_rank.evaluation.board import Board
from stream_rank.evaluation.rank_baseline import RankBaseline
from stream_rank.evaluation.score_baseline import ScoreBaseline
from stream_rank.evaluation.scoreboard import Scoreboard
from stream_rank.evaluation.standing import ENOUGH
from stream_rank.learners.base.state import State
from tests.pipeline.conftest import feed, loop_of

Array = npt.NDArray[Any]


def lower_median(labels: Sequence[float]) -> float:
    """The slow, obvious way."""
    return sorted(labels)[(len(labels) - 1) // 2]


def losses_of(labels: Array, numbers: Array) -> tuple[list[float], list[float]]:
    """What the median of all labels before each, and of those of its group, would have lost."""
    seen: dict[int, list[float]] = defaultdict(list)
    every: list[float] = []
    constant, grouped = [], []
    for label, number in zip(labels.tolist(), numbers.tolist(), strict=True):
        if every:
            own = seen[number] if number and seen[number] else every
            constant.append(abs(label - lower_median(every)))
            grouped.append(abs(label - lower_median(own)))
        every.append(label)
        seen[number].append(label)
    return constant, grouped


def drawn(n_events: int, n_groups: int, seed: int = 1) -> tuple[Array, Array]:
    """Ranks around a level of the group, and groups in the order of their first coming; 0 is none."""
    generator = np.random.default_rng(seed)
    labels, numbers, met = [], [], 0
    for _ in range(n_events):
        number = min(int(generator.integers(0, n_groups)), met + 1)
        met = max(met, number)
        labels.append(float(np.clip(number % 5 + generator.integers(0, 3), 1, 5)))
        numbers.append(number)
    return np.array(labels), np.array(numbers, np.int64)


def fed(baseline: Any, labels: Array, numbers: Array, size: int) -> Any:
    for begin in range(0, len(labels), size):
        part = slice(begin, begin + size)
        baseline.count(labels[part], numbers[part], int(numbers[: begin + size].max()) + 1)
    return baseline


@pytest.mark.parametrize("n_ranks", [5, 300, None])
@pytest.mark.parametrize("n_groups", [1, 40])
def test_medians_are_those_of_sorted_labels_however_they_come(
    n_ranks: int | None, n_groups: int
) -> None:
    labels, numbers = drawn(1_500, n_groups)
    if n_ranks is None:
        labels = labels * 0.25 - 1.0  # found as they come, and no whole numbers
    constant, grouped = losses_of(labels, numbers)
    states = []
    for size in (1_500, 1, 37):
        baseline = fed(RankBaseline(n_ranks, 200), labels, numbers, size)
        answers = {each.name: each for each in baseline.answers()}
        assert answers["median"].loss == pytest.approx(np.mean(constant), rel=1e-12)
        assert answers["median"].recent_loss == pytest.approx(np.mean(constant[-200:]), rel=1e-12)
        if n_groups > 1:
            assert answers["group median"].loss == pytest.approx(np.mean(grouped), rel=1e-12)
            recent = np.mean(grouped[-200:])
            assert answers["group median"].recent_loss == pytest.approx(recent, rel=1e-12)
            assert best_of(baseline.answers()).name == "group median"
        else:
            assert [*answers] == ["median"]
        states.append({name: array.tobytes() for name, array in baseline.arrays().items()})
    assert states[0] == states[1] == states[2]


def test_groups_beyond_the_most_begin_anew_and_memory_is_bounded() -> None:
    labels, numbers = drawn(3_000, 700)
    states = []
    for size in (3_000, 1, 111):
        baseline = fed(RankBaseline(10_000, 50), labels, numbers, size)
        arrays = baseline.arrays()
        assert arrays["counts"].nbytes <= 4 << 20
        states.append({name: array.tobytes() for name, array in arrays.items()})
    assert states[0] == states[1] == states[2]
    constant, _ = losses_of(labels, numbers)
    assert baseline.answers()[0].loss == pytest.approx(np.mean(constant), rel=1e-12)


def test_labels_beyond_the_most_count_as_the_nearest() -> None:
    generator = np.random.default_rng(2)
    labels = generator.normal(size=2_000)
    zeros = np.zeros(2_000, np.int64)
    states = []
    for size in (2_000, 1, 99):
        baseline = fed(RankBaseline(None, 50), labels, zeros, size)
        assert len(baseline.arrays()["values"]) == 128
        states.append({name: array.tobytes() for name, array in baseline.arrays().items()})
    assert states[0] == states[1] == states[2]
    (median,) = baseline.answers()
    assert median.loss == pytest.approx(np.abs(labels).mean(), rel=0.05)


def test_a_constants_magnitude_loss_is_twice_the_variance() -> None:
    labels, numbers = drawn(900, 12)
    for size in (900, 1):
        (mean,) = fed(ScoreBaseline(200), labels, numbers * 0, size).answers()
        assert mean.loss == pytest.approx(2 * np.var(labels))
        assert mean.recent_loss == pytest.approx(2 * np.var(labels[-200:]))
    (mean,) = fed(ScoreBaseline(200), labels, numbers, 37).answers()
    counts = [(labels[numbers == each], (numbers == each).sum()) for each in set(numbers.tolist())]
    pairs = sum(count * count for _, count in counts)
    within = sum(2 * np.var(some) * count * count for some, count in counts) / pairs
    assert mean.loss == pytest.approx(within)
    # whatever is always answered, within each group: 2 * Var(label) is left
    board = Board(False, None, 200)
    board.count(labels, numbers * 3.0 + 7.0, numbers, int(numbers.max()) + 1)
    assert board.loss == pytest.approx(within)


def stream(learned: bool, count: int = 3_000) -> list[bytes]:
    """Ratings that follow their feature, or have nothing to do with it."""
    generator, lines = np.random.default_rng(3), []
    for _ in range(count):
        a, noise = (float(each) for each in generator.random(2))
        y = 1 + int(5 * (a if learned else noise) * 0.999)
        lines.append(json.dumps({"x": {"a": (a - 0.5) * 2, "b": 0.5}, "y": y}).encode())
    return lines


@pytest.mark.parametrize("learned", [True, False])
def test_a_learner_stands_beside_its_baseline(learned: bool) -> None:
    loop = loop_of(["averaged-prank", "prank", "recursive-mprank"], window=1_000)
    feed(loop, stream(learned), [700])
    found = loop.scoreboard.boards["prank"].summary()
    assert found["baseline"] == "median"
    assert found["skill"] == 1 - found["rank_loss"] / found["baseline_loss"]
    assert found["recent_skill"] == 1 - found["recent_rank_loss"] / found["recent_baseline_loss"]
    assert found["worse_than_constant"] is not learned
    assert (found["skill"] > 0.5) is learned
    scores = loop.scoreboard.boards["recursive-mprank"].summary()
    assert scores["baseline"] == "mean"
    assert scores["baseline_loss"] == pytest.approx(2 * 2.0, rel=0.1)
    assert (scores["skill"] > 0.5) is learned


def test_a_learner_is_not_called_worse_before_it_has_predicted_enough() -> None:
    loop = loop_of(["prank"])
    lines = stream(False, ENOUGH + 1)
    feed(loop, lines[: ENOUGH - 1], [500])
    assert not loop.scoreboard.boards["prank"].standing.worse
    feed(loop, lines[ENOUGH - 1 :], [500])
    assert loop.scoreboard.boards["prank"].standing.worse


def test_labels_that_never_differ_leave_nothing_to_save() -> None:
    board = Board(True, 5, 100, RankBaseline(5, 100))
    assert board.standing.skill is None
    assert not board.standing.beaten
    assert best_of([Answer("median", 0.0, 9, 0.0)]).loss == 0.0


def test_preferences_stand_beside_a_coin() -> None:
    lines = [
        json.dumps({"preferred": {"a": i % 7 + 1.0}, "other": {"a": 0.5}}).encode()
        for i in range(300)
    ]
    loop = loop_of(["pairwise-ranker"])
    feed(loop, lines, [100])
    found = loop.scoreboard.boards["pairwise-ranker"].summary()
    assert (found["preference_baseline"], found["preference_baseline_loss"]) == ("coin", 0.5)
    assert found["preference_skill"] == 1 - found["preference_error"] / 0.5 > 0.9
    assert found["skill"] is None


@pytest.mark.parametrize("n_ranks", [5, None])
def test_a_scoreboard_goes_on_where_another_was(n_ranks: int | None) -> None:
    kinds = {"prank": "ranks", "recursive-mprank": "scores"}
    contestants: Any = [
        SimpleNamespace(
            name=name, predicts=kind, gives_probabilities=False, has_users=False, finds_items=False
        )
        for name, kind in kinds.items()
    ]

    def fresh() -> Scoreboard:
        return Scoreboard(contestants, n_ranks, 100)

    labels, numbers = drawn(600, 20)
    groups = np.array([None if each == 0 else f"g{each}" for each in numbers], object)
    whole, half, rest = fresh(), fresh(), fresh()
    found = {"prank": np.full(600, 3.0), "recursive-mprank": np.full(600, 0.5)}

    def count(board: Scoreboard, part: slice) -> None:
        board.count(labels[part], {k: v[part] for k, v in found.items()}, groups[part])

    count(whole, slice(0, 600))
    count(half, slice(0, 250))
    rest.load(half.dump())
    count(rest, slice(250, 600))
    for name, array in whole.dump().arrays.items():
        assert rest.dump().arrays[name].tobytes() == array.tobytes(), name
    assert whole.boards["prank"].summary() == rest.boards["prank"].summary()


def test_a_scoreboard_of_another_layout_is_refused() -> None:
    scoreboard = Scoreboard(contestants_of(["prank"], 5, 1), 5, 100)
    state = scoreboard.dump()
    with pytest.raises(ValueError, match="learn the stream again"):
        scoreboard.load(State({k: v for k, v in state.metadata.items() if k != "baselines"}, {}))
    other = Scoreboard(contestants_of(["prank"], 5, 1), 5, 99).dump()
    mixed = {
        name: other.arrays[name] if name.startswith("baseline") else array
        for name, array in state.arrays.items()
    }
    with pytest.raises(ValueError, match="another size"):
        scoreboard.load(State(state.metadata, mixed))
