"""Many events as columns: the only thing that moves through the pipeline."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.learners.tables.rows import Rows

__all__ = ["REJECTED_FOR", "Batch", "Reject"]

REJECTED_FOR = ("unreadable", "schema", "feature", "label", "unmatched")
"""Kinds of rejects: no JSON or too long; no event; a feature or a label that cannot be; a label that nobody waits for."""


class Reject(NamedTuple):
    """A record that could not be learned from."""

    record: int
    """Which of the chunk's records it is."""
    reason: str
    raw: bytes
    kind: str = "schema"
    """One of `REJECTED_FOR`."""


@dataclass(frozen=True)
class Batch:
    """Events of all kinds, in the order of their records.

    The labels of requests are NaN, those of preferences their magnitudes; the rows of labels and preferences are
    empty, for the former have no features and the latter have two items.
    """

    kinds: npt.NDArray[np.int8]
    records: npt.NDArray[np.int64]
    rows: Rows
    labels: npt.NDArray[np.float64]
    times: npt.NDArray[np.int64]
    ids: dict[int, Any]
    """Ids by event, of those events whose id somebody may ask for."""
    groups: list[Any] | None
    pairs: dict[int, tuple[dict[Any, float], dict[Any, float]]]
    """The items of preferences, by event."""
    strange: dict[int, dict[Any, float]]
    """Requests, by event, with features that nobody knows: to kernels they count, and rows do not have them."""
    rejects: list[Reject]
    n_records: int
    """How many records were events or rejects; blank lines are neither."""

    def __len__(self) -> int:
        return len(self.kinds)
