"""A stage that keeps some of the events that are learned, for those who look at them again when all is over."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.codec.batch import Batch
from stream_rank.codec.event import Kind
from stream_rank.learners.tables.rows import Rows
from stream_rank.pipeline.loop import within

__all__ = ["EventSample", "Kept"]

Array = npt.NDArray[Any]

_MOST_ENTRIES = 1 << 25
"""Of the features of all that is kept: half a gigabyte."""
_GOLDEN, _FACTORS = 0x9E3779B97F4A7C15, ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


class Kept(NamedTuple):
    """Events of one kind: for each of them its chance, its label, its group, and its features; of a preference two tables of features."""

    chances: Array
    labels: Array
    groups: Array
    tables: tuple[tuple[Array, Array, Array], ...]
    """Where the features of each event begin, and the end of all; their slots; their values."""

    def __len__(self) -> int:
        return len(self.chances)

    @property
    def entries(self) -> int:
        """How many features these are in all."""
        return sum(len(slots) for _, slots, _ in self.tables)


class EventSample:
    """Keeps all ratings and preferences, or, where there are more than `most` of a kind, that many drawn by chance.

    The chance of an event is a hash of the seed and its number, and those with the smallest are kept, so it does not depend on how the
    stream is cut. At most twice as many are in memory.
    """

    def __init__(self, most: int, seed: int) -> None:
        self.most, self._seed = most, seed
        self.met = {"ratings": 0, "preferences": 0}
        self._kept: dict[str, list[Kept]] = {"ratings": [], "preferences": []}
        self._bars: dict[str, Array] = {}
        """The largest chance that is kept, of what was more than enough already."""
        self.lost: str | None = None
        """Why there is no sample, if there is none."""

    def apply(self, batch: Batch) -> Iterator[Batch]:
        """Keep what is drawn, and pass the batch on."""
        if self.lost is None:
            self._take(batch)
        yield batch

    def forget(self, slots: Array) -> None:
        """Others get the slots: what was kept would be read by wrong names."""
        self._drop(
            "features gave their places to others, since there were more than `max_features`"
        )

    def _drop(self, why: str) -> None:
        self.lost = why
        self._kept = {kind: [] for kind in self._kept}

    def _take(self, batch: Batch) -> None:
        kinds = batch.kinds
        rated = np.flatnonzero((kinds == Kind.RATING) | (kinds == Kind.LABEL))
        if len(rated):
            chances = self._chances("ratings", len(rated))
            groups = np.full(len(rated), None) if batch.groups is None else batch.groups[rated]
            self._add("ratings", chances, batch.labels[rated], groups, [batch.rows.chosen(rated)])
        compared = kinds >= Kind.PREFERENCE
        for first, last in _runs(compared):
            while first < last:
                end = within(batch, first, last)
                one, other, magnitudes = batch.events(first, end).preferences()
                chances = self._chances("preferences", len(magnitudes))
                groups = np.full(len(magnitudes), None)
                self._add("preferences", chances, magnitudes, groups, [one, other])
                first = end

    def _chances(self, kind: str, count: int) -> Array:
        """The hashes of the next events."""
        first = self.met[kind]
        self.met[kind] += count
        numbers = np.arange(first, first + count, dtype=np.uint64) + np.uint64(self._seed + 1)
        state = numbers * np.uint64(_GOLDEN)
        for distance, factor in _FACTORS:
            state = (state ^ (state >> np.uint64(distance))) * np.uint64(factor)
        found: Array = state ^ (state >> np.uint64(31))
        return found

    def _add(
        self, kind: str, chances: Array, labels: Array, groups: Array, rows: list[Rows]
    ) -> None:
        if kind in self._bars:
            low = np.flatnonzero(chances < self._bars[kind])
            chances, labels, groups = chances[low], labels[low], groups[low]
            rows = [each.chosen(low) for each in rows]
        tables = tuple(_table(each) for each in rows)
        parts = self._kept[kind]
        parts.append(Kept(chances, labels.copy(), groups.copy(), tables))
        if sum(map(len, parts)) >= 2 * self.most:
            self._kept[kind] = parts = [self._least(parts)]
            self._bars[kind] = parts[0].chances.max()
        if sum(part.entries for each in self._kept.values() for part in each) > _MOST_ENTRIES:
            self._drop(f"so many events have more than {_MOST_ENTRIES:,} features: keep fewer")

    def _least(self, parts: list[Kept]) -> Kept:
        """The events with the smallest chances, in the order of the stream."""
        whole = _joined(parts)
        if len(whole) <= self.most:
            return whole
        smallest = np.argpartition(whole.chances, self.most - 1)[: self.most]
        smallest.sort()
        return Kept(
            whole.chances[smallest],
            whole.labels[smallest],
            whole.groups[smallest],
            tuple(_chosen(table, smallest) for table in whole.tables),
        )

    def kept(self, kind: str) -> Kept | None:
        """The "ratings" or the "preferences" that are kept; None if there are none."""
        parts = self._kept[kind]
        return self._least(parts) if parts else None


def _runs(marked: Array) -> Iterator[tuple[int, int]]:
    """Where runs of marks begin and end."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marked, [False]])))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _table(rows: Rows) -> tuple[Array, Array, Array]:
    """Features in memory of their own."""
    lengths = rows.last - rows.first
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    places = np.arange(starts[-1]) + np.repeat(rows.first - starts[:-1], lengths)
    return starts, rows.slots[places], rows.values[places]


def _chosen(table: tuple[Array, Array, Array], which: Array) -> tuple[Array, Array, Array]:
    starts, slots, values = table
    none = np.zeros(0, np.int64)
    return _table(Rows((), starts[which], starts[which + 1], slots, values, none))


def _joined(parts: list[Kept]) -> Kept:
    """Parts as one."""
    tables = []
    for several in zip(*(part.tables for part in parts), strict=True):
        lengths = np.concatenate([np.diff(starts) for starts, _, _ in several])
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        slots, values = (np.concatenate([each[place] for each in several]) for place in (1, 2))
        tables.append((starts, slots, values))
    chances, labels, groups = (
        np.concatenate([part[place] for part in parts]) for place in range(3)
    )
    return Kept(chances, labels, groups, tuple(tables))
