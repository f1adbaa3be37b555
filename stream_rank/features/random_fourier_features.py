"""Random Fourier features: the Gaussian kernel as a random approximate map."""

import hashlib
from collections.abc import Hashable, Sequence
from math import sqrt
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from stream_rank.engine.memory import aligned
from stream_rank.engine.preparation.lengths import (
    SUMS,
    factors_of,
    factors_of_dense,
    multiply_dense,
)
from stream_rank.engine.preparation.waves import (
    BLOCK,
    draw_normals,
    draw_phases,
    waves,
    waves_dense,
)
from stream_rank.errors import MergeError
from stream_rank.features.adding_stage import Added, AddingStage
from stream_rank.features.looks import Looks
from stream_rank.kernels import Gaussian
from stream_rank.learners.base.serialization import entries
from stream_rank.learners.base.state import State
from stream_rank.learners.tables.blocks import SparseBlock
from stream_rank.learners.tables.dense_rows import DenseRows
from stream_rank.learners.tables.rows import Rows
from stream_rank.parameters import check_number, check_whole, key_of

__all__ = ["RandomFourierFeatures"]

Array = npt.NDArray[Any]


class RandomFourierFeatures(AddingStage):
    """Cosine waves in random directions, whose inner products approximate the Gaussian kernel.

    Wave `i` is `sqrt(2 / D) * cos(w_i.x / width + b_i)` with standard normal `w_i` and uniform `b_i`; the mean of
    the products over many waves is `exp(-|x - z|**2 / (2 * width**2))`, with an error of about
    `1 / sqrt(D)`. What came in is kept beside the waves, divided by the width, so that the rule has a straight part of the same
    size: all in all the kernel is `x.z / width**2` more.

    A feature's share of the directions depends on its name and the seed alone, so features may come
    and go in any order. The waves are the same bits on every machine.

    A wave may look at few fields: of `orders=[1, 2, 3, 0]` the first wave looks at one field, the second at two, the third at three, the
    fourth at all, and so on. (A field is a feature, or all indicators `field=value` of a category.) The kernel is then a sum over
    small groups of fields as well, and what depends on few of many fields is learned from far fewer events. The fields among which a wave
    has its own are those of the first event; later ones join it by chance.

    Cost: O(d * n_components) an event, and a third of a nanosecond for each wave.

    Parameters
    ----------
    n_components
        The number of waves.
    width
        The kernel's width. None is the root mean square length of the events so far: for features of deviation 1 the square
        root of their number. Put a scaler before.
    narrowing
        What the width is divided by, where it follows the events.
    orders
        At how many fields the waves look, in turn; 0 is all of them. None is all, for all waves.
    max_inputs
        Waves are of so many features, those that were met first: each takes `n_components` numbers. Others are passed on alone.
    keep
        Whether what came in is kept.
    seed
        Any whole number makes the directions repeatable.

    References
    ----------
    A. Rahimi and B. Recht. Random features for large-scale kernel machines. NIPS 2007.

    Examples
    --------
    >>> from stream_rank import RandomFourierFeatures
    >>> stage = RandomFourierFeatures(n_components=2000, width=1.0, keep=False, seed=1)
    >>> near, far = stage.transform_one({"a": 0.1}), stage.transform_one({"a": 3.0})
    >>> round(sum(near[name] * far[name] for name in near), 1)
    0.0
    >>> round(sum(value * value for value in near.values()), 1)
    1.0
    """

    def __init__(
        self,
        n_components: int = 300,
        width: float | None = None,
        keep: bool = True,
        seed: int | None = None,
        narrowing: float = 1.0,
        orders: Sequence[int] | None = None,
        max_inputs: int = 2_000,
    ) -> None:
        check_whole("n_components", n_components)
        if width is not None:
            Gaussian(width)  # the same condition
        self.n_components = n_components
        self.width = width
        check_whole("max_inputs", max_inputs)
        check_number("narrowing", narrowing, 1e-6, 1e6)
        for order in () if orders is None else orders:
            check_whole("orders", order, 0)
        self.keep = keep
        self.seed = seed
        self.narrowing = narrowing
        self.orders = orders
        self.max_inputs = max_inputs
        super().__init__(keep)
        self._lengths = np.zeros(SUMS)
        self._start(key_of(seed))

    def _start(self, key: int) -> None:
        """Draw the phases of a key; directions are drawn when a name comes."""
        self._key = key
        self._phases: Array = np.empty(self.n_components)
        draw_phases(np.uint64(key % 2**64), self._phases)
        self._room = -(-self.n_components // BLOCK) * BLOCK
        self._directions: Array = np.zeros((0, self._room))
        self._spare: Array = np.empty((0, 0))
        self._looks = Looks(key, self.n_components, self.orders)

    def _drawn(self, names: Sequence[Hashable]) -> Array:
        """What features add to each wave's angle, a row for each."""
        found = np.zeros((len(names), self._room))
        for name, row in zip(names, found[:, : self.n_components], strict=True):
            text = f"{type(name).__qualname__}/{name!r}"  # 1 and 1.0 are the same to a dict
            digest = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
            number = np.uint64(int.from_bytes(digest[:8], "little") | 1)
            draw_normals(np.uint64(self._key % 2**64), number, row)
            self._looks.apply(name, row)
        return found

    def _make_room(self) -> None:
        names = self._vocabulary.names[: self.max_inputs]
        known = min(len(self._drawn_for), len(names))
        if len(self._directions) < len(names):
            larger = np.zeros((2 * len(names), self._room))
            larger[:known] = self._directions[:known]
            self._directions = larger
        self._directions[known : len(names)] = self._drawn(names[known:])

    def _join(self, other: Self, places: Array) -> None:
        if self._key != other._key:
            raise MergeError(
                "waves of different seeds have no average: give a seed, the same to all"
            )
        mine, theirs = self._looks.fields, other._looks.fields
        if mine is None and theirs is not None:
            self._looks.choose(theirs)
            names = self._vocabulary.names[: self.max_inputs]
            self._directions[: len(names)] = self._drawn(names)
        elif theirs is not None and mine != theirs:
            raise MergeError(
                "waves that look at few fields chose them among those of the first event, and the first events had different fields"
            )
        if len(self._vocabulary) > self.max_inputs:
            raise MergeError(
                f"waves are of the first max_inputs={self.max_inputs} features, and others came first elsewhere"
            )
        self._lengths += other._lengths
        self._join_outputs(other, places, range(len(other._out_of_added)))

    def _forget(self, slots: Array) -> None:
        names, own = self._vocabulary.names, slots[slots < self.max_inputs]
        self._directions[own] = self._drawn([names[slot] for slot in own.tolist()])

    def _prepared(
        self, block: SparseBlock, labels: Array, learning: Any, met: Array, events: Array
    ) -> Rows:
        if self.orders and self._looks.fields is None and learning.any():
            names = self._vocabulary.names[: self.max_inputs]
            self._looks.choose(names[: int(met[learning.argmax()])])
            self._directions[: len(names)] = self._drawn(names)
        return super()._prepared(block, labels, learning, met, events)

    def _prepared_dense(
        self, rows: DenseRows, labels: Array, learning: Any, met: Array
    ) -> DenseRows | None:
        """Rows with all features, once all that goes out is known: waves side by side, and features around them."""
        width, count = rows.matrix.shape[1], self.n_components
        inputs = np.array(self._out_of_input if self.keep else [], np.int64)
        begin = self._out_of_added[0] if self._out_of_added else -1
        beside = begin >= 0 and self._out_of_added == list(range(begin, begin + count))
        if width > self.max_inputs:
            return None
        known = len(self._out_of_input) == width and len(self._out) == len(inputs) + count
        if not (beside and known) or len(np.unique(inputs)) < len(inputs):
            return None
        factors, found = np.empty(len(rows)), self._matrix(len(rows), len(self._out))
        if self.width is None:
            factors_of_dense(rows.matrix, rows.at, learning, self._lengths, factors)
        else:
            factors[:] = 1.0 / self.width
        multiply_dense(rows.matrix, rows.at, factors, inputs, found)
        narrow = factors if self.width is not None else factors * self.narrowing
        given = narrow, self._directions, self._phases, np.sqrt(2.0 / count)
        waves_dense(rows.matrix, rows.at, *given, np.empty((5, self._room)), begin, found)
        names, reached = self._out.names, np.full(len(rows), len(self._out))
        return DenseRows(names, found, np.arange(len(rows)), reached)

    def _matrix(self, n_rows: int, n_columns: int) -> Array:
        """Room for what goes out, used again by the next call: fresh pages cost as much as the work."""
        if self._spare.shape[1] != n_columns or len(self._spare) < n_rows:
            self._spare = aligned((n_rows, n_columns), "float64")
        return self._spare[:n_rows]

    @property
    def _drawn_for(self) -> list[Hashable]:
        """The names that have directions: all that were met before."""
        return self._vocabulary.names[: len(self._out_of_input)]

    def _added(
        self,
        block: SparseBlock,
        labels: Array,
        learning: Any,
        unknown: Sequence[Hashable] = (),
    ) -> Added:
        directions = self._directions
        if unknown:
            known = directions[: min(len(self._vocabulary), self.max_inputs)]
            directions = np.concatenate(
                [known, self._drawn(unknown[: self.max_inputs - len(known)])]
            )
        n_events, count = len(block.starts) - 1, self.n_components
        found, factors = np.empty((n_events, count)), np.empty(n_events)
        given = block.starts, block.slots, block.values
        if self.width is None:
            factors_of(*given, learning, self._lengths, factors)
        else:
            factors[:] = 1.0 / self.width
        narrow = factors if self.width is not None else factors * self.narrowing
        if len(self._vocabulary) + len(unknown) > self.max_inputs:
            few = block.only(block.slots < self.max_inputs)
            given = few.starts, few.slots, few.values
        more = narrow, directions, self._phases, np.sqrt(2.0 / count), np.empty((5, self._room))
        waves(*given, *more, found)
        fresh: list[tuple[int, int]] = []
        if not self._out_of_added and learning.any():
            first = int(learning.argmax())
            fresh = [(first, number) for number in range(count)]
        starts = np.arange(n_events + 1) * count
        numbers = np.tile(np.arange(count), n_events)
        return Added(starts, numbers, found.reshape(-1), fresh, factors)

    def _name_of(self, number: int) -> Hashable:
        return f"wave_{number:0{len(str(self.n_components - 1))}}"

    def rule(self) -> dict[str, Any]:
        """The directions of every feature, the phases and the width."""
        names, (count, squares) = self.features[: self.max_inputs], self._lengths.tolist()
        width = self.width
        if self.width is None and count:
            width = sqrt(squares / count) / self.narrowing
        return {
            "width": width,
            "amplitude": float(np.sqrt(2.0 / self.n_components)),
            "phases": self._phases.tolist(),
            "directions": {
                str(name): self._directions[slot, : self.n_components].tolist()
                for slot, name in enumerate(names)
            },
        }

    def _described(self) -> dict[str, Any]:
        fields = {"fields": self._looks.fields} if self.orders else {}
        return {**super()._described(), "key": str(self._key), **fields}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self._start(int(state.metadata["key"]))
        if self.orders and state.metadata["fields"] is not None:
            self._looks.choose(entries(state.metadata, "fields"))
        self._directions = self._drawn(self._vocabulary.names[: self.max_inputs])

    def _own_arrays(self) -> dict[str, Array]:
        return {"lengths": self._lengths}
