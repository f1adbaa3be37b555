"""The base class of the models of events centred in their groups."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.differences import centre
from stream_rank.engine.differences.recursion import FADED
from stream_rank.engine.memory import Memory
from stream_rank.engine.products import product
from stream_rank.errors import MergeError
from stream_rank.learners.models.part import AGED, Part
from stream_rank.learners.models.row_model import GroupedRowModel, GroupRows

__all__ = ["Centred"]

Array = npt.NDArray[Any]


class Centred(GroupedRowModel, GroupRows):
    """Running means by group, and what is learned from the deviations from them."""

    bound = 1e25
    """Features and labels up to this size leave every product finite: the factors of a covariance hold ratios of
    features squared, and are squared again. A regularization of at least 1e-12 keeps them so."""

    most_features: float = 10_000
    """With more, an event takes a tenth of a second, and half a gigabyte of memory is not enough."""

    def __init__(self, regularization: float, forgetting: float) -> None:
        super().__init__()
        fading = math.log(1 / forgetting) / math.log(FADED)
        self.memory["parameters"][: centre.TOTAL] = regularization, forgetting, fading

    def resize(self, n_features: int) -> None:
        """Make room for at least so many features, and begin those that are new."""
        super().resize(n_features)
        known = int(self.memory["sizes"][centre.FEATURES])
        if n_features > known:
            self._begin(known, n_features)

    def _begin(self, first: int, end: int) -> None:
        self.memory["sizes"][centre.FEATURES] = end

    def forget(self, slots: Array) -> None:
        """Put weights and means of slots back to 0."""
        super().forget(slots)
        self.memory["means"][:, slots] = 0.0

    @property
    def constant(self) -> float:
        """What is added to the weighted features."""
        means, label_means = self.memory["means"], self.memory["label_means"]
        return float(label_means[0] - product(self.weights(), means[0]))

    @property
    def ratings_of_one_group(self) -> int:
        """How many events were learned if all of them were ratings of the same group, else 0; without forgetting."""
        learned = int(self.memory["sizes"][centre.EVENTS])
        return learned if learned in self.memory["counts"][1:].tolist() else 0

    def merge(self, parts: Sequence[Part]) -> None:
        """Be what one is that learned the events of all parts, but for rounding."""
        if self.memory["parameters"][centre.FORGETTING] < 1.0:
            raise MergeError(AGED)
        self._clear_groups(np.flatnonzero(parts[0].rows < 0))
        for part in parts[1:]:
            if part.model.events:
                self._join(part)

    def _join(self, part: Part) -> None:
        """Learn what another learned, besides what it learned itself."""
        raise NotImplementedError

    def _clear_groups(self, rows: Array) -> None:
        """Let rows be those of groups that never came."""
        for name in ("means", "counts", "label_means", "times"):
            self.memory[name][rows] = 0

    def memories(self) -> dict[str, Memory]:
        """The memories that snapshots keep, by name."""
        return {"centred": self.memory}
