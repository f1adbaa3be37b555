"""Features in deviations from their running mean."""

from typing import Any, Self

from stream_rank.engine.memory import aligned
from stream_rank.engine.preparation.scaling import SUMS, WORDS, scale, scale_dense
from stream_rank.engine.preparation.scaling_joining import join_sums
from stream_rank.features.values_stage import ValuesStage
from stream_rank.learners.tables.blocks import SparseBlock
from stream_rank.learners.tables.dense_rows import DenseRows

__all__ = ["Scale"]


class Scale(ValuesStage):
    """Numbers in deviations from their running mean, cut off at a width; indicators stay as they are.

    A value becomes `(value - mean) / deviation` of the values of that feature so far, and at most `width` in size, so
    that an outlier cannot throw a rule over. A feature that was never anything but 0 or 1 is an indicator. A missing
    feature stays missing, which is the same as its mean.

    Cost: some five nanoseconds a feature.

    Parameters
    ----------
    width
        The most deviations that a value may be from the mean.

    References
    ----------
    B. P. Welford. Note on a method for calculating corrected sums of squares and products. Technometrics 1962.

    Examples
    --------
    >>> from stream_rank import Scale
    >>> stage = Scale()
    >>> for price in (10.0, 20.0, 30.0):
    ...     stage.learn_one({"price": price, "brand": "ann"})
    >>> stage.transform_one({"price": 30.0, "brand": "ann"})
    {'brand=ann': 1.0, 'price': 1.224...}
    """

    def __init__(self, width: float = 5.0) -> None:
        if not width > 0:
            raise ValueError(f"width must be above 0, not {width!r}")
        self.width = width
        super().__init__()

    def rule(self) -> dict[str, Any]:
        """The mean and the deviation of every feature; those of an indicator are 0 and 1, and of a constant there is none."""
        count, mean, _, factor, more = self._arrays()["sums"]
        found: dict[str, Any] = {}
        for slot, name in enumerate(self.features):
            if count[slot] and not more[slot]:
                found[str(name)] = {"mean": 0.0, "deviation": 1.0}
            else:
                deviation = 1.0 / float(factor[slot]) if factor[slot] else None
                found[str(name)] = {"mean": float(mean[slot]), "deviation": deviation}
        return {"width": float(self.width), "features": found}

    def _forget(self, slots: Any) -> None:
        self._state["sums"][:, slots] = 0.0

    def _join(self, other: Self, places: Any) -> None:
        join_sums(self._by_row(), other._arrays()["sums"], places)

    def _fresh(self, room: int) -> dict[str, Any]:
        return {"sums": aligned((WORDS, room), "float64")}

    def _arrays(self) -> dict[str, Any]:
        return {"sums": self._state["sums"][:SUMS, : len(self._vocabulary)]}

    def _by_slot(self) -> Any:
        """The sums, those of a feature together: of sparse events, each feature is elsewhere in memory."""
        sums = self._state["sums"]
        if not sums.flags.f_contiguous:
            self._state["sums"] = aligned(sums.shape[::-1], "float64").T
            self._state["sums"][...] = sums
        return self._state["sums"]

    def _by_row(self) -> Any:
        """The sums, those of neighbouring features together, as dense events have them all."""
        sums = self._state["sums"]
        if not sums.flags.c_contiguous:
            self._state["sums"] = aligned(sums.shape, "float64")
            self._state["sums"][...] = sums
        return self._state["sums"]

    def _run(self, block: SparseBlock, learning: Any, results: Any) -> None:
        sums = self._by_slot()
        scale(
            *(block.starts, block.slots, block.values, learning, sums, float(self.width), results)
        )

    def _run_dense(self, rows: DenseRows, learning: Any) -> Any:
        results = self._matrix(len(rows), rows.matrix.shape[1])
        sums = self._by_row()
        scale_dense(rows.matrix, rows.at, learning, sums, float(self.width), results)
        return results
