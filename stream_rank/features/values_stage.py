"""The base class of stages that change values, and neither add nor remove a feature."""

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.memory import aligned
from stream_rank.features.feature_stage import FeatureStage
from stream_rank.learners.tables.blocks import SparseBlock
from stream_rank.learners.tables.dense_rows import DenseRows
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.spare import Spare

__all__ = ["ValuesStage"]

Array = npt.NDArray[Any]


class ValuesStage(FeatureStage):
    """A stage of which every feature that comes in goes out, under the same name."""

    def __init__(self) -> None:
        super().__init__()
        self._room = 0
        self._spare: Array = np.empty((0, 0))
        self._learned = Spare(np.float64)
        self._state = self._fresh(0)

    @abstractmethod
    def _fresh(self, room: int) -> dict[str, Array]:
        """The arrays of its state before any event; the last dimension may be the features."""

    @abstractmethod
    def _run(self, block: SparseBlock, learning: Any, results: Array) -> None:
        """Write the values of entries, each event transformed after it was learned if it is."""

    @abstractmethod
    def _run_dense(self, rows: DenseRows, learning: Any) -> Array:
        """The same for rows of a matrix, as a matrix with a row for each event."""

    def _make_room(self) -> None:
        needed = len(self._vocabulary)
        if needed <= self._room:
            return
        self._room = 2 * needed  # a feature that never came is as spare room is: zeros
        larger = self._fresh(self._room)
        for name, before in self._state.items():
            larger[name][tuple(map(slice, before.shape))] = before
        self._state = larger

    def _exchanged(self, names: dict[Hashable, Hashable], slots: Array) -> dict[Hashable, Hashable]:
        return names

    def _prepared(
        self, block: SparseBlock, labels: Array, learning: Any, met: Array, events: Array
    ) -> Rows:
        # what nobody learns may be asked for while the rows that are learned are still in use
        count = len(block.values)
        results = self._learned.of(count) if learning.any() else np.empty(count)
        self._run(block, learning, results)
        return self._rows(self._vocabulary.names, block, results, met)

    def _matrix(self, n_rows: int, n_columns: int) -> Array:
        """Room for the events of `_run_dense`, used again by the next call: fresh pages cost as much as the work."""
        if self._spare.shape[1] != n_columns or len(self._spare) < n_rows:
            self._spare = aligned((n_rows, n_columns), "float64")
        return self._spare[:n_rows]

    def _prepared_dense(
        self, rows: DenseRows, labels: Array, learning: Any, met: Array
    ) -> DenseRows:
        values = self._run_dense(rows, learning)
        return DenseRows(self._vocabulary.names, values, np.arange(len(rows)), met)

    def _unmet(self, block: SparseBlock, unknown: Sequence[Hashable]) -> Rows:
        names = [*self._vocabulary.names, *unknown]
        count, values = len(block.starts) - 1, np.empty(len(block.values))
        self._run(block, np.zeros(count, np.bool_), values)
        return self._rows(names, block, values, np.full(count, len(self._vocabulary)))

    def _rows(
        self, names: Sequence[Hashable], block: SparseBlock, values: Array, met: Array
    ) -> Rows:
        rows = Rows(names, block.starts[:-1], block.starts[1:], block.slots, values, met)
        rows.packed = block._replace(values=values)
        return rows

    def _arrays(self) -> dict[str, Array]:
        shapes = self._fresh(len(self._vocabulary))
        return {
            name: array[tuple(map(slice, shapes[name].shape))]
            for name, array in self._state.items()
        }
