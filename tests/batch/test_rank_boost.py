"""RankBoost against the lecture's pseudocode, pair by pair."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from stream_rank.batch import RankBoost
from tests.batch import plain
from tests.batch.test_rank_rls import rated


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks() -> None:
    check_estimator(RankBoost(n_rounds=20))


@pytest.mark.parametrize("explicit", [False, True])
def test_it_is_the_plain_one(explicit: bool) -> None:
    X, y, groups = rated(18, 3, seed=4)
    pairs = plain.pairs_of(y, groups, False)
    expected = plain.rank_boost(X, pairs, 25)
    model = RankBoost(25)
    if explicit:
        model.fit_pairs(X, *np.array(pairs).T)
    else:
        model.fit(X, y, groups)
    assert model.features_.tolist() == [ranker[0] for ranker in expected]
    np.testing.assert_allclose(model.thresholds_, [ranker[1] for ranker in expected])
    np.testing.assert_allclose(model.coefficients_, [ranker[2] for ranker in expected], rtol=1e-8)
    scores = model.predict(X)
    losses = [np.exp(scores[j] - scores[h]) for h, j in pairs]
    np.testing.assert_allclose(model.bound_, np.mean(losses))
    assert np.mean([scores[h] <= scores[j] for h, j in pairs]) <= model.bound_


def test_pairs_that_are_parted_and_limits() -> None:
    """A thousand rounds on what one round parts: weights of pairs are smaller than any number, and all stays finite."""
    X = np.arange(12.0)[:, None]
    model = RankBoost(1000).fit(X, X[:, 0])
    assert np.argsort(model.predict(X)).tolist() == list(range(12))
    assert np.isfinite(model.predict(X)).all()
    assert len(RankBoost().fit(np.ones((4, 2)), [1, 2, 3, 4]).features_) == 0
    for y, groups in ((np.ones(12), None), (X[:, 0], range(12))):
        with pytest.raises(ValueError, match="there is no pair to learn"):
            RankBoost().fit(X, y, groups)
    with pytest.raises(ValueError, match="n_rounds must be a whole number"):
        RankBoost(0).fit(X, X[:, 0])
