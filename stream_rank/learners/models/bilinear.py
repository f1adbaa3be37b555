"""A belief about users, items, features and ordered thresholds."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.bilinear import choosing, entry, state
from stream_rank.engine.memory import Layout, Memory
from stream_rank.errors import MergeError
from stream_rank.learners.models.part import Part
from stream_rank.learners.models.probable_rows import ProbableRows
from stream_rank.learners.models.thresholds import (
    FIRST_TIE,
    GAP_VARIANCE,
    MIDDLE_VARIANCE,
    begun,
    check_order,
    split,
)
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.pairs import PairBlock

__all__ = ["Bilinear"]

Array = npt.NDArray[Any]

_SHARPNESS_TOLD = 20.0
"""So much information the prior has of the logarithm of the probabilities' sharpness."""
_BOUND = {"float64": 1e25, "float32": 1e6}
"""Features up to this size leave every product finite: variances are ratios of features squared."""
_OFFSETS, _SCALES, _AGREEMENTS, _MOODS = 1.0, 0.1, 0.05, 0.1
"""Prior variances before anything is known of users and items, in units of the scores' noise: these follow the data from then on."""
_NOT_WATCHED = (np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.bool_))


def _packed(rows: DenseBlock | SparseBlock, dtype: str) -> tuple[Array, Array, Array]:
    """Starts, slots and values of the entries that are not 0."""
    if isinstance(rows, SparseBlock):
        return rows.starts, rows.slots, rows.values.astype(dtype, copy=False)
    events, slots = np.nonzero(rows.rows)
    starts = np.searchsorted(events, np.arange(len(rows.rows) + 1)).astype(np.int64)
    return starts, slots.astype(np.int64), rows.rows[events, slots].astype(dtype, copy=False)


