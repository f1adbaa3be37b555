"""The protocol of stages."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Protocol

from stream_rank.codec.batch import Batch

__all__ = ["Stage", "through"]


class Stage(Protocol):
    """What happens to events between decoding and learning.

    A stage gives a batch on: as it is, with other columns, or in several parts. It leaves an event out by giving it
    the kind `SKIPPED`, never by removing it, for positions are counted by events. What it remembers from batch to batch
    is kept in snapshots if it is a `Stateful` too.
    """

    def apply(self, batch: Batch) -> Iterator[Batch]:
        """Give on a batch. What follows a yielded part happens once that part was learned."""


def through(batch: Batch, stages: Iterable[Stage]) -> Iterator[Batch]:
    """A batch after all stages, part by part: a part is learned before the next one is made."""
    batches = iter((batch,))
    for stage in stages:
        batches = chain.from_iterable(map(stage.apply, batches))
    return batches
