"""Averaged PRank: PRank that predicts by its mean rule."""

from collections.abc import Mapping
from typing import Any, ClassVar

from stream_rank.engine.perceptron.state import LASTING, PRESENT
from stream_rank.kernels import Gaussian, Kernel, Polynomial
from stream_rank.learners.base.kernelized import Kernelized
from stream_rank.learners.models.family import Family

__all__ = ["AveragedPRank"]


class AveragedPRank(Kernelized):
    """PRank that predicts by the mean of the weights and thresholds after every round so far.

    A rule that survived many rounds counts for as many. The sum over rounds is never formed: with
    `u` the sum of all moves, each times the number of rounds before it, the sum of the weights after `T` rounds is
    `T * w - u`. So a round without a mistake costs nothing, and others as much as PRank.

    The rounds before a feature came tell nothing of it, and would only draw its weight to zero. So a feature that is in none
    of the first ten events is averaged over the rounds that it was in (was not 0), from its first move on: a
    user or an item of a recommender over its own ratings. Where all features are there from the beginning, this is the plain mean.

    Cost: O(d + k) an event; once any feature came late, a quotient for every one in an event.

    Parameters
    ----------
    n_ranks
        The number of ranks, when labels are 1 to `n_ranks`; None discovers them.
    dtype
        "float64" or "float32"; sums over rounds are kept in double precision.
    plain
        Whether all features are averaged over all rounds, as in the paper.
    kernel
        None or `Linear()` for weights of features; `Polynomial` or `Gaussian` for a support set, whose coefficients are averaged over all rounds.
    budget
        The most support vectors of a kernel learner.
    update
        How the rule that is averaged moves: "perceptron", or "passive-aggressive", "romma" or "arow", which `PRank` explains; with a kernel,
        "perceptron" alone.
    overflow
        What becomes of events beyond the budget: "oldest" drops the oldest vector for one; "nearest" keeps the vectors, and lets the
        nearest take over the event's coefficient, as much of it as is along that vector.

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

    _later: ClassVar[Mapping[str, Any]] = {
        "kernel": None,
        "budget": 1000,
        "update": "perceptron",
        "overflow": "nearest",
    }

    def __init__(
        self,
        n_ranks: int | None = None,
        dtype: str = "float64",
        plain: bool = False,
        kernel: Kernel | None = None,
        budget: int = 1000,
        update: str = "perceptron",
        overflow: str = "nearest",
    ) -> None:
        if not isinstance(plain, bool):
            raise ValueError(f"plain must be True or False, not {plain!r}")
        self.plain = plain
        super().__init__(n_ranks, kernel, budget, dtype, update, overflow)

    def _new_model(self, n_ranks: int) -> Family:
        # a support vector has a coefficient from its first round on: it never was late
        plain = self.plain or isinstance(self.kernel, Polynomial | Gaussian)
        return self._family(n_ranks, 1, LASTING if plain else PRESENT)
