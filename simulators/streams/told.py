"""Events as they are told, with what the best prediction of each loses; and the least losses of ranks and of preferences."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

__all__ = [
    *("BLOCK", "Stream", "Told", "least_of_outcomes", "least_of_ranks"),
    *("losses_of_answers", "told", "written"),
]

Array = npt.NDArray[Any]

BLOCK = 4096
"""Events that are made together."""


class Told(NamedTuple):
    """Some events."""

    lines: list[str]
    least: dict[str, Array]
    """Of each event: the loss that is expected of the best prediction, by whoever knows the rule and sees what is told; and the
    same of those who know less, by what they know."""


class Stream(Protocol):
    """A stream, whose events depend on its parameters and their numbers alone."""

    loss: str
    """What the loss is called."""
    flags: str
    """What `stream-rank replay` needs to be told, beside the folder."""

    def told(self, first: int, count: int) -> Told:
        """Some events."""


def written(names: Sequence[str], values: Sequence[float]) -> str:
    """Features as JSON, without those that are missing (NaN).

    >>> written(["a", "b", "c"], [0.5, float("nan"), 2.0])
    '{"a": 0.5, "c": 2.0}'
    """
    there = zip(names, values, strict=True)
    return "{" + ", ".join(f'"{name}": {value!r}' for name, value in there if value == value) + "}"


def told(stream: Stream, events: int) -> Iterator[Told]:
    """The first events, in blocks."""
    for first in range(0, events, BLOCK):
        yield stream.told(first, min(BLOCK, events - first))


def least_of_ranks(shares: Array) -> Array:
    """The least expected distance, in ranks, where ranks have these chances (a row for each event).

    >>> least_of_ranks(np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]])).tolist()
    [0.75, 0.0]
    """
    n_ranks = shares.shape[1]
    losses = [
        sum(
            (abs(rank - other) * shares[:, other] for other in range(n_ranks)),
            np.zeros(len(shares)),
        )
        for rank in range(n_ranks)
    ]
    found: Array = np.min(losses, axis=0)
    return found


def losses_of_answers(first: Array, tie: Array, second: Array) -> Array:
    """What is expected to be lost by saying the first, a tie, or the second: a wrong order is 1, and half of it what a tie is, on either side."""
    return np.stack([second + tie / 2, (first + second) / 2, first + tie / 2], axis=1)


def least_of_outcomes(first: Array, tie: Array, second: Array) -> Array:
    """The least of these.

    >>> least_of_outcomes(np.array([0.7, 0.2]), np.array([0.2, 0.6]), np.array([0.1, 0.2])).round(6).tolist()
    [0.2, 0.2]
    """
    found: Array = losses_of_answers(first, tie, second).min(axis=1)
    return found
