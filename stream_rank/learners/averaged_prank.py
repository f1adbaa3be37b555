"""Averaged PRank: PRank that predicts by its mean rule."""

from stream_rank.engine.perceptron.state import LASTING
from stream_rank.learners.base.rank_learner import RankLearner
from stream_rank.learners.models.family import Family

__all__ = ["AveragedPRank"]


class AveragedPRank(RankLearner):
    """PRank that predicts by the mean of the weights and thresholds after every round so far.

    A rule that survived many rounds counts for as many. The sum over rounds is never formed: with
    `u` the sum of all moves, each times the number of rounds before it, the sum of the weights after `T` rounds is
    `T * w - u`. So a round without a mistake costs nothing, and others as much as PRank.

    Cost: O(d + k) an event.

    Parameters
    ----------
    n_ranks
        The number of ranks, when labels are 1 to `n_ranks`; None discovers them.
    dtype
        "float64" or "float32"; sums over rounds are kept in double precision.

    References
    ----------
    Y. Freund and R. E. Schapire. Large margin classification using the perceptron algorithm. 1999.

    Examples
    --------
    >>> from stream_rank import AveragedPRank
    >>> model = AveragedPRank()
    >>> for x, y in [({"a": 1.0}, "low"), ({"a": -1.0}, "high"), ({"a": -2.0}, "high")]:
    ...     model.learn_one(x, y)
    >>> model.predict_one({"a": -1.5}), model.predict_one({"a": 1.5})
    ('high', 'low')
    """

    def __init__(self, n_ranks: int | None = None, dtype: str = "float64") -> None:
        super().__init__(n_ranks, dtype)

    def _new_model(self, n_ranks: int) -> Family:
        return Family(n_ranks, 1, LASTING, self.dtype)
