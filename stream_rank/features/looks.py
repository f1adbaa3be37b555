"""At which fields random waves look."""

import hashlib
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.preparation.waves import draw_uniforms

__all__ = ["Looks"]

Array = npt.NDArray[Any]


class Looks:
    """The fields of every wave: of the fields that it may choose from, those with the smallest numbers, drawn for field and wave.

    Fields that are none of these have a wave with the same probability as each of these. A wave that looks at m of G fields has
    directions that are longer by `sqrt(G / m)`, so that angles are as wide as with all. Until there is something to choose
    from, waves look at everything.

    >>> looks, row = Looks(1, 4, [1, 0]), np.ones(4)
    >>> looks.choose(["a", "b=x", "b=y", "c", "d"])
    >>> looks.apply("b=z", row)
    >>> looks.fields, row.tolist()
    (['a', 'b', 'c', 'd'], [0.0, 1.0, 0.0, 1.0])
    """

    def __init__(self, key: int, n_waves: int, orders: Sequence[int] | None) -> None:
        self._key = np.uint64(~key % 2**64)  # the directions have numbers of their own
        self._orders = None
        if orders:
            self._orders = np.array([orders[i % len(orders)] for i in range(n_waves)])
        self.fields: list[str] | None = None
        self._chosen: dict[str, Array] = {}

    def choose(self, names: Iterable[Hashable]) -> None:
        """Let every wave choose among the fields of these features."""
        self.fields = sorted({_field_of(name) for name in names})
        if self._orders is None or not self.fields:
            return
        drawn = np.array([self._drawn(field) for field in self.fields])
        places = np.argsort(np.argsort(drawn, axis=0, kind="stable"), axis=0, kind="stable")
        chosen = (places < self._orders) | (self._orders == 0)
        self._chosen = dict(zip(self.fields, chosen, strict=True))

    def apply(self, name: Hashable, directions: Array) -> None:
        """Change what a feature adds to the angles of waves to what it does if they look at its field."""
        if self._orders is None or not self.fields:
            return
        field, count = _field_of(name), len(self.fields)
        orders = np.where(self._orders == 0, count, np.minimum(self._orders, count))
        chosen = self._chosen.get(field)
        if chosen is None:
            chosen = self._drawn(field) * count <= orders
        directions *= np.where(chosen, np.sqrt(count / orders), 0.0)

    def _drawn(self, field: str) -> Array:
        digest = hashlib.sha256(field.encode(errors="surrogatepass")).digest()
        found = np.empty(0 if self._orders is None else len(self._orders))
        draw_uniforms(self._key, np.uint64(int.from_bytes(digest[:8], "little") | 1), found)
        return found


def _field_of(name: Hashable) -> str:
    """What a feature is of: itself, or the category that it is a value of."""
    return str(name).partition("=")[0]
