"""Centred least squares whose regularization grows with the events, solved when it is asked."""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.differences import centre, scatter
from stream_rank.engine.memory import Layout, Memory
from stream_rank.learners.models.centred import Centred
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.pairs import PairBlock

__all__ = ["Scatter"]

Array = npt.NDArray[Any]


_DOUBTFUL = 1e-15
"""What is left of a pivot or an eigenvalue, for every row of a matrix with a diagonal of ones, when rounding is all of it."""


def _solve_ridge(matrix: Array, right: Array, ridge: float) -> Array:
    """The weights `(matrix + ridge * I)**-1 right`, for a matrix of products of events.

    Features are brought to one scale first. Where some depend on others, and the ridge is less than the rounding of
    their products, the directions in which nothing was seen are left out: the weights have no part there.
    """
    scale = 1 / np.sqrt(np.diag(matrix) + ridge)
    scaled = scale[:, None] * matrix * scale
    scaled[np.diag_indices(len(scaled))] = 1.0
    right = scale * right
    try:
        pivots = np.diag(np.linalg.cholesky(scaled)) ** 2
        certain = bool((pivots > _DOUBTFUL * len(scaled)).all())
    except np.linalg.LinAlgError:
        certain = False
    if certain:
        solution = np.linalg.solve(scaled, right)
    else:
        sizes, directions = np.linalg.eigh(scaled)
        seen = sizes > _DOUBTFUL * len(scaled)
        directions = directions[:, seen]
        solution = directions @ ((directions.T @ right) / sizes[seen])
    weights: Array = scale * solution
    return weights


class Scatter(Centred):
    """The equations of the weights, solved when a prediction is asked for after learning."""

    def __init__(self, trade_off: float, forgetting: float) -> None:
        self._solved = True
        super().__init__(trade_off, forgetting)

    def _layout(self, n_slots: int) -> Layout:
        return scatter.layout(n_slots, self.n_rows)

    def _solve(self) -> None:
        """Weights from the equations, if events were learned since."""
        if self._solved:
            return
        n_features = int(self.memory["sizes"][centre.FEATURES])
        parameters = self.memory["parameters"]
        matrix, right = np.empty((n_features, n_features)), np.empty(n_features)
        which = scatter.equations(self.block, matrix, right)
        ridge = parameters[centre.TOTAL] / (2 * parameters[centre.STRENGTH])
        weights = _solve_ridge(matrix[: len(which), : len(which)], right[: len(which)], ridge)
        scatter.answer(self.block, which, weights)
        self._solved = True

    def learn_row(self, block: Array, label: float, group: int, bound: float) -> bool:
        """Learn the event in `row` as one of its group; False, and nothing learned, if a number is beyond `bound`."""
        learned = bool(scatter.learn_row(block, label, group, bound))
        self._solved = self._solved and not learned
        return learned

    def learn_pair(self, block: Array, magnitude: float, bound: float) -> bool:
        """Learn the pair whose difference is in `row`."""
        return self.learn_row(block, magnitude, 0, bound)

    def predict_row(self, block: Array, bound: float) -> float:
        """The score of the event in `row`; NaN if a number is beyond `bound`."""
        self._solve()
        return float(scatter.predict_row(block, bound))

    def run(
        self,
        rows: DenseBlock | SparseBlock,
        answers: Array,
        predictions: Array,
        learning: bool,
        groups: Array | None = None,
    ) -> None:
        """Predict rows, each before it is learned as one of its group if `learning`."""
        dense = self.dense(rows)
        groups = np.zeros(len(answers), np.int64) if groups is None else groups
        if not learning:
            self._solve()
            scatter.run(self.block, dense, answers, groups, predictions, False)
            return
        for i in range(len(answers)):
            one = slice(i, i + 1)
            self.run(DenseBlock(0, 1, dense[one]), answers[one], predictions[one], False)
            self.absorb(DenseBlock(0, 1, dense[one]), answers[one], groups[one])

    def absorb(self, rows: DenseBlock | SparseBlock, answers: Array, groups: Array) -> None:
        """Learn rows, each as one of its group, without predicting them."""
        scatter.run(self.block, self.dense(rows), answers, groups, np.empty(len(answers)), True)
        self._solved = False

    def run_pairs(
        self, pairs: PairBlock, magnitudes: Array, ahead: Array, groups: Array | None = None
    ) -> None:
        """Learn pairs; unless `ahead` is empty, by how much the preferred were ahead, for which each is solved for."""
        first, second = self.dense(pairs.preferred), self.dense(pairs.other)
        if not len(ahead):
            scatter.run_pairs(self.block, first, second, magnitudes, ahead)
            self._solved = False
            return
        for i in range(len(ahead)):
            one = slice(i, i + 1)
            self._solve()
            pair = first[one], second[one], magnitudes[one]
            scatter.run_pairs(self.block, *pair, ahead[one])
            scatter.run_pairs(self.block, *pair, ahead[:0])
            self._solved = False

    def resume(self) -> None:
        """Weights were solved for when they were kept."""
        self._solved = True

    def memories(self) -> dict[str, Memory]:
        """All there is to keep, by name."""
        self._solve()
        return super().memories()

    def __getstate__(self) -> dict[str, Any]:
        self._solve()
        return super().__getstate__()

    def weights(self) -> Array:
        """The weights, slot by slot."""
        self._solve()
        return super().weights()
