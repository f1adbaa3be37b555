"""The base class of the learners that may use a kernel."""

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

import numpy.typing as npt

from stream_rank.errors import EventError
from stream_rank.kernels import Gaussian, Kernel, Polynomial, check_kernel
from stream_rank.learners.base.capabilities import Rule
from stream_rank.learners.base.learner import Features, check_magnitude
from stream_rank.learners.base.rank_learner import RankLearner
from stream_rank.learners.models.family import Family
from stream_rank.learners.models.kernel_family import KernelFamily
from stream_rank.learners.models.margin_family import UPDATES, MarginFamily
from stream_rank.learners.tables.pairs import Pairs
from stream_rank.parameters import check_whole

__all__ = ["Kernelized"]

Array = npt.NDArray[Any]

PERCEPTRON = "perceptron"
OLDEST, NEAREST = "oldest", "nearest"


class Kernelized(RankLearner):
    """A family of PRank members over features, or over kernel values of a bounded support set; `update` says how members move."""

    _model: Family
    _later: ClassVar[Mapping[str, Any]] = {"update": PERCEPTRON, "overflow": OLDEST}
    """Parameters that came when snapshots of the learner were about, and what these have: not told, so that equal learners stay equal."""

    def __init__(
        self,
        n_ranks: int | None,
        kernel: Kernel | None,
        budget: int,
        dtype: str,
        update: str = PERCEPTRON,
        overflow: str = OLDEST,
    ) -> None:
        check_kernel(kernel)
        check_whole("budget", budget)
        if overflow not in (OLDEST, NEAREST):
            raise ValueError(f"overflow must be {OLDEST!r} or {NEAREST!r}, not {overflow!r}")
        if update != PERCEPTRON and update not in UPDATES:
            known = ", ".join(map(repr, (PERCEPTRON, *UPDATES)))
            raise ValueError(f"update must be one of {known}, not {update!r}")
        if update != PERCEPTRON and isinstance(kernel, Polynomial | Gaussian):
            raise ValueError(
                f"update={update!r} is for weights of features; with a kernel it must be {PERCEPTRON!r}"
            )
        self.kernel = kernel
        self.budget = budget
        self.update = update
        self.overflow = overflow
        super().__init__(n_ranks, dtype)

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that it was made with, as JSON has them, without those that are as they were before there were such."""
        given = super().parameters
        return {
            name: value
            for name, value in given.items()
            if name not in self._later or value != self._later[name]
        }

    def _family(
        self, n_ranks: int, n_members: int, rule: int, key: int = 0, sampling: float = 1.0
    ) -> Family:
        """The members, over features or over kernel values, by the rule that they move by."""
        if isinstance(self.kernel, Polynomial | Gaussian):
            return KernelFamily(
                *(n_ranks, n_members, rule, self.dtype, key, sampling, self.kernel, self.budget),
                self.overflow == NEAREST,
            )
        if self.update != PERCEPTRON:
            return MarginFamily(n_ranks, n_members, rule, self.dtype, key, sampling, self.update)
        return Family(n_ranks, n_members, rule, self.dtype, key, sampling)

    def _teach_pair(self, preferred: Features, other: Features, magnitude: float) -> None:
        """Learn that one item is preferred to another. With a kernel both items join the support set, so it must hold two."""
        model = self._model
        if not isinstance(model, KernelFamily):
            super()._teach_pair(preferred, other, magnitude)
            return
        self._check_budget()
        magnitude = check_magnitude(magnitude, model.bound)
        items = [self._checked(preferred), self._checked(other)]
        for item in items:
            self._introduce(item)
        model.learn_items([self._block(item) for item in items], magnitude)

    def _check_budget(self) -> None:
        if self.budget < 2:
            raise EventError("a pair needs a budget of at least 2 support vectors")

    def _check_pairs(self, pairs: Pairs) -> None:
        """Raise an `EventError` unless all of the pairs can be learned."""
        if isinstance(self._model, KernelFamily):
            self._check_budget()
        else:
            super()._check_pairs(pairs)

    @property
    def weights(self) -> dict[Hashable, float]:
        """The averaged weight of every feature; with a kernel there is none, see `support`."""
        if isinstance(self._model, KernelFamily):
            raise AttributeError("a kernel learner has no weights of features; see support")
        return super().weights

    def _named(self, weights: Array) -> Mapping[Hashable, float]:
        """Weights by feature; none with a kernel, whose coefficients are of support vectors."""
        return {} if isinstance(self._model, KernelFamily) else super()._named(weights)

    def rule(self) -> Rule:
        """What was learned, to score with elsewhere. With a kernel, this copies the support set."""
        return super().rule()._replace(support=self.support)

    @property
    def kernel_width(self) -> float | None:
        """The width of a Gaussian kernel as it is now; None with another, or with none."""
        gaussian = isinstance(self.kernel, Gaussian) and isinstance(self._model, KernelFamily)
        return self._model.support.width if gaussian else None  # type: ignore[attr-defined]

    @property
    def support(self) -> list[tuple[dict[Hashable, float], float]]:
        """The support vectors, oldest slot first, each with its averaged coefficient; none without a kernel."""
        model = self._model
        if not isinstance(model, KernelFamily):
            return []
        names, coefficients = self._vocabulary.names, model.averaged()[0]
        return [
            (dict(zip(names, vector, strict=True)), float(coefficient))
            for vector, coefficient in zip(
                model.support.vectors(len(names)), coefficients, strict=False
            )
        ]
