"""Centred least squares whose regularization grows with the events, solved when it is asked."""

from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine import centre, scatter
from stream_rank.engine.memory import Layout, Memory
from stream_rank.learners.blocks import DenseBlock, SparseBlock
from stream_rank.learners.models.centred import Centred

__all__ = ["Scatter"]

Array = npt.NDArray[Any]


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
        n_features, parameters = (
            int(self.memory["sizes"][centre.FEATURES]),
            self.memory["parameters"],
        )
        matrix, right = np.empty((n_features, n_features)), np.empty(n_features)
        which = scatter.equations(self.block, matrix, right)
        ridge = parameters[centre.TOTAL] / (2 * parameters[centre.REGULARIZATION])
        matrix = np.ascontiguousarray(matrix[: len(which), : len(which)])
        matrix[np.diag_indices(len(which))] += ridge
        scatter.answer(self.block, which, np.linalg.solve(matrix, right[: len(which)]))
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
        if not learning:
            self._solve()
            nothing = np.zeros(len(answers), np.int64)
            scatter.run(self.block, dense, answers, nothing, predictions, False)
            return
        assert groups is not None
        for i in range(len(answers)):
            one = slice(i, i + 1)
            for learn in (False, True):
                self._solve()
                scatter.run(
                    self.block, dense[one], answers[one], groups[one], predictions[one], learn
                )
            self._solved = False

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
