"""The protocol of tables, and opening data frames, arrays and sparse matrices as tables."""

from collections.abc import Hashable, Iterator
from typing import Any, Protocol

import numpy as np

from stream_rank.errors import FeatureError
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.dense_table import DenseTable, frame_of
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.sparse_table import SparseTable
from stream_rank.learners.tables.vocabulary import Vocabulary

__all__ = ["Table", "open_table"]


class Table(Protocol):
    """Events as rows."""

    native: Any
    """The data frame that they came as, or None."""

    def __len__(self) -> int:
        """How many events there are."""

    def introduce(self, vocabulary: Vocabulary) -> None:
        """Give slots to features that have none, as if the rows came one by one."""

    def newcomers(self, vocabulary: Vocabulary) -> list[tuple[int, Hashable]]:
        """The features that have no slot, in the order in which they come, each with the first row that has it."""

    def within(self, bound: float) -> bool:
        """Whether no feature is larger than that in size. O(entries)."""

    def dicts(self, first: int, end: int) -> Iterator[dict[Any, float]]:
        """Rows `first` to `end` one by one, features by name."""

    def blocks(
        self, vocabulary: Vocabulary, n_slots: int, dtype: str, first: int, end: int
    ) -> Iterator[DenseBlock | SparseBlock]:
        """Rows `first` to `end`, as blocks of `n_slots` slots; features without a slot are left out."""

    def all_features(
        self, vocabulary: Vocabulary, dtype: str, first: int, end: int
    ) -> Iterator[SparseBlock]:
        """The same as sparse blocks, where features without a slot have slots after the known ones."""


def open_table(X: Any, bound: float, longest: float) -> Table:
    """A table of which every number is at most `bound` in size, and no event's square above `longest`.

    Parameters
    ----------
    X
        A data frame (names are features), an array (column i is feature i), a sparse matrix, or rows of a stream,
        whose numbers were checked when they were read.
    """
    if isinstance(X, Rows):
        return X
    if hasattr(X, "tocsr"):
        return SparseTable(X.tocsr(), bound, longest)
    frame = frame_of(X)
    if frame is not None:
        return DenseTable(*frame, X, bound, longest)
    if np.ma.isMaskedArray(X):
        raise FeatureError("events with masked values: fill them, or leave the columns out")
    values = np.asarray(X)
    if values.ndim != 2:
        raise FeatureError(
            "events must be rows of a table (a data frame, a matrix or a sparse matrix), "
            f"not {type(X).__name__} of shape {values.shape}; for dicts: pandas.DataFrame(events)"
        )
    return DenseTable(values, range(values.shape[1]), None, bound, longest)
