"""Features by the hashes of their names."""

import hashlib
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from stream_rank.engine.preparation.hashing import hash_entries
from stream_rank.features.feature_stage import FeatureStage
from stream_rank.learners.base.state import State
from stream_rank.learners.tables.blocks import SparseBlock
from stream_rank.learners.tables.rows import Rows
from stream_rank.parameters import check_whole, key_of

__all__ = ["FeatureHasher"]

Array = npt.NDArray[Any]

_MOST_BITS = 24


class FeatureHasher(FeatureStage):
    """Sums of features in `2 ** bits` buckets, which the hashes of their names choose: no more weights than that are learned.

    Bucket and sign of a feature depend on its name and the seed alone, on every machine. Features that share a bucket are learned as
    one; as often as not they have opposite signs, so that inner products are right in the mean. The stage keeps no names:
    its memory is four bytes a bucket, however many names come.

    In a replay and in the daemon the names are those of the index: `max_features` and `expire_after` say which are known at a time. What
    a bucket has learned stays when a feature gives its place to another.

    Cost: some ten nanoseconds a feature, and a microsecond for a name that is new to a table.

    Parameters
    ----------
    bits
        The logarithm of the number of buckets.
    seed
        Another one chooses other buckets.

    References
    ----------
    K. Weinberger, A. Dasgupta, J. Langford, A. Smola and J. Attenberg. Feature hashing for large scale multitask learning.
    ICML 2009.

    Examples
    --------
    >>> from stream_rank import FeatureHasher
    >>> FeatureHasher(bits=4).transform_one({"user": "ann", "item": "x", "price": 3.0})
    {'hash_01': 1.0, 'hash_10': 3.0, 'hash_14': 1.0}
    """

    def __init__(self, bits: int = 18, seed: int = 1) -> None:
        check_whole("bits", bits)
        if bits > _MOST_BITS:
            raise ValueError(f"bits must be at most {_MOST_BITS}, not {bits!r}")
        if seed is None:
            raise ValueError("seed must be a whole number: buckets are the same in every run")
        self.bits = bits
        self.seed = seed
        super().__init__()
        self._key = (key_of(seed) % 2**64).to_bytes(8, "little")
        self._place_of: Array = np.full(1 << bits, -1, np.int32)
        self._digits = len(str((1 << bits) - 1))
        self._buckets: list[int] = []
        """The buckets that learned events had, by slot going out; and what they are called."""
        self._names: list[str] = []
        self._follow(())

    def _follow(self, names: Sequence[Hashable]) -> None:
        """Begin with the hashes of another stream's names."""
        self._stream = names
        self._hashes: Array = np.empty(0, np.uint64)

    def _hash(self, names: Sequence[Hashable]) -> None:
        """Hash each name of a stream, to which names are only ever appended, once."""
        if names is not self._stream:
            self._follow(names)
        known = len(self._hashes)
        if len(names) > known:
            fresh = [self.hash_of(name) for name in names[known:]]
            self._hashes = np.concatenate([self._hashes, np.array(fresh, np.uint64)])

    def hash_of(self, name: Hashable) -> int:
        """The 64 bits that say of a name its bucket, by the upper ones, and its sign, by the last: 1 is plus."""
        text = f"{type(name).__qualname__}/{name!r}"  # 1 and 1.0 are the same to a dict
        data = text.encode(errors="surrogatepass")
        return int.from_bytes(
            hashlib.blake2b(data, digest_size=8, key=self._key).digest(), "little"
        )

    def rule(self) -> dict[str, Any]:
        """The number of bits and the key of the hash."""
        return {"bits": self.bits, "hash": "blake2b", "key": self._key.hex()}

    # Columns ----------------------------------------------------------------------------------

    def _introduce(self, rows: Rows) -> None:
        """Nothing: names are not kept."""

    def _make_room(self) -> None:
        """Nothing: there are as many buckets as there ever will be."""

    def _where(self, names: Sequence[Hashable]) -> Array | None:
        self._hash(names)
        return None

    def _prepared(
        self, block: SparseBlock, labels: Array, learning: Any, met: Array, events: Array
    ) -> Rows:
        found, fresh, known = self._hashed(block, learning)
        self._buckets += fresh
        self._names += map(self._name_of, fresh)
        return Rows(self._names, *found, known)

    def transformed(self, rows: Rows) -> Rows:
        """The events by bucket, and none learned."""
        return self._unmet(rows.entries(self._where(rows.names)), ())

    def _unmet(self, block: SparseBlock, unknown: Sequence[Hashable]) -> Rows:
        count = len(block.starts) - 1
        found, fresh, _ = self._hashed(block, np.ones(count, np.bool_))
        self._place_of[fresh] = -1
        names = [*self._names, *map(self._name_of, fresh)] if fresh else self._names
        return Rows(names, *found, np.full(count, len(self._names)))

    def _join(self, other: Self, places: Array) -> None:
        fresh = [bucket for bucket in other._buckets if self._place_of[bucket] < 0]
        self._place_of[fresh] = np.arange(len(self._buckets), len(self._buckets) + len(fresh))
        self._buckets += fresh
        self._names += map(self._name_of, fresh)

    def _name_of(self, bucket: int) -> str:
        return f"hash_{bucket:0{self._digits}}"  # in the order of buckets

    def _exchanged(self, names: dict[Hashable, Hashable], slots: Array) -> dict[Hashable, Hashable]:
        self._follow(())  # whose names are others now; what goes out stays
        return {}

    def _hashed(
        self, block: SparseBlock, learning: Any
    ) -> tuple[tuple[Array, Array, Array, Array], list[int], Array]:
        """What goes out: where events begin and end, slots and values; the buckets that are new; and how many are known after each."""
        count, most, before = len(block.starts) - 1, len(block.values), len(self._buckets)
        begins, known = np.empty(count + 1, np.int64), np.empty(count, np.int64)
        fresh, found, sums = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most)
        new = hash_entries(
            *(block.starts, block.slots, block.values, self._hashes, self.bits),
            *(learning, self._place_of, before, fresh, known, begins, found, sums),
        )
        end = int(begins[-1])
        return (begins[:-1], begins[1:], found[:end], sums[:end]), fresh[:new].tolist(), known

    # Its state --------------------------------------------------------------------------------

    def _described(self) -> dict[str, Any]:
        return {"outputs": len(self._buckets)}

    def _restore(self, state: State) -> None:
        buckets = state.arrays["buckets"]
        count = int(state.metadata["outputs"])
        if buckets.dtype != np.int64 or buckets.shape != (count,):
            raise ValueError("its buckets have another size")
        if count and not (buckets.min() >= 0 and buckets.max() < 1 << self.bits):
            raise ValueError("its buckets are others")
        self._buckets = buckets.tolist()
        self._names = [self._name_of(bucket) for bucket in self._buckets]
        self._place_of[buckets] = np.arange(count)
        if not np.array_equal(self._place_of[buckets], np.arange(count)):
            raise ValueError("a bucket twice")

    def _arrays(self) -> dict[str, Array]:
        return {"buckets": np.array(self._buckets, np.int64)}
