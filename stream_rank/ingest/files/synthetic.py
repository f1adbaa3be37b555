"""The synthetic stream of the OAP paper, as a source."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.datasets.oap_blocks import blocks
from stream_rank.ingest.chunk import Columns
from stream_rank.ingest.files.json_rows import as_json
from stream_rank.ingest.position import RowPosition

__all__ = ["Synthetic"]


class Synthetic:
    """The first `events` events of the stream."""

    def __init__(self, events: int, seed: int = 1, features: str = "quadratic") -> None:
        self.name = f"synthetic:{events}"
        self._events, self._seed, self._features = events, seed, features

    def chunks(self, position: RowPosition | None) -> Iterator[Columns | None]:
        """Events from a position on."""
        done, begin = (position.rows if position else 0), 0
        for X, y in blocks(self._seed, self._features):
            end = min(begin + len(y), self._events)
            if end > done:
                some = slice(max(0, done - begin), end - begin)
                yield self._columns(X[some], y[some], max(begin, done))
            begin = end
            if begin >= self._events:
                return

    def _columns(self, X: npt.NDArray[np.float64], y: npt.NDArray[np.int64], begin: int) -> Columns:
        names = [f"x{i}" for i in range(X.shape[1])]
        return Columns(
            features=dict(zip(names, X.T, strict=True)),
            missing={},
            labels=y.astype(np.float64),
            times=None,
            ids=None,
            groups=None,
            wrong={},
            count=len(y),
            raw=lambda i: as_json(names, X[i], int(y[i])),
            position_after=lambda done: RowPosition(begin + done),
            place_of=lambda i: f"{self.name}: event {begin + i + 1}",
        )

    def position_from(self, stored: Any) -> RowPosition:
        """The position stored in a snapshot."""
        return RowPosition.from_json(stored)

    def progress(self, position: RowPosition | None) -> float | None:
        """The share of the events that was read."""
        return (position.rows if position else 0) / self._events
