"""Pairs of two tables: row i of the first is preferred to row i of the second."""

from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.engine.pairs import sparse_differences
from stream_rank.errors import EventError
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.table import Table
from stream_rank.learners.tables.vocabulary import Vocabulary, in_order

__all__ = ["PairBlock", "Pairs"]

Array = npt.NDArray[Any]
Block = DenseBlock | SparseBlock


class PairBlock(NamedTuple):
    """Some pairs: both items have the same first and end, and the same form."""

    preferred: Block
    other: Block

    @property
    def sparse(self) -> bool:
        """Whether the items are sparse events."""
        return isinstance(self.preferred, SparseBlock)

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""
        return self.preferred.end - self.preferred.first

    def rows(self, dtype: str) -> tuple[Array, Array, Array]:
        """For dense items: the rows of both, and scratch for two rows in the precision of the weights."""
        assert isinstance(self.preferred, DenseBlock)
        assert isinstance(self.other, DenseBlock)
        first, second = self.preferred.rows, self.other.rows
        return first, second, np.empty((2, first.shape[1]), dtype)

    def entries(self, dtype: str) -> tuple[Array, ...]:
        """For sparse items: starts, slots and values of both and of their differences, in the precision of the weights."""
        one, two = self.preferred, self.other
        assert isinstance(one, SparseBlock)
        assert isinstance(two, SparseBlock)
        most = len(one.slots) + len(two.slots)
        starts, slots, values = np.empty_like(one.starts), np.empty(most, np.int64), np.empty(most)
        count = sparse_differences(*one[2:], *two[2:], starts, slots, values)
        return (
            *(one.starts, one.slots, one.values.astype(dtype, copy=False)),
            *(two.starts, two.slots, two.values.astype(dtype, copy=False)),
            *(starts, slots[:count], values[:count].astype(dtype, copy=False)),
        )


class Pairs:
    """Preferences: the items as tables, and a magnitude each.

    The items of a stream's preferences are two `Rows` that share names and `met`.
    """

    def __init__(self, preferred: Table, other: Table, magnitudes: Array) -> None:
        self.preferred, self.other, self.magnitudes = preferred, other, magnitudes
        if len(preferred) != len(other):
            raise EventError(f"{len(preferred)} preferred items came with {len(other)} others")
        rows = isinstance(preferred, Rows), isinstance(other, Rows)
        if any(rows) and not (all(rows) and _same_stream(preferred, other)):
            raise EventError("the items of a stream's pairs must share their names")

    def __len__(self) -> int:
        return len(self.magnitudes)

    def dicts(
        self, first: int, end: int
    ) -> Iterator[tuple[dict[Any, float], dict[Any, float], float]]:
        """Pairs `first` to `end` one by one, items with features by name."""
        return zip(
            self.preferred.dicts(first, end),
            self.other.dicts(first, end),
            self.magnitudes[first:end].tolist(),
            strict=True,
        )

    def far_within(self, bound: float) -> bool:
        """Whether the largest entry and magnitude alone keep all differences times `max(1, magnitude)` within a bound. O(entries)."""
        most = bound / (4.0 * max(1.0, float(self.magnitudes.max(initial=1.0))))
        return self.preferred.within(most) and self.other.within(most)

    def newcomers(self, vocabulary: Vocabulary, apart: bool) -> list[tuple[int, Hashable]]:
        """The names without a slot, each with the first pair that has it, in the order of these pairs.

        Names that come with one pair are in the order of names, those of the preferred item first if `apart`.
        """
        if isinstance(self.preferred, Rows):
            preferred = self.preferred
            return (preferred.newcomers_first if apart else preferred.newcomers)(vocabulary)
        first: dict[Hashable, tuple[int, int]] = {}
        for which, table in enumerate((self.preferred, self.other)):
            for row, name in table.newcomers(vocabulary):
                place = row, which if apart else 0
                first[name] = min(place, first.get(name, place))
        return [(first[name][0], name) for name in sorted(in_order(first), key=first.__getitem__)]

    def blocks(
        self, vocabulary: Vocabulary, n_slots: int, dtype: str, first: int, end: int
    ) -> Iterator[PairBlock]:
        """Pairs `first` to `end` as blocks of `n_slots` slots; sparse if both tables are."""
        for one, two in _aligned(
            self.preferred.blocks(vocabulary, n_slots, dtype, first, end),
            self.other.blocks(vocabulary, n_slots, dtype, first, end),
        ):
            if isinstance(one, SparseBlock) and isinstance(two, SparseBlock):
                yield PairBlock(one, two)
            else:
                yield PairBlock(one.dense(n_slots), two.dense(n_slots))

    def all_features(
        self, vocabulary: Vocabulary, dtype: str, first: int, end: int
    ) -> Iterator[PairBlock]:
        """Pairs `first` to `end` as sparse blocks, for models that take only those."""
        for one, two in _aligned(
            self.preferred.all_features(vocabulary, dtype, first, end),
            self.other.all_features(vocabulary, dtype, first, end),
        ):
            yield PairBlock(one, two)


def _same_stream(preferred: Any, other: Any) -> bool:
    names = preferred.names is other.names or preferred.names == other.names
    return names and (preferred.met is other.met or np.array_equal(preferred.met, other.met))


def _aligned(firsts: Iterator[Any], seconds: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
    """The blocks of two tables of one length, cut where either is cut.

    A table may write its next block over the last one, so a block is requested only after the last one was used.
    """
    one, two = next(firsts, None), next(seconds, None)
    while one is not None and two is not None:
        first, end = max(one.first, two.first), min(one.end, two.end)
        yield one.part(first, end), two.part(first, end)
        one = next(firsts, None) if one.end == end else one
        two = next(seconds, None) if two.end == end else two
