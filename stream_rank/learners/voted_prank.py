"""Voted PRank: all rules that PRank has held vote."""

from collections.abc import Mapping
from typing import Any, ClassVar

from stream_rank.kernels import Gaussian, Kernel, Polynomial
from stream_rank.learners.base.ensemble import Ensemble
from stream_rank.learners.base.kernelized import NEAREST, Kernelized
from stream_rank.learners.models.family import Family
from stream_rank.learners.models.hypotheses import Hypotheses, KernelHypotheses
from stream_rank.parameters import check_whole

__all__ = ["VotedPRank"]


class VotedPRank(Kernelized, Ensemble):
    """PRank whose past rules vote, each with the number of rounds that it survived.

    Every mistake ends a hypothesis and begins another. The rank is the mean vote, rounded
    (halves go up). Memory is bounded: where there is no room for a new hypothesis, the one that survived
    the fewest rounds is dropped, the earliest in memory among equals.

    Cost: O(H * (d + k)) an event with H hypotheses; with a kernel, O(budget * (d + H)).

    Parameters
    ----------
    n_ranks
        The number of ranks, when labels are 1 to `n_ranks`; None discovers them.
    max_hypotheses
        The most hypotheses that are kept, the one that is learning among them.
    dtype
        "float64" or "float32".
    kernel
        None or `Linear()` for weights of features; `Polynomial` or `Gaussian` for a support set that all hypotheses share.
    budget
        The most support vectors of a kernel learner.
    overflow
        What becomes of events beyond the budget: "oldest" drops the oldest vector for one; "nearest" keeps the vectors, and lets the
        nearest take over the event's coefficient, as much of it as is along that vector.

    References
    ----------
    E. F. Harrington. Online ranking/collaborative filtering using the perceptron algorithm. ICML 2003
    (there PRank-VP); Y. Freund and R. E. Schapire, 1999.

    Examples
    --------
    >>> from stream_rank import VotedPRank
    >>> model = VotedPRank(n_ranks=3, max_hypotheses=10)
    >>> for _ in range(20):
    ...     for rank, place in ((1, -1.0), (2, 0.0), (3, 1.0)):
    ...         model.learn_one({"place": place, "one": 1.0}, rank)
    >>> model.predict_one({"place": 0.9, "one": 1.0})
    3
    """

    _later: ClassVar[Mapping[str, Any]] = {"kernel": None, "budget": 1000, "overflow": "nearest"}

    def __init__(
        self,
        n_ranks: int | None = None,
        max_hypotheses: int = 100,
        dtype: str = "float64",
        kernel: Kernel | None = None,
        budget: int = 1000,
        overflow: str = "nearest",
    ) -> None:
        check_whole("max_hypotheses", max_hypotheses)
        self.max_hypotheses = max_hypotheses
        super().__init__(n_ranks, kernel, budget, dtype, overflow=overflow)

    def _new_model(self, n_ranks: int) -> Family:
        if isinstance(self.kernel, Polynomial | Gaussian):
            most = self.max_hypotheses
            merging = self.overflow == NEAREST
            return KernelHypotheses(n_ranks, most, self.dtype, self.kernel, self.budget, merging)
        return Hypotheses(n_ranks, self.max_hypotheses, self.dtype)
