"""The base class of the OAP paper's learners: many PRank members, each on its own sample of the stream."""

from stream_rank.kernels import Kernel
from stream_rank.learners.base.ensemble import Ensemble
from stream_rank.learners.base.kernelized import Kernelized
from stream_rank.learners.models.family import Family
from stream_rank.parameters import check_number, check_whole, key_of

__all__ = ["OAP"]


class OAP(Kernelized, Ensemble):
    """PRank members, each learning an event with probability `sampling`; subclasses differ in how members form one rule."""

    _rule: int

    def __init__(
        self,
        n_ranks: int | None = None,
        n_members: int = 100,
        sampling: float = 0.3,
        seed: int | None = None,
        kernel: Kernel | None = None,
        budget: int = 1000,
        dtype: str = "float64",
        update: str = "perceptron",
        overflow: str = "oldest",
    ) -> None:
        check_whole("n_members", n_members)
        check_number("sampling", sampling, 1e-9, 1.0)
        key_of(seed)
        self.n_members = n_members
        self.sampling = sampling
        self.seed = seed
        super().__init__(n_ranks, kernel, budget, dtype, update, overflow)

    def _new_model(self, n_ranks: int) -> Family:
        key = key_of(self.seed)
        return self._family(n_ranks, self.n_members, self._rule, key, self.sampling)
