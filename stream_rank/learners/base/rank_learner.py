"""The base class of the learners of ranks."""

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self, cast

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from river import base

from stream_rank.errors import LabelError, MergeError
from stream_rank.learners.base.capabilities import Insight, Rule
from stream_rank.learners.base.labels import Labels, label_column
from stream_rank.learners.base.learner import Features, Learner, check_dtype, like_input
from stream_rank.learners.base.serialization import entries
from stream_rank.learners.models.model import RankModel
from stream_rank.learners.models.part import Part
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.table import Table

__all__ = ["RankLearner"]

Array = npt.NDArray[Any]


class RankLearner(Learner, base.MiniBatchClassifier):
    """A classifier over ordered labels: weights, and thresholds that cut the scores into ranks.

    `learn_many` is `learn_one` in a loop, to the bit; so is `test_then_train` of `predict_one` and
    `learn_one`. A batch with a number or a label that cannot be learned is refused whole.

    A learner must not be used by two threads at once, not even to predict: predictions write scratch memory.
    """

    _model: RankModel
    finds_items: ClassVar[bool] = False
    """Whether `learn_some` takes `watched`."""
    asks_what_it_learns: ClassVar[bool] = False
    """Whether `learn_some` gives probabilities of the rows that it learns too, as they were before."""
    _exact: ClassVar[bool] = True
    """Whether predictions follow the averaged rule."""

    def __init__(self, n_ranks: int | None, dtype: str) -> None:
        self.n_ranks = n_ranks
        self.dtype = check_dtype(dtype)
        self._labels = Labels(n_ranks)
        self._model = self._new_model(max(1, len(self._labels.known)))
        super().__init__()

    def _new_model(self, n_ranks: int) -> RankModel:
        raise NotImplementedError

    # One event ------------------------------------------------------------------------------

    def learn_one(self, x: Features, y: Any) -> None:
        """Learn one event; a `ValueError` leaves the learner as it was."""
        try:
            rank = self._labels.rank_of[y]
        except (KeyError, TypeError):
            rank = self._discover(x, y)
        seat = self._seat(x, learning=True)
        model = self._model
        if seat is None:
            if not model.learn_row(model.block, rank, model.bound):
                raise self._refuse(x)
        elif isinstance(seat, int):
            if not model.take_few(model.block, seat, rank, model.bound, True):
                raise self._refuse(x)
        else:
            model.run(seat, np.array([rank]), np.empty(1, np.int64), True)

    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        """The label of an event; None as long as no label is known."""
        if not self._labels.known:
            return None
        seat = self._seat(x, learning=False)
        model = self._model
        if seat is None:
            rank = model.predict_row(model.block, model.bound)
        elif isinstance(seat, int):
            rank = model.take_few(model.block, seat, 0, model.bound, False)
        else:
            ranks = np.empty(1, np.int64)
            model.run(seat, ranks, ranks, False)
            rank = int(ranks[0])
        if rank == 0:
            raise self._refuse(x)
        return self._labels.known[rank - 1]

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        """Each label's share of the votes; the same for all until the first mistake."""
        shares = self._even_at_first(self._ballots(x)[0])
        return dict(zip(self._labels.known, shares.tolist(), strict=False))

    def utility_one(self, x: Features) -> float:
        """The score of an event by the averaged rule: what the thresholds are compared with."""
        return self._ballots(x)[1]

    def utility_many(self, X: Any) -> Any:
        """The scores of rows by the averaged rule; the higher, the better the rank."""
        table, _, scores = self._all_ballots(X)
        return like_input(scores, table)

    def _ballots(self, x: Features) -> tuple[Array, float]:
        """Each rank's share of the votes for an event, and its score."""
        block = self._alone(self._checked(x))
        shares, scores = np.empty((1, self._model.n_ranks)), np.empty(1)
        self._model.opinions(block, shares, scores)
        return shares[0], float(scores[0])

    def _even_at_first(self, shares: Array) -> Array:
        """Equal shares before the first mistake: all members vote for one rank then, which is no confidence."""
        return np.full_like(shares, 1 / shares.shape[-1]) if self._model.updates == 0 else shares

    def _discover(self, x: Features, y: Any) -> int:
        """The rank of a label seen for the first time, once its event is known to be usable."""
        self._labels.check(y)
        self._checked(x)
        self._insert(y)
        return self._labels.rank_of[y]

    def _insert(self, label: Any) -> None:
        first = not self._labels.known
        place = self._labels.insert(label)
        if not first:
            self._model.insert_rank(place)
            self._make_room(0)

    def _parts(self, others: Sequence[Self]) -> list[Part]:
        """The models, after each discovered the labels that only others know, in their order."""
        union = Labels(self.n_ranks)
        for number, each in enumerate([self, *others], 1):
            for label in each.labels:
                try:
                    union.check(label)
                except LabelError as error:
                    raise MergeError(
                        f"learner {number} knows labels of another kind: {error}"
                    ) from None
                if label not in union.rank_of:
                    union.insert(label)
        for each in (self, *others):
            for label in union.known:
                if label not in each._labels.rank_of:  # noqa: SLF001 - of its own class
                    each._insert(label)  # noqa: SLF001
        return super()._parts(others)

    # Many events ----------------------------------------------------------------------------

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a data frame, array or CSR matrix, one after the other."""
        self._run_many(X, y)

    def test_then_train(self, X: Any, y: Any) -> Any:
        """Predict each row, then learn it; the predictions. None for rows before the first label."""
        table, predictions = self._run_many(X, y)
        return like_input(predictions, table, getattr(y, "name", None))

    def learn_some(
        self,
        rows: Rows,
        y: Array,
        learning: npt.NDArray[np.bool_],
        group: Any = None,
        shares: Array | None = None,
        watched: Any = None,
    ) -> Array:
        """Predict all rows of a stream, and learn some, each after its prediction; all labels must be known.

        A learner that `gives_probabilities` leaves those of the rows that are not learned in `shares`; one that `asks_what_it_learns`,
        those of all rows, as before they were learned. One that `finds_items` counts in `watched` what users liked next.
        """
        if self._model.always_blocks and not rows.all_met(self._vocabulary):
            return self._learn_runs(rows, y, learning, group)
        labels: Any = y if learning.all() else np.where(learning, y, 1)
        ranks = self._labels.ranks(labels)
        if not rows.all_met(self._vocabulary):
            self._meet(rows.chosen(np.flatnonzero(learning)))
        given = rows, 0, len(rows), ranks, learning, shares, watched
        return self._labels.of(self._run_rows(*given))

    def predict_many(self, X: Any) -> Any:
        """The labels of rows, none of them learned."""
        table = self._open(X)
        return like_input(self._predict_rows(table, 0, len(table)), table)

    def predict_proba_many(self, X: Any) -> Any:
        """Each label's share of the votes for rows: a data frame for a data frame, else an array."""
        table, shares, _ = self._all_ballots(X)
        shares = self._even_at_first(shares)[:, : len(self._labels.known)]
        if table.native is None:
            return shares
        frame = nw.from_native(table.native, eager_only=True)
        if not frame.implementation.is_pandas_like():
            columns = {str(label): shares[:, i] for i, label in enumerate(self._labels.known)}
            return nw.from_dict(columns, backend=frame.implementation).to_native()
        return type(table.native)(shares, index=table.native.index, columns=self._labels.known)

    def _all_ballots(self, X: Any) -> tuple[Table, Array, Array]:
        """Each rank's share of the votes for every row, and the rows' scores."""
        table = self._open(X)
        shares = np.empty((len(table), self._model.n_ranks))
        scores = np.empty(len(table))
        for block in self._table_blocks(table, 0, len(table)):
            rows = slice(block.first, block.end)
            self._model.opinions(block, shares[rows], scores[rows])
        return table, shares, scores

    def _run_many(self, X: Any, y: Any) -> tuple[Table, Array]:
        """Predict and learn the rows; the table and the predictions."""
        table = self._open(X)
        column = label_column(y, len(table))
        new = self._labels.new_in(column)
        self._meet(table)
        ends = [*new, len(table)]
        ranks = self._labels.ranks(column[: ends[0]])
        parts = [self._labels.of(self._learn_rows(table, 0, ends[0], ranks))] if ends[0] else []
        for first, end in pairwise(ends):
            parts.append(self._predict_rows(table, first, first + 1))  # before its label is known
            self._insert(column[first])
            learned = self._learn_rows(table, first, end, self._labels.ranks(column[first:end]))
            parts.append(self._labels.of(learned[1:]))
        return table, _joined(parts)

    def _learn_rows(self, table: Table, first: int, end: int, ranks: Array) -> Array:
        """Learn some rows; the ranks that were predicted."""
        return self._run_rows(table, first, end, ranks, np.ones(end - first, np.bool_))

    def _run_rows(
        self,
        table: Table,
        first: int,
        end: int,
        ranks: Array,
        learning: npt.NDArray[np.bool_],
        shares: Array | None = None,
        watched: Any = None,
    ) -> Array:
        """Predict some rows, and learn those that `learning` says; the ranks that were predicted."""
        predictions, model = np.empty(end - first, np.int64), cast(Any, self._model)
        for block in self._table_blocks(table, first, end):
            rows = slice(block.first - first, block.end - first)
            given = block, ranks[rows], predictions[rows], learning[rows]
            if shares is None:
                model.run(*given)
            elif watched is not None:
                some = watched._replace(asking=watched.asking[rows])
                model.run_and_ask(*given, shares[rows], some)
            else:
                model.run_and_ask(*given, shares[rows])
        return predictions

    def _predict_rows(self, table: Table, first: int, end: int) -> Array:
        """The labels of some rows, None as long as no label is known."""
        if not self._labels.known:
            return np.full(end - first, None)
        ranks = np.empty(end - first, np.int64)
        for block in self._table_blocks(table, first, end):
            rows = slice(block.first - first, block.end - first)
            self._model.run(block, ranks[rows], ranks[rows], False)
        return self._labels.of(ranks)

    # The rule -------------------------------------------------------------------------------

    @property
    def weights(self) -> dict[Hashable, float]:
        """The averaged weight of every feature."""
        return dict(self._named(self._model.averaged()[0]))

    @property
    def thresholds(self) -> list[float]:
        """The averaged thresholds, ascending, one between any two neighbouring labels."""
        _, thresholds = self._model.averaged()
        return [float(threshold) for threshold in thresholds]

    @property
    def labels(self) -> list[Any]:
        """The labels known, in their order."""
        return list(self._labels.known)

    # What it tells about itself -------------------------------------------------------------

    @property
    def predicts(self) -> Literal["ranks", "scores"]:
        """Ranks."""
        return "ranks"

    @property
    def n_updates(self) -> int:
        """The number of members' mistakes, each of which moved one."""
        return self._model.updates

    def _plain_rule(self) -> Rule:
        weights, thresholds = self._model.averaged()
        return Rule(self._named(weights), thresholds.tolist(), 0.0, self._exact, [], self.labels)

    def insight(self, X: Any = None) -> Insight:
        """What is to be seen of it, by the events of a table if one is given; it stays as it is."""
        seen = super().insight()
        if X is None or not seen.labels:
            return seen
        _, shares, scores = self._all_ballots(X)
        shares = self._even_at_first(shares)[:, : len(seen.labels)]
        return seen._replace(scores=scores, shares=shares if self.has_votes else None)

    def described(self) -> dict[str, Any]:
        """Its class, parameters, names and labels."""
        known = {} if self._labels.fixed else {"labels": self._labels.described()}
        return {**super().described(), **known}

    def prepare(self, described: Mapping[str, Any]) -> None:
        """Make room in a new learner for these labels and features, and for nothing else."""
        if not self._labels.fixed:
            self._labels.prepare(entries(described, "labels"))
            self._model = self._new_model(max(1, len(self._labels.known)))
        super().prepare(described)

    @property
    def _multiclass(self) -> bool:
        return True


def _joined(parts: list[Array]) -> Array:
    """Predictions in one array, of the labels' own type where all of them are labels."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return np.empty(0, object)
    kinds = {part.dtype.kind for part in parts if len(part)}
    if len(kinds) == 1 and "O" not in kinds:
        return np.concatenate([part for part in parts if len(part)])
    whole = np.empty(sum(map(len, parts)), object)
    at = 0
    for part in parts:
        whole[at : at + len(part)] = part.tolist() if part.dtype.kind in "biufU" else list(part)
        at += len(part)
    return whole
