"""Models that learned apart, as the parts of one."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["AGED", "Part", "laid_out", "shares_of"]

Array = npt.NDArray[Any]

AGED = "with `forgetting` an event counts by how many came after it, and nothing says which of two streams' events came first"
"""Why what forgets has no average."""


class Part(NamedTuple):
    """One of the models that a model is merged of."""

    model: Any
    places: Array
    """The slot in the merged model of each of its features."""
    rows: Array = np.zeros(1, np.int64)
    """Of a model with groups, the row in the merged model of each of its rows; -1 of a group that is not kept."""


def laid_out(array: Array, part: Part, n_slots: int) -> Array:
    """An array by slot (its last dimension) in doubles, as the slots of the merged model have it; 0 for features that are not the part's."""
    found = np.zeros((*array.shape[:-1], n_slots))
    found[..., part.places] = array[..., : len(part.places)]
    return found


def shares_of(rounds: Sequence[Array]) -> list[Array]:
    """The share of each part in every slot, by how many rounds it knows of the slot.

    >>> shares_of([np.array([30.0, 30.0, 0.0]), np.array([10.0, 0.0, 0.0])])
    [array([0.75, 1.  , 0.  ]), array([0.25, 0.  , 0.  ])]
    """
    whole = np.zeros_like(rounds[0])
    for each in rounds:
        whole += each
    most = np.maximum(whole, 1.0)
    return [each / most for each in rounds]
