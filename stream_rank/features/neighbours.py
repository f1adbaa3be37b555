"""What other users gave an item, as features."""

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from river import base

from stream_rank.engine.preparation import neighbours as engine
from stream_rank.errors import MergeError
from stream_rank.features.adding_stage import Added, AddingStage
from stream_rank.learners.base.state import State
from stream_rank.learners.tables.blocks import SparseBlock
from stream_rank.parameters import check_whole

__all__ = ["Neighbours"]

Array = npt.NDArray[Any]

_MOST = 10_000


class Neighbours(AddingStage, base.SupervisedTransformer):
    """Adds `by(user=ann)` for every reference user, ann, who rated the item of the event before: the OAP paper's collaborative filtering, on a live stream.

    References are the first `n` users that come. What they gave is moved so that the middle of all labels so far is 0, and an event's features have
    unit length together; whoever asks is no reference for themselves. It is of the past only: an event is transformed before its
    own label counts. What came in is passed on if `keeps` says so.

    The features are for a learner of one person's ratings (the paper's), or of all, for whom it says whose opinion tells most.
    Where names expire, a reference's place goes to whoever gets its slot.

    Cost: O(n) an event; `9 n` bytes an item that a reference rated.

    Parameters
    ----------
    by
        The names of the features that name users and items.
    n
        How many users are references.
    keeps
        Whether features that come in are passed on.

    References
    ----------
    E. F. Harrington. Online ranking/collaborative filtering using the Perceptron algorithm. ICML 2003, section 4.2.

    Examples
    --------
    >>> from stream_rank import Neighbours
    >>> stage = Neighbours(["user", "item"], n=10)
    >>> for user, item, stars in (("ann", "up", 5), ("bob", "up", 1), ("ann", "heat", 2)):
    ...     stage.learn_one({"user": user, "item": item}, stars)
    >>> stage.transform_one({"user": "cem", "item": "up"})
    {'by(user=ann)': 0.70..., 'by(user=bob)': -0.70...}
    """

    of_labels: ClassVar[bool] = True
    listed: ClassVar[str | None] = "by"

    def __init__(
        self, by: Sequence[str] = ("user", "item"), n: int = 100, keeps: bool = False
    ) -> None:
        if isinstance(by, str) or len(by) != 2 or len(set(by)) < 2:
            raise ValueError(f"by must be the names of users and of items, not {by!r}")
        check_whole("n", n)
        if n > _MOST:
            raise ValueError(f"n must be at most {_MOST:,}, not {n:,}")
        self.by = by
        self.n = n
        self.keeps = keeps
        super().__init__(keeps)
        self._fields: Array = np.empty(0, np.int64)
        self._number_of: Array = np.empty(0, np.int64)
        self._line_of: Array = np.empty(0, np.int64)
        self._counts = np.zeros(2, np.int64)
        self._labels_met = np.zeros(3)
        self._references: Array = np.full(n, -1, np.int64)
        self._seen: Array = np.zeros(n, np.int64)
        self._given: Array = np.zeros((0, n), np.uint8)
        self._stars: Array = np.zeros((0, n))

    @property
    def _supervised(self) -> bool:
        return True

    def _fields_of(self, names: Sequence[Hashable]) -> Array:
        """0 for the name of a user, 1 for that of an item, -1 for other features."""
        places = {f"{field}=": place for place, field in enumerate(self.by)}
        found = ("".join(str(name).partition("=")[:2]) for name in names)
        return np.array([places.get(start, -1) for start in found], np.int64)

    def _make_room(self) -> None:
        before, names = len(self._fields), self._vocabulary.names
        self._fields = np.concatenate([self._fields, self._fields_of(names[before:])])
        new = np.full(len(names) - before, -1, np.int64)
        self._number_of = np.concatenate([self._number_of, new])
        self._line_of = np.concatenate([self._line_of, new])
        self._make_lines()

    def _make_lines(self) -> None:
        """Have a line for every item that may need one."""
        waiting = int(np.count_nonzero((self._fields == 1) & (self._line_of < 0)))
        wanted = int(self._counts[engine.LINES]) + waiting
        if wanted > len(self._given):
            for name in ("_given", "_stars"):
                old = getattr(self, name)
                larger = np.zeros((wanted * 3 // 2, self.n), old.dtype)
                larger[: len(old)] = old
                setattr(self, name, larger)

    def _join(self, other: Self, places: Array) -> None:
        raise MergeError(
            "there is no average behind Neighbours: the references are the first users of its own stream, and others elsewhere"
        )

    def _forget(self, slots: Array) -> None:
        names = self._vocabulary.names
        self._fields[slots] = self._fields_of([names[slot] for slot in slots.tolist()])
        numbers, lines = self._number_of[slots], self._line_of[slots]
        self._given[:, numbers[numbers >= 0]] = 0
        self._given[lines[lines >= 0]] = 0
        self._make_lines()

    def _added_of(self, slots: Array) -> list[int]:
        numbers = self._number_of[slots]
        return [number for number in numbers.tolist() if 0 <= number < len(self._out_of_added)]

    def rule(self) -> dict[str, Any]:
        """The references, and what each gave to items."""
        names = self._vocabulary.names
        owners = np.flatnonzero(self._line_of >= 0).tolist()
        references = self._references[: self._counts[engine.REFERENCES]].tolist()
        given = {
            str(names[slot]): {
                str(names[item]): float(self._stars[self._line_of[item], number])
                for item in owners
                if self._given[self._line_of[item], number]
            }
            for number, slot in enumerate(references)
        }
        middle = float(self._labels_met[engine.LOWEST] + self._labels_met[engine.HIGHEST]) / 2
        return {"by": list(self.by), "middle": middle, "given": given}

    def _added(
        self,
        block: SparseBlock,
        labels: Array,
        learning: Any,
        unknown: Sequence[Hashable] = (),
    ) -> Added:
        count = len(block.starts) - 1
        most = count * min(self.n, int(self._counts[engine.REFERENCES]) + count)
        starts, numbers = np.empty(count + 1, np.int64), np.empty(most, np.int64)
        values, fresh = np.empty(most), np.empty((self.n, 2), np.int64)
        n_fresh = engine.neighbours(
            *(block.starts, block.slots, block.values, self._fields, labels),
            *(learning & ~np.isnan(labels), self._counts, self._labels_met, self._references),
            *(self._number_of, self._line_of, self._given, self._stars, self._seen),
            *(starts, numbers, values, fresh),
        )
        first = [(int(event), int(number)) for event, number in fresh[:n_fresh].tolist()]
        return Added(starts, numbers[: starts[-1]], values[: starts[-1]], first)

    def _name_of(self, number: int) -> Hashable:
        return f"by({self._vocabulary.names[self._references[number]]})"

    # Its state ----------------------------------------------------------------------------------

    def _own_arrays(self) -> dict[str, Array]:
        lines = int(self._counts[engine.LINES])
        return {
            "counts": self._counts,
            "labels": self._labels_met,
            "references": self._references,
            "numbers": self._number_of,
            "lines": self._line_of,
            "seen": self._seen,
            "given": self._given[:lines],
            "stars": self._stars[:lines],
        }

    def _restore(self, state: State) -> None:
        arrays, slots = state.arrays, len(self._vocabulary)
        references, lines = (int(count) for count in arrays["counts"])
        numbers, line_of = arrays["numbers"], arrays["lines"]
        sound = (
            0 <= references <= self.n
            and 0 <= lines <= slots
            and len(numbers) == len(line_of) == slots
            and bool(((numbers >= -1) & (numbers < references)).all())
            and bool(((line_of >= -1) & (line_of < lines)).all())
            and bool((np.diff(np.sort(line_of[line_of >= 0])) > 0).all())
            and bool((numbers[arrays["references"][:references]] == np.arange(references)).all())
            and np.count_nonzero(numbers >= 0) == references
        )
        if not sound:
            raise ValueError("its references do not fit")
        self._counts[:] = arrays["counts"]
        self._references[:references] = arrays["references"][:references]
        self._line_of[:] = line_of
        self._make_lines()
        super()._restore(state)
