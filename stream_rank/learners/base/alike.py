"""Whether learners, or stages, can be merged at all: they are of one class and have the same parameters."""

from collections.abc import Sequence
from typing import Any

from stream_rank.errors import MergeError

__all__ = ["check_alike"]


def check_alike(things: Sequence[Any], what: str) -> None:
    """Raise a `MergeError` about the first that is another thing than the one before all of them.

    >>> from stream_rank import PRank
    >>> check_alike([PRank(), PRank(), PRank(n_ranks=5)], "learner")
    Traceback (most recent call last):
    stream_rank.errors.MergeError: learner 3 has n_ranks=5 and learner 1 n_ranks=None: only equals have an average
    """
    first = things[0]
    for number, other in enumerate(things[1:], 2):
        if type(other) is not type(first):
            raise MergeError(
                f"{what} {number} is a {type(other).__name__} and {what} 1 a {type(first).__name__}: only equals have an average"
            )
        mine, theirs = first.parameters, other.parameters
        for name in dict.fromkeys([*mine, *theirs]):  # some are told only where they differ
            if name not in mine or name not in theirs or mine[name] != theirs[name]:
                raise MergeError(
                    f"{what} {number} has {name}={getattr(other, name)!r} and {what} 1 {name}={getattr(first, name)!r}: "
                    "only equals have an average"
                )
