"""The hypotheses of a voted perceptron: a family of which one member learns."""

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from stream_rank.engine.memory import Memory
from stream_rank.engine.perceptron import pairs, state, voted, voted_kernels
from stream_rank.errors import MergeError
from stream_rank.kernels import Gaussian, Polynomial
from stream_rank.learners.models.family import Family
from stream_rank.learners.models.kernel_family import KernelFamily
from stream_rank.learners.models.model import Learning, column_of
from stream_rank.learners.models.part import Part
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock

__all__ = ["Hypotheses", "KernelHypotheses"]

Array = npt.NDArray[Any]


def _begin(memory: Memory) -> None:
    """Let the first hypothesis learn, which is the only one."""
    sizes = memory["sizes"]
    sizes[voted.CURRENT], sizes[voted.USED] = 0, 1
    memory["correct"][0] = 1


def _check(memory: Memory) -> None:
    """Raise a `ValueError` unless the hypothesis that learns is one of those in use."""
    current, used, most = memory["sizes"][[voted.CURRENT, voted.USED, state.MEMBERS]].tolist()
    if not 0 <= current < used <= most:
        raise ValueError(f"hypothesis {current} of {used}")


class Hypotheses(Family):
    """At most `most` rules that PRank has held."""

    learn_row = staticmethod(voted.learn_hypothesis_row)
    predict_row = staticmethod(voted.predict_hypotheses_row)
    take_few = staticmethod(voted.take_few_hypotheses)
    learn_pair = staticmethod(voted.learn_hypothesis_pair)
    _pairs = staticmethod(pairs.run_hypotheses_pairs)
    _pairs_sparse = staticmethod(pairs.run_hypotheses_pairs_sparse)

    def __init__(self, n_ranks: int, most: int, dtype: str) -> None:
        super().__init__(n_ranks, most, state.WEIGHTED, dtype)
        _begin(self.memory)

    def resume(self) -> None:
        """Check that the hypothesis that learns is one of those in use."""
        super().resume()
        _check(self.memory)

    def merge(self, parts: Sequence[Part]) -> None:
        """Refuse: hypotheses of different pasts have no number in common."""
        raise MergeError("the rules of its past vote, and no two streams have such rules in common")

    def run(
        self, rows: DenseBlock | SparseBlock, answers: Array, predictions: Array, learning: Learning
    ) -> None:
        """Predict rows, each before it is learned if `learning`."""
        learned = column_of(learning, len(answers))
        if isinstance(rows, SparseBlock):
            voted.run_hypotheses_sparse(
                self.block, rows.starts, rows.slots, rows.values, answers, predictions, learned
            )
        else:
            voted.run_hypotheses(self.block, rows.rows, answers, predictions, learned)


class KernelHypotheses(KernelFamily):
    """At most `most` rules over the kernel values of at most `budget` support vectors."""

    _run = staticmethod(voted_kernels.run_hypotheses_kernel)
    _run_pairs = staticmethod(voted_kernels.run_hypotheses_pairs_kernel)

    def __init__(
        self,
        n_ranks: int,
        most: int,
        dtype: str,
        kernel: Polynomial | Gaussian,
        budget: int,
        merging: bool,
    ) -> None:
        super().__init__(n_ranks, most, state.WEIGHTED, dtype, 0, 1.0, kernel, budget, merging)
        _begin(self.memory)

    def resume(self) -> None:
        """Check that the hypothesis that learns is one of those in use."""
        super().resume()
        _check(self.memory)
