"""Centred least squares whose regularization grows with the events, solved when it is asked."""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.differences import centre, scatter, scatter_joining, solve
from stream_rank.engine.factors import clear_feature
from stream_rank.engine.memory import Layout, Memory, aligned, padded
from stream_rank.learners.models.centred import Centred
from stream_rank.learners.models.model import Learning, column_of
from stream_rank.learners.models.part import Part
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.pairs import PairBlock

__all__ = ["Scatter"]

Array = npt.NDArray[Any]


class Scatter(Centred):
    """The equations of the weights, solved when a prediction is asked for after learning."""

    calibrated_every = 16

    def __init__(self, trade_off: float, forgetting: float) -> None:
        self._solved = True
        super().__init__(trade_off, forgetting)

    def _layout(self, n_slots: int) -> Layout:
        return scatter.layout(n_slots, self.n_rows)

    def forget(self, slots: Array) -> None:
        """Take features out of the equations: rows and columns become 0, as those of features that never varied."""
        super().forget(slots)
        self.memory["products"][slots] = 0.0
        for slot in slots.tolist():
            clear_feature(self.memory["triangle"], slot)
        self._solved = False

    def _solve(self) -> None:
        """Weights from the equations, if events were learned since."""
        if self._solved:
            return
        n_features = int(self.memory["sizes"][centre.FEATURES])
        parameters = self.memory["parameters"]
        width = padded(n_features, np.float64)
        matrix, factor = (aligned((n_features, width), np.float64) for _ in range(2))
        right, found = aligned((2, width), np.float64)
        which = scatter.equations(self.block, matrix, right)
        ridge = parameters[centre.TOTAL] / (2 * parameters[centre.STRENGTH])
        solve.solve_ridge(matrix[: len(which)], factor[: len(which)], right, found, ridge)
        scatter.answer(self.block, which, found)
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
        learning: Learning,
        groups: Array | None = None,
    ) -> None:
        """Predict rows, each before it is learned as one of its group if `learning`."""
        dense = self.dense(rows)
        groups = np.zeros(len(answers), np.int64) if groups is None else groups
        begin = 0
        for end in [*np.flatnonzero(column_of(learning, len(answers))).tolist(), len(answers)]:
            if begin < len(
                answers
            ):  # those that are not learned, and the next, which is learned after it
                some = slice(begin, end + 1)
                self._solve()
                asked = dense[some], answers[some], groups[some], predictions[some]
                scatter.run(self.block, *asked, False)
            if end < len(answers):
                one = slice(end, end + 1)
                self.absorb(DenseBlock(0, 1, dense[one]), answers[one], groups[one])
            begin = end + 1

    def absorb(self, rows: DenseBlock | SparseBlock, answers: Array, groups: Array) -> None:
        """Learn rows, each as one of its group, without predicting them."""
        scatter.run(self.block, self.dense(rows), answers, groups, np.empty(len(answers)), True)
        self._solved = False

    def run_pairs(
        self,
        pairs: PairBlock,
        magnitudes: Array,
        ahead: Array,
        shares: Array,
        groups: Array | None = None,
    ) -> None:
        """Learn pairs; by how much the preferred were ahead before, where `ahead` is not NaN: for these it is solved."""
        first, second = self.dense(pairs.preferred), self.dense(pairs.other)
        begin = 0
        for end in [*np.flatnonzero(ahead == ahead).tolist(), len(magnitudes)]:
            some, one = slice(begin, end), slice(end, end + 1)
            if end > begin:
                scatter.run_pairs(
                    self.block, first[some], second[some], magnitudes[some], ahead[:0]
                )
                self._solved = False
            if end < len(magnitudes):
                self._solve()
                scatter.run_pairs(self.block, first[one], second[one], magnitudes[one], ahead[one])
            begin = end

    def _join(self, part: Part) -> None:
        scatter_joining.join(self.block, part.model.block, part.places, part.rows)
        self._solved = False

    def resume(self) -> None:
        """Mark the weights as solved: `memories` solves before they are saved."""
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
