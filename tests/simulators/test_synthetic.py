"""The synthetic stream is the paper's, and the same however it is read."""

import numpy as np
import pytest

from simulators.learning_curves import BAYES_LOSS
from stream_rank.datasets.oap_stream import OAPStream


@pytest.mark.parametrize("features", ["raw", "quadratic"])
@pytest.mark.parametrize("n_events", [1, 1024, 2500])
def test_arrays_are_the_events(features: str, n_events: int) -> None:
    stream = OAPStream(seed=3, features=features)
    X, y = stream.arrays(n_events)
    events = list(stream.take(n_events))
    assert X.tolist() == [list(x.values()) for x, _ in events]
    assert y.tolist() == [rank for _, rank in events]
    assert X.tolist() == stream.arrays(5000)[0][:n_events].tolist()


def test_ranks_follow_the_saddle() -> None:
    X, y = OAPStream(seed=0).arrays(200_000)
    saddle = 10 * (X[:, 0] - 0.5) * (X[:, 1] - 0.5)
    clear = np.abs(saddle[:, None] - [-1.0, -0.1, 0.25, 1.0]).min(axis=1) > 0.6
    assert (y[clear] == np.searchsorted([-1.0, -0.1, 0.25, 1.0], saddle[clear]) + 1).all()
    assert ((X >= 0) & (X < 1)).all()
    assert set(y) == {1, 2, 3, 4, 5}


def test_no_rule_does_better_than_the_bayes_loss() -> None:
    """The median rank given the saddle is the best prediction; noise decides the rest."""
    X, y = OAPStream(seed=0).arrays(400_000)
    saddle = 10 * (X[:, 0] - 0.5) * (X[:, 1] - 0.5)
    best = np.searchsorted([-1.0, -0.1, 0.25, 1.0], saddle) + 1
    assert np.abs(best - y).mean() == pytest.approx(BAYES_LOSS, abs=0.003)


def test_seeds_differ_and_features_are_checked() -> None:
    assert OAPStream(seed=1).arrays(5)[0].tolist() != OAPStream(seed=2).arrays(5)[0].tolist()
    with pytest.raises(ValueError, match="'raw' or 'quadratic', not 'cubic'"):
        OAPStream(features="cubic")
