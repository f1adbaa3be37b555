"""How sure a mean loss is: of draws that are independent, of draws that are not, and of pairs."""

import numpy as np
import pytest

from stream_rank.evaluation.board import Board
from stream_rank.evaluation.loss_history import LossHistory
from stream_rank.evaluation.resampling import Resampled


def test_a_history_is_that_of_its_blocks_however_long() -> None:
    losses = np.random.default_rng(1).uniform(size=5_000).tolist()
    history, again = LossHistory(), LossHistory()
    for place, loss in enumerate(losses):
        history.add(loss)
        again.add(loss)
        if place % 1_234 == 0:
            known = again
            again = LossHistory()
            again.restore(known.described(), known.array())
    assert history.described() == again.described()
    assert history.losses == again.losses
    size = history.blocks_a_part
    assert size == 8
    slow = [np.mean(losses[at : at + size]) for at in range(0, 5_000, size)]
    np.testing.assert_allclose(history.losses, slow, rtol=1e-12)
    history.add(float("nan"))
    assert np.isfinite(history.described()["sum"])


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        (np.zeros(1_024), {}),
        (np.zeros((2, 2)), {}),
        (np.zeros(3, np.float32), {}),
        (np.zeros(3), {"blocks_a_part": 3}),
        (np.zeros(3), {"blocks": 1}),
        (np.zeros(3), {"sum": 1}),
    ],
)
def test_a_history_that_is_none_is_refused(losses: np.ndarray, said: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="history"):
        LossHistory().restore({**LossHistory().described(), **said}, losses)


def coverage(carried_on: float) -> float:
    """The share of intervals that have the true mean in them, of losses that are carried on by so much."""
    generator, inside = np.random.default_rng(2), 0
    for seed in range(200):
        noise, losses = generator.normal(size=400), np.zeros(400)
        for place in range(1, 400):
            losses[place] = carried_on * losses[place - 1] + noise[place]
        low, high = Resampled([losses.tolist()], seed).interval(0)
        inside += low <= 0 <= high
    return inside / 200


def test_an_interval_has_the_mean_in_it_as_often_as_it_says() -> None:
    assert 0.84 <= coverage(0.0) <= 0.95
    assert 0.75 <= coverage(0.6) <= 0.95  # single draws, without their neighbours, would be 0.6


def test_pairs_are_surer_than_what_they_are_of() -> None:
    generator = np.random.default_rng(3)
    shared = generator.normal(1, 0.5, 200)
    one = shared + generator.normal(0, 0.05, 200)
    other = shared + 0.05 + generator.normal(0, 0.05, 200)
    draws = Resampled([one.tolist(), other.tolist()])
    low, high = draws.difference(1, 0)
    assert 0.03 < low < high < 0.07
    assert draws.interval(0).high > draws.interval(1).low  # each by itself says nothing
    assert draws.chances[0] > 0.99
    again = Resampled([one.tolist(), other.tolist()])
    assert (again.means == draws.means).all()


def test_scores_are_compared_by_the_differences_of_neighbours() -> None:
    """So a learner of preferences, whose scores have no level, is compared too."""
    generator = np.random.default_rng(4)
    labels, noise = generator.normal(size=230), generator.normal(0, 0.3, 230)
    board, shifted, numbers = (
        Board(False, None, 100),
        Board(False, None, 100),
        np.zeros(230, np.int64),
    )
    for part in (slice(0, 7), slice(7, 160), slice(160, 230)):
        board.count(labels[part], labels[part] + noise[part], numbers[part])
    shifted.count(labels, labels + noise + 1e3, numbers)
    slow = [
        np.mean([(a - b) ** 2 for a in block for b in block])
        for block in noise[:200].reshape(4, 50)
    ]
    np.testing.assert_allclose(board.history.losses, slow, rtol=1e-9)
    np.testing.assert_allclose(shifted.history.losses, slow, rtol=1e-9)
