"""How the loss of a learner went along a stream, in equal parts."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.learners.base.serialization import count_in

__all__ = ["LossHistory"]

_MOST = 1_024
_LARGEST = 1e100


class LossHistory:
    """The mean losses of equal parts of a stream: of up to 1,023 parts, each twice as long whenever there would be more.

    A part is so many blocks of predictions, so the parts depend on the predictions alone. What is known of a loss with them, and
    not by its mean alone, is how sure that mean is: `resampling.py`.

    Cost: a few operations a block, 8 KB at most.

    >>> history = LossHistory()
    >>> for loss in range(2_048):
    ...     history.add(float(loss))
    >>> history.losses[:3], len(history.losses), history.blocks_a_part
    ((1.5, 5.5, 9.5), 512, 4)
    """

    def __init__(self) -> None:
        self._means: list[float] = []
        self._sum = 0.0
        self._blocks = 0
        self.blocks_a_part = 1

    @property
    def losses(self) -> tuple[float, ...]:
        """The mean loss of each part."""
        return tuple(self._means)

    def add(self, loss: float) -> None:
        """Add the mean loss of a block; that of a learner that diverged is as large as any."""
        self._sum += loss if loss < _LARGEST else _LARGEST  # also if it is NaN
        self._blocks += 1
        if self._blocks < self.blocks_a_part:
            return
        self._means.append(self._sum / self.blocks_a_part)
        self._sum, self._blocks = 0.0, 0
        if len(self._means) == _MOST:
            pairs = zip(self._means[::2], self._means[1::2], strict=True)
            self._means = [(one + other) / 2 for one, other in pairs]
            self.blocks_a_part *= 2

    def described(self) -> dict[str, Any]:
        """Its state without the array, as JSON has it."""
        return {"sum": self._sum, "blocks": self._blocks, "blocks_a_part": self.blocks_a_part}

    def array(self) -> npt.NDArray[np.float64]:
        """The losses of the parts."""
        return np.array(self._means, np.float64)

    def restore(self, said: Mapping[str, Any], losses: npt.NDArray[Any]) -> None:
        """Continue from another's state; a `ValueError` if that is none."""
        part, blocks, total = count_in(said, "blocks_a_part"), count_in(said, "blocks"), said["sum"]
        whole = losses.ndim == 1 and losses.dtype == np.float64 and len(losses) < _MOST
        if not (whole and part > blocks and part & (part - 1) == 0 and type(total) is float):
            raise ValueError("the scoreboard's history is none")
        self._means, self._sum, self._blocks = losses.tolist(), total, blocks
        self.blocks_a_part = part
