"""The base class of the learners with many voters."""

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from stream_rank.engine.products import product, products
from stream_rank.learners.base.learner import Features, like_input
from stream_rank.learners.base.rank_learner import RankLearner
from stream_rank.learners.models.family import Family
from stream_rank.learners.tables.pairs import Pairs

__all__ = ["Ensemble"]

Array = npt.NDArray[Any]


class Ensemble(RankLearner):
    """A rank learner whose members vote."""

    _model: Family
    has_votes: ClassVar[bool] = True
    _exact: ClassVar[bool] = False  # the vote decides

    def vote_one(self, x: Features) -> float:
        """The members' mean vote for an event, in ranks from 1, not rounded."""
        shares, _ = self._ballots(x)
        return product(shares, np.arange(1, len(shares) + 1))

    def _share(self, first: Features, second: Features) -> float:
        one, two = (self._table_of(self._checked(item)) for item in (first, second))
        share = np.empty(1)
        self._ask_pairs(Pairs(one, two, np.zeros(1)), share)
        return float(share[0])

    def _ask_pairs(self, pairs: Pairs, shares: Array) -> None:
        """The share of members who have the first of each pair ahead."""
        model, vocabulary, done = self._model, self._vocabulary, 0
        if model.always_blocks:
            blocks = pairs.all_features(vocabulary, model.dtype, 0, len(pairs))
        else:
            blocks = pairs.blocks(vocabulary, model.n_slots, "float64", 0, len(pairs))
        for block in blocks:
            some = slice(done, done + block.n_pairs)
            model.run_pairs(
                block, pairs.magnitudes[some], np.empty(0), shares[some], learning=False
            )
            done = some.stop

    def vote_many(self, X: Any) -> Any:
        """The members' mean vote for every row, in ranks from 1, not rounded."""
        table, shares, _ = self._all_ballots(X)
        return like_input(products(shares, np.arange(1, shares.shape[1] + 1)), table)
