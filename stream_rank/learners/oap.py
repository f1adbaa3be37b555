"""What the three learners of the OAP paper share: many PRank members, each on its own sample of the stream."""

import secrets

from stream_rank.kernels import Kernel
from stream_rank.learners.ensemble import Ensemble
from stream_rank.learners.kernelized import Kernelized
from stream_rank.learners.models.family import Family

__all__ = ["OAP"]


class OAP(Kernelized, Ensemble):
    """PRank members that learn an event when their coin comes up; they differ in how they form one rule."""

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
    ) -> None:
        if isinstance(n_members, bool) or not isinstance(n_members, int) or n_members < 1:
            raise ValueError(f"n_members must be a whole number of at least 1, not {n_members!r}")
        if not 0 < sampling <= 1:
            raise ValueError(f"sampling must be a rate above 0 and at most 1, not {sampling!r}")
        self.n_members = n_members
        self.sampling = sampling
        self.seed = seed
        super().__init__(n_ranks, kernel, budget, dtype)

    def _new_model(self, n_ranks: int) -> Family:
        key = secrets.randbits(64) if self.seed is None else self.seed % 2**64
        return self._family(n_ranks, self.n_members, self._rule, key, self.sampling)
