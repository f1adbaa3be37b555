"""Events divided by their running root mean square length."""

from math import sqrt
from typing import Any, Self

import numpy as np

from stream_rank.engine.preparation.lengths import SUMS, divide, normalize_dense
from stream_rank.features.values_stage import ValuesStage
from stream_rank.learners.tables.blocks import SparseBlock
from stream_rank.learners.tables.dense_rows import DenseRows

__all__ = ["Normalize"]


class Normalize(ValuesStage):
    """Events divided by the root mean square length of the events so far.

    A perceptron moves its weights by the length of an event and its thresholds by 1; after this stage both are of one size,
    while events keep the differences in length among them.

    Cost: a nanosecond a feature.

    Examples
    --------
    >>> from stream_rank import Normalize
    >>> stage = Normalize()
    >>> stage.learn_one({"a": 3.0, "b": 4.0})
    >>> stage.transform_one({"a": 6.0})
    {'a': 1.2...}
    """

    def rule(self) -> dict[str, Any]:
        """The length by which events are divided."""
        count, squares = self._state["lengths"].tolist()
        return {"length": sqrt(squares / count) if count else None}

    def _join(self, other: Self, places: Any) -> None:
        self._state["lengths"] += other._state["lengths"]

    def _fresh(self, room: int) -> dict[str, Any]:
        return {"lengths": np.zeros(SUMS)}

    def _run(self, block: SparseBlock, learning: Any, results: Any) -> None:
        lengths = self._state["lengths"]
        divide(block.starts, block.slots, block.values, learning, lengths, results)

    def _run_dense(self, rows: DenseRows, learning: Any) -> Any:
        results = self._matrix(len(rows), rows.matrix.shape[1])
        normalize_dense(rows.matrix, rows.at, learning, self._state["lengths"], results)
        return results
