"""The protocol of models: what learners expect of them."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from stream_rank.engine.memory import Memory
from stream_rank.learners.models.part import Part
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.pairs import PairBlock

__all__ = ["GroupedModel", "Learning", "Model", "RankModel", "column_of", "takes_no_entries"]

Array = npt.NDArray[Any]
Learning = bool | npt.NDArray[np.bool_]
"""Whether rows are learned after they were predicted: all of them or none, or a column that says which."""

_AT_ONCE = 4_096
_COLUMNS = np.zeros((2, _AT_ONCE), np.bool_)
_COLUMNS[1] = True


def column_of(learning: Learning, count: int) -> npt.NDArray[np.bool_]:
    """Which of so many rows are learned."""
    if isinstance(learning, bool):
        if count <= _AT_ONCE:  # made once: for single events it would cost more than learning
            return _COLUMNS[int(learning), :count]
        return np.full(count, learning)
    return learning


def takes_no_entries(block: Array, count: int, answer: Any, bound: float, learning: bool) -> Any:
    """The `take_few` of models that have no `few`: nobody calls it."""
    raise NotImplementedError


class Model(Protocol):
    """Memory, and functions of the engine that learn and predict with it.

    The functions for one event take the memory's block as their first argument; the event itself was
    written to `row` before.
    """

    dtype: str
    bound: float
    block: Array
    row: Array
    """Where the features of a single event are written, one number a slot."""
    few: Array | None
    """Where the entries of a single event that has few of the features are written, slots and then values, or None where the model takes
    rows and blocks alone."""
    n_slots: int
    always_blocks: bool
    """Whether single events come as sparse blocks too, with slots for features that are not known."""
    calibrated_every: int
    """Of how many pairs one calibrates probabilities: more than 1 where it is expensive to ask for scores."""
    apart: bool
    """Whether the features that a pair brings take their slots item by item."""
    longest: float
    """The largest sum of squares of an event that is accepted."""
    most_features: float
    """How many features the model takes."""

    @property
    def events(self) -> int:
        """Events learned."""

    def resize(self, n_features: int) -> None:
        """Make room for at least so many features."""

    def forget(self, slots: Array) -> None:
        """Be as if the features in these slots had never been other than 0, as far as what is kept tells."""

    def learn_row(self, block: Array, answer: Any, bound: float) -> bool:
        """Learn the event in `row`; False, and nothing learned, if a number is beyond `bound`."""

    def predict_row(self, block: Array, bound: float) -> Any:
        """The prediction for the event in `row`, or rank 0 or a score of NaN if a number is beyond `bound`."""

    def take_few(self, block: Array, count: int, answer: Any, bound: float, learning: bool) -> Any:
        """The prediction for the event in `few`, as of `predict_row`, and then learn it if `learning`; of models that have `few`."""

    def learn_pair(self, block: Array, magnitude: float, bound: float) -> bool:
        """Learn the pair whose difference is in `row`, under the same condition."""

    def run(
        self, rows: DenseBlock | SparseBlock, answers: Array, predictions: Array, learning: Learning
    ) -> None:
        """Predict rows, each before it is learned if `learning`, or its entry of it, says so."""

    def run_pairs(self, pairs: PairBlock, magnitudes: Array, ahead: Array, shares: Array) -> None:
        """Learn pairs; by how much the preferred were ahead before, and the share of members who had them ahead.

        Nobody asks for what is empty, and where no members vote `shares` are left alone.
        """

    def merge(self, parts: Sequence[Part]) -> None:
        """Be what the parts are together, the first of which it is itself; a `MergeError`, and nothing changed, if they have no average.

        All have the same parameters and ranks, and there is room for all features and groups.
        """

    def memories(self) -> dict[str, Memory]:
        """The memories that snapshots keep, by name."""

    def resume(self) -> None:
        """Recompute what is not in the memories, once these are filled; a `ValueError` if they cannot be of such a model."""


class RankModel(Model, Protocol):
    """A model of ranks: weights, and thresholds that cut scores."""

    @property
    def n_ranks(self) -> int:
        """How many ranks there are."""

    @property
    def updates(self) -> int:
        """What moved it so far: members' mistakes, or events."""

    def insert_rank(self, place: int) -> None:
        """Make room for a new rank above the lowest `place` ranks."""

    def opinions(self, rows: DenseBlock | SparseBlock, shares: Array, scores: Array) -> None:
        """Each rank's share of the votes, or its probability, and the score."""

    def averaged(self) -> tuple[Array, Array]:
        """Weights (one a slot) and thresholds of the rule."""


class GroupedModel(Model, Protocol):
    """A model whose events come in groups, each with a row of its own."""

    def make_groups(self, n_rows: int) -> bool:
        """Make room for rows up to, and without, `n_rows`; whether the memory moved."""

    def learn_row(self, block: Array, answer: Any, group: int, bound: float) -> bool:  # type: ignore[override]
        """Learn the event in `row` as one of its group; False, and nothing learned, if a number is beyond `bound`."""

    def run(
        self,
        rows: DenseBlock | SparseBlock,
        answers: Array,
        predictions: Array,
        learning: Learning,
        groups: Array | None = None,
    ) -> None:
        """Predict rows, each before it is learned as one of its group if `learning`."""

    def absorb(self, rows: DenseBlock | SparseBlock, answers: Array, groups: Array) -> None:
        """Learn rows, each as one of its group, and discard the predictions."""
