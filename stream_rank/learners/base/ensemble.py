"""The base class of the learners with many voters."""

from typing import Any, ClassVar

import numpy as np

from stream_rank.engine.products import product, products
from stream_rank.learners.base.learner import Features, like_input
from stream_rank.learners.base.rank_learner import RankLearner

__all__ = ["Ensemble"]


class Ensemble(RankLearner):
    """A rank learner whose members vote."""

    has_votes: ClassVar[bool] = True
    _exact: ClassVar[bool] = False  # the vote decides

    def vote_one(self, x: Features) -> float:
        """The members' mean vote for an event, in ranks from 1, not rounded."""
        shares, _ = self._ballots(x)
        return product(shares, np.arange(1, len(shares) + 1))

    def vote_many(self, X: Any) -> Any:
        """The members' mean vote for every row, in ranks from 1, not rounded."""
        table, shares, _ = self._all_ballots(X)
        return like_input(products(shares, np.arange(1, shares.shape[1] + 1)), table)
