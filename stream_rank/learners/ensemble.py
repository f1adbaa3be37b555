"""What the learners with many voters share."""

from typing import Any

import numpy as np

from stream_rank.engine.products import product, products
from stream_rank.learners.learner import Features, like_input
from stream_rank.learners.rank_learner import RankLearner

__all__ = ["Ensemble"]


class Ensemble(RankLearner):
    """A rank learner whose members vote."""

    def vote_one(self, x: Features) -> float:
        """The members' mean vote for an event, in ranks from 1, not rounded."""
        shares, _ = self._ballots(x)
        return product(shares, np.arange(1, len(shares) + 1))

    def vote_many(self, X: Any) -> Any:
        """The members' mean vote for every row, in ranks from 1, not rounded."""
        table, shares, _ = self._all_ballots(X)
        return like_input(products(shares, np.arange(1, shares.shape[1] + 1)), table)
