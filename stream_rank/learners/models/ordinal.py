"""A belief about weights and ordered thresholds."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.factors import clear_feature
from stream_rank.engine.memory import Layout, Memory, padded
from stream_rank.engine.ordinal import joining, state
from stream_rank.engine.ordinal import learning as engine
from stream_rank.errors import MergeError
from stream_rank.learners.models.part import AGED, Part, laid_out
from stream_rank.learners.models.probable_rows import ProbableRows
from stream_rank.learners.models.thresholds import (
    FIRST_TIE,
    GAP_VARIANCE,
    MIDDLE_VARIANCE,
    begun,
    check_order,
    split,
)
from stream_rank.learners.tables.pairs import PairBlock

__all__ = ["Ordinal"]

Array = npt.NDArray[Any]
_CHECKED = (
    *("sizes", "parameters", "thresholds", "gaps", "edge_diagonal", "edge_priors", "diagonal"),
    *("priors", "variances", "clocks"),
)


class Ordinal(ProbableRows):
    """Weights over features, the first `n_full` of which have a full covariance, and thresholds; of two regularizations the likelier leads."""

    bound = 1e25
    """Features up to this size leave every product finite: variances are ratios of features squared."""
    learn_row = staticmethod(engine.learn_row)
    predict_row = staticmethod(engine.predict_row)
    _run, _run_sparse = staticmethod(engine.run), staticmethod(engine.run_sparse)
    _opinions = staticmethod(engine.opinions)
    _opinions_sparse = staticmethod(engine.opinions_sparse)
    take_few = staticmethod(engine.take_few)
    learn_pair = staticmethod(engine.learn_pair)

    def __init__(
        self,
        n_ranks: int,
        regularizations: Sequence[float],
        forgetting: float,
        n_full: int,
        mode: bool,
    ) -> None:
        self._n_ranks, self._n_full = n_ranks, n_full
        self._priors = [1.0 / each for each in regularizations]
        super().__init__()
        self.memory["evidence"][state.RIDING] = len(self._priors) - 1
        for sizes in self._each("sizes"):
            sizes[state.DECISION] = state.MODE if mode else state.MEDIAN
        for parameters, prior in zip(self._each("parameters"), self._priors, strict=True):
            parameters[:] = prior, forgetting, 0.0, FIRST_TIE
        for variances in self._each("edge_diagonal", "edge_priors"):
            variances[state.TIE_EDGE] = GAP_VARIANCE
        if n_ranks > 1:
            self._begin_middle((n_ranks - 2) // 2)
            for thresholds in self._each("thresholds"):
                thresholds[: n_ranks - 1] = begun(n_ranks)
            for gap in range(n_ranks - 2):
                self._begin_gap(gap, state.FIRST_GAP + gap)

    def _layout(self, n_slots: int) -> Layout:
        return state.layout(n_slots, self._n_ranks, self._n_full, len(self._priors) > 1)

    def _each(self, *names: str) -> Iterator[Array]:
        """These sections of the leader, and of the rival if there is room for one."""
        for name in names:
            yield self.memory[name]
            if len(self._priors) > 1:
                yield self.memory[state.rival_s(name)]

    def resize(self, n_features: int) -> None:
        """Make room for at least so many features, and begin those of the full covariance that are new."""
        super().resize(n_features)
        known, end = int(self.memory["sizes"][state.FEATURES]), min(n_features, self._width)
        if end > known:
            engine.begin_features(self.block, known, end, len(self._priors))

    def forget(self, slots: Array) -> None:
        """Know nothing of features any more, and all that was known of the others. Cost: O(d**2) each in the full covariance."""
        for slot in slots[slots < self._width].tolist():
            engine.forget_feature(self.block, slot)
            for triangle in self._each("triangle"):
                clear_feature(triangle, slot)
            for border in self._each("border"):
                border[:, slot] = 0.0
            engine.begin_features(self.block, slot, slot + 1, len(self._priors))
        for section in self._each("weights", "priors", "variances", "clocks"):
            section[slots] = 0

    @property
    def _width(self) -> int:
        return int(self.memory["head"].size)

    def _keep(self, memory: Memory) -> None:
        super()._keep(memory)
        for sizes in self._each("sizes"):
            sizes[state.SLOTS] = self.n_slots
            sizes[state.RANKS] = self._n_ranks
            sizes[state.WIDTH] = self._width
        for corner in self._each("corner"):
            corner[np.diag_indices(len(corner))] = 1.0

    def _begin_middle(self, threshold: int) -> None:
        for sizes in self._each("sizes"):
            sizes[state.MIDDLE] = threshold
        for variances in self._each("edge_diagonal", "edge_priors"):
            variances[state.MIDDLE_EDGE] = MIDDLE_VARIANCE

    def _begin_gap(self, gap: int, edge: int) -> None:
        for gaps in self._each("gaps"):
            gaps[gap] = edge
        for variances in self._each("edge_diagonal", "edge_priors"):
            variances[edge] = GAP_VARIANCE

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
        old = [thresholds[:before].tolist() for thresholds in self._each("thresholds")]
        gaps = self.memory["gaps"][: max(0, before - 1)].tolist()
        self._n_ranks += 1
        self._keep(self.memory.reshaped(self._layout(self.n_slots)))
        if not before:
            self._begin_middle(0)
            return
        gap = 0
        for thresholds, each in zip(self._each("thresholds"), old, strict=True):
            new, gap = split(each, place)
            thresholds[: len(new)] = new
        if place <= middle:
            for sizes in self._each("sizes"):
                sizes[state.MIDDLE] = middle + 1
        gaps.insert(gap, -1)
        for section in self._each("gaps"):
            section[: len(gaps)] = gaps
        self._begin_gap(gap, state.FIRST_GAP + len(gaps) - 1)

    def averaged(self) -> tuple[Array, Array]:
        """Weights (one a slot) and thresholds."""
        return self.memory["weights"].copy(), self.memory["thresholds"][: self._n_ranks - 1].copy()

    def resume(self) -> None:
        """Check that the thresholds are in order, and that every gap has an edge of its own and all variances are positive."""
        for number in range(len(self._priors)):
            self._check({name: [*self._each(name)][number] for name in _CHECKED})
        odds, riding = self.memory["evidence"].tolist()
        if riding not in range(len(self._priors)) or odds > 0:
            raise ValueError("the evidence is not that of a leader and a rival")
        found = [parameters[state.PRIOR] for parameters in self._each("parameters")]
        if sorted(found) != sorted(self._priors):
            raise ValueError("the priors are not those of the parameters")

    def _check(self, belief: dict[str, Array]) -> None:
        sizes, edges = belief["sizes"], state.n_edges(self._n_ranks)
        n_thresholds, parameters = self._n_ranks - 1, belief["parameters"]
        check_order(belief["thresholds"][:n_thresholds], int(sizes[state.MIDDLE]))
        gaps = belief["gaps"][: max(0, n_thresholds - 1)]
        if sorted(gaps.tolist()) != list(range(state.FIRST_GAP, edges)):
            raise ValueError("the gaps do not have an edge each")
        for name in ("edge_diagonal", "edge_priors", "diagonal", "priors", "variances"):
            if not (belief[name] >= 0).all():
                raise ValueError(f"section {name} has a negative variance")
        if not parameters[state.TIE] > 0:
            raise ValueError("the width of ties is not positive")
        clocks, events = belief["clocks"], int(sizes[state.EVENTS])
        if events < 0 or clocks.min() < 0 or clocks.max() > events:
            raise ValueError("the clocks are not those of as many events")
        if not parameters[state.SQUARES] >= 0:
            raise ValueError("the sum of squared lengths is negative")

    def run_pairs(self, pairs: PairBlock, magnitudes: Array, ahead: Array, shares: Array) -> None:
        """Learn pairs; by how much the preferred were ahead before, unless `ahead` is empty. Nobody votes."""
        if pairs.sparse:
            engine.run_pairs_sparse(self.block, *pairs.entries("float64"), magnitudes, ahead)
        else:
            rows = self.dense(pairs.preferred), self.dense(pairs.other)
            engine.run_pairs(self.block, *rows, magnitudes, ahead)

    def merge(self, parts: Sequence[Part]) -> None:
        """Believe what the leaders of all of them were told: precisions add up, less the priors but those of the first that met a feature."""
        if self.memory["parameters"][state.FORGETTING] < 1.0:
            raise MergeError(AGED)
        limit = padded(self._n_full, np.float64) if self._n_full else 0
        for part in parts:
            own = np.arange(len(part.places))
            if ((own < limit) != (part.places < limit)).any():
                raise MergeError(
                    f"the first {limit} features have a covariance, and they are others in each: "
                    "give as many `full_features` as there are, or `precision` = diagonal"
                )
        told = [part for part in parts if part.model is self or part.model.events]
        if len(told) < 2:
            return
        self.memory["evidence"][:] = (
            0.0  # the leader goes on alone: nobody knows what its rival would believe now
        )
        self._merge_variances(told, limit)
        thresholds = Ordinal(self._n_ranks, [1.0], 1.0, 0, False).memory["thresholds"]
        for part in told[1:]:
            scratch = np.zeros((4, thresholds.size))
            beside = part.places, thresholds, FIRST_TIE, scratch
            joining.join(self.block, part.model.block, *beside)

    def _merge_variances(self, parts: Sequence[Part], limit: int) -> None:
        """Merge the weights that have a variance each: one over it adds up too, and so do means by what they were told."""
        beyond = np.arange(self.n_slots) >= limit
        told, weights, priors = (np.zeros(self.n_slots) for _ in range(3))
        for part in parts:
            names = ("priors", "variances", "weights")
            memory = part.model.memory
            prior, variance, weight = (laid_out(memory[name], part, self.n_slots) for name in names)
            known = beyond & (prior > 0)
            more = np.zeros(self.n_slots)
            more[known] = 1.0 / variance[known] - 1.0 / prior[known]
            told += more
            weights += more * weight
            priors = np.where(priors > 0, priors, np.where(known, prior, 0.0))
        new = told > 0
        memory = self.memory
        memory["priors"][beyond] = priors[beyond]
        memory["variances"][beyond] = priors[beyond]
        memory["weights"][new] = weights[new] / told[new]
        memory["variances"][new] = 1.0 / (told[new] + 1.0 / priors[new])

    def memories(self) -> dict[str, Memory]:
        """The memories that snapshots keep, by name."""
        return {"ordinal": self.memory}