class Bilinear(ProbableRows):
    """Lines of means and variances, one a feature, thresholds, and what all users and items are like."""

    take_few = staticmethod(entry.take_few)

    def __init__(self, n_ranks: int, n_traits: int, drift: float, dtype: str) -> None:
        self._n_ranks, self._n_traits, self.dtype = n_ranks, n_traits, dtype
        self.bound = _BOUND[dtype]
        super().__init__()
        parameters = self.memory["parameters"]
        parameters[state.DRIFT], parameters[state.MOOD_SPREAD] = drift, _MOODS
        parameters[state.MIDDLE_VARIANCE] = MIDDLE_VARIANCE
        parameters[state.TOLD] = _SHARPNESS_TOLD
        parameters[state.TIE], parameters[state.TIE_VARIANCE] = FIRST_TIE, GAP_VARIANCE
        prior = self.memory["population"][2]
        prior[[state.USER_OFFSET, state.ITEM_OFFSET]] = _OFFSETS
        # so that the product of both sides' traits has the variance 1
        prior[[state.USER_TRAIT, state.ITEM_TRAIT]] = 1.0 / np.sqrt(n_traits) if n_traits else 0.0
        prior[state.USER_SCALE], prior[state.USER_AGREEMENT] = _SCALES, _AGREEMENTS
        if n_ranks > 1:
            self.memory["sizes"][state.MIDDLE] = (n_ranks - 2) // 2
            self.memory["thresholds"][: n_ranks - 1] = begun(n_ranks)
            self.memory["gap_variances"][: n_ranks - 2] = GAP_VARIANCE

    def _layout(self, n_slots: int) -> Layout:
        return state.layout(self.dtype, n_slots, self._n_ranks, self._n_traits)

    def _keep(self, memory: Memory) -> None:
        super()._keep(memory)
        sizes = memory["sizes"]
        sizes[state.RANKS], sizes[state.TRAITS] = self._n_ranks, self._n_traits
        sizes[state.WIDTH] = memory["beliefs"].shape[1]

    # Features ---------------------------------------------------------------------------------

    @property
    def known(self) -> int:
        """How many features have a role."""
        return int(self.memory["sizes"][state.KNOWN])

    def introduce(self, slots: Array, roles: Array, keys: Array, seed: int) -> None:
        """Give features their roles, and items' traits what their names' keys and the seed say."""
        entry.introduce(self.block, slots, roles, keys, seed)

    def forget(self, slots: Array) -> None:
        """Know nothing of features any more; users and items leave the population."""
        entry.forget(self.block, slots)

    @property
    def roles(self) -> Array:
        """What each feature is of."""
        return self.memory["roles"][: self.known]

    def traits(self) -> tuple[Array, Array]:
        """Means and variances of traits, a row a feature; of what was never learned they are 0."""
        n, at = self._n_traits, state.FIRST_TRAIT
        lines = self.memory["beliefs"][: self.known]
        learned = (self.memory["learned"][: self.known] > 0)[:, None]
        return lines[:, at : at + n] * learned, lines[:, at + n :] * learned

    def numbers(self, which: int) -> tuple[Array, Array]:
        """Means and variances of offsets, moods, scales or agreements."""
        lines = self.memory["beliefs"][: self.known]
        return lines[:, which].copy(), lines[:, which + 1].copy()

    def merge(self, parts: Sequence[Part]) -> None:
        """Refuse: traits are known up to a rotation, another in each."""
        raise MergeError(
            "traits of users and items that were learned apart have no directions in common"
        )

    # Ranks ------------------------------------------------------------------------------------

    @property
    def n_ranks(self) -> int:
        """How many ranks there are."""
        return self._n_ranks

    @property
    def updates(self) -> int:
        """Every event moves the belief."""
        return self.events

    def insert_rank(self, place: int) -> None:
        """Make room for a new rank above the lowest `place` ranks.

        It splits the threshold between its neighbours, from which others move away, or lies one gap beyond the outermost.
        """
        before, middle = self._n_ranks - 1, int(self.memory["sizes"][state.MIDDLE])
        old = self.memory["thresholds"][:before].tolist()
        variances = self.memory["gap_variances"][: max(0, before - 1)].tolist()
        self._n_ranks += 1
        self._keep(self.memory.reshaped(self._layout(self.n_slots)))
        if not old:
            return
        new, gap = split(old, place)
        if place <= middle:
            self.memory["sizes"][state.MIDDLE] = middle + 1
        self.memory["thresholds"][: len(new)] = new
        variances.insert(gap, GAP_VARIANCE)
        self.memory["gap_variances"][: len(variances)] = variances

    def averaged(self) -> tuple[Array, Array]:
        """Offsets (one a slot) and thresholds."""
        offsets = self.memory["beliefs"][:, state.OFFSET].astype(np.float64)
        return offsets, self.memory["thresholds"][: self._n_ranks - 1].copy()

    def resume(self) -> None:
        """Check that thresholds are in order, variances no less than nothing, and every feature has a role that there is."""
        memory, n_thresholds = self.memory, self._n_ranks - 1
        sizes, parameters = memory["sizes"], memory["parameters"]
        check_order(memory["thresholds"][:n_thresholds], int(sizes[state.MIDDLE]))
        if sizes[state.EVENTS] < 0 or (memory["learned"] < 0).any():
            raise ValueError("a number of events is negative")
        lines, first = memory["beliefs"], state.FIRST_TRAIT
        variances = lines[:, 1:first:2], lines[:, first + self._n_traits :]
        if any((each < 0).any() for each in (*variances, memory["gap_variances"])):
            raise ValueError("a variance is negative")
        others = np.delete(parameters, state.SHARPNESS)
        if not ((others >= 0).all() and parameters[[state.TIE, state.TOLD]].min() > 0):
            raise ValueError("a parameter is negative")
        roles = memory["roles"]
        if ((roles < 0) | (roles > state.ITEM_SIDE)).any():
            raise ValueError("a feature of no role")
        if (memory["population"][0] < 0).any():
            raise ValueError("fewer users or items than none")

    # Events -----------------------------------------------------------------------------------

    @staticmethod
    def learn_row(block: Array, answer: Any, bound: float) -> bool:
        """Learn the event in `row`; False, and nothing learned, if a number is beyond `bound`."""
        return bool(entry.take_row(block, answer, bound, True) != 0)

    @staticmethod
    def predict_row(block: Array, bound: float) -> int:
        """The rank of the event in `row`; 0 if a number is beyond `bound`."""
        return int(entry.take_row(block, 0, bound, False))

    def run_and_ask(
        self,
        rows: DenseBlock | SparseBlock,
        answers: Array,
        predictions: Array,
        learning: Array,
        shares: Array,
        watched: Sequence[Array] = _NOT_WATCHED,
    ) -> None:
        """`run`, and each rank's probability, of rows that are learned as before that; of those that are asked for likes are counted."""
        packed, (sums, items, pairs, asking) = _packed(rows, self.dtype), watched
        given = answers, predictions, learning, shares
        entry.run(self.block, *packed, *given, asking, sums, items, pairs)

    def opinions(self, rows: DenseBlock | SparseBlock, shares: Array, scores: Array) -> None:
        """Each rank's probability, and the score."""
        entry.opinions(self.block, *_packed(rows, self.dtype), shares, scores)

    def run_pairs(self, pairs: PairBlock, magnitudes: Array, ahead: Array, shares: Array) -> None:
        """Learn pairs; by how much the preferred were ahead before, unless `ahead` is empty. Nobody votes."""
        one, two = _packed(pairs.preferred, self.dtype), _packed(pairs.other, self.dtype)
        entry.run_pairs(self.block, *one, *two, magnitudes, ahead)

    def learn_pair(self, block: Array, magnitude: float, bound: float) -> bool:
        """Raise: a difference of two items no longer has the user whose items they are; `run_pairs` takes both."""
        raise NotImplementedError

    def choose(
        self, user: SparseBlock, items: SparseBlock, width: float, most: int
    ) -> tuple[Array, Array]:
        """The places and scores of the best items for the user of an event, the best first."""
        places, scores = np.empty(most, np.int64), np.empty(most)
        found = choosing.choose(
            *(self.block, user.slots, user.values.astype(self.dtype, copy=False), items.starts),
            *(items.slots, items.values.astype(self.dtype, copy=False), width, places, scores),
        )
        return places[:found], scores[:found]

    def memories(self) -> dict[str, Memory]:
        """The memories that snapshots keep, by name."""
        return {"bilinear": self.memory}
