"""The coins against plain integers, and against chance."""

from typing import Any

import numpy as np
import pytest

from stream_rank.engine.coins import chance, toss
from stream_rank.engine.jit import compiled
from tests.learners import oracle


@compiled
def words(key, events, firsts, rate, heads):
    for i in range(heads.size):
        heads[i] = toss(key, events[i], firsts[i], rate)


def tossed(key: int, n_events: int, n_members: int, sampling: float) -> Any:
    """Coins as a table of events and members."""
    n_words = -(-n_members // 64)
    events = np.repeat(np.arange(n_events), n_words)
    firsts = np.tile(np.arange(n_words) * 64, n_events)
    heads = np.empty(len(events), np.uint64)
    words(np.uint64(key), events, firsts, np.uint64(chance(sampling)), heads)
    bits = np.unpackbits(heads.view(np.uint8), bitorder="little")
    return bits.reshape(n_events, n_words * 64)[:, :n_members].astype(bool)


@pytest.mark.parametrize("sampling", [0.3, 0.5, 1 / 3, 1e-9, 0.999, 1.0])
@pytest.mark.parametrize("key", [0, 7, 2**64 - 1])
def test_a_coin_is_a_uniform_number_below_the_rate(sampling: float, key: int) -> None:
    heads = tossed(key, 30, 70, sampling)
    expected = [[oracle.coin(key, t, j, sampling) for j in range(70)] for t in range(30)]
    assert heads.tolist() == expected


@pytest.mark.parametrize("sampling", [0.05, 0.3, 0.5, 0.9])
def test_coins_come_up_at_the_rate_and_independently(sampling: float) -> None:
    """All within five standard errors, which chance exceeds once in two million times."""
    heads = tossed(1, 40_000, 64, sampling).astype(float)
    spread = np.sqrt(sampling * (1 - sampling))
    assert abs(heads.mean() - sampling) < 5 * spread / np.sqrt(heads.size)
    assert np.abs(heads.mean(axis=0) - sampling).max() < 5 * spread / np.sqrt(len(heads))
    centred = (heads - sampling) / spread
    between_members = centred.T @ centred / len(heads)
    np.fill_diagonal(between_members, 0)
    assert np.abs(between_members).max() < 6 / np.sqrt(len(heads))
    for lag in (1, 2, 3, 64):
        after = (centred[lag:] * centred[:-lag]).mean()
        assert abs(after) < 5 / np.sqrt(heads.size)


def test_keys_give_other_coins() -> None:
    same = tossed(1, 4000, 64, 0.5) == tossed(2, 4000, 64, 0.5)
    assert abs(same.mean() - 0.5) < 5 * 0.5 / np.sqrt(same.size)
