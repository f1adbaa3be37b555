"""The protocol of stages, through which batches pass between decoding and learning."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from stream_rank.codec.batch import Batch

__all__ = ["KeepsFeatures", "Stage", "through"]


class Stage(Protocol):
    """A step between decoding and learning.

    A stage passes a batch on unchanged, with other columns, or in several parts. It leaves out an event by setting its
    kind to `SKIPPED`, never by removing it, because positions and counts are derived from the events. What it remembers
    from batch to batch is kept in snapshots if it is a `Stateful` too.
    """

    def apply(self, batch: Batch) -> Iterator[Batch]:
        """Yield a batch, whole or in parts. Code after a `yield` runs once the yielded part was learned."""


@runtime_checkable
class KeepsFeatures(Protocol):
    """A stage that keeps features of events by their slots."""

    def forget(self, slots: npt.NDArray[np.int64]) -> None:
        """Leave the features in slots out of all that is kept: others get the slots."""


def through(batch: Batch, stages: Iterable[Stage]) -> Iterator[Batch]:
    """The parts of a batch after all stages, made lazily: a part is learned before the next one is made."""
    batches = iter((batch,))
    for stage in stages:
        batches = chain.from_iterable(map(stage.apply, batches))
    return batches
