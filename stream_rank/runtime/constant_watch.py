"""Saying once that a learner has become worse than its baseline."""

from collections.abc import Iterable

from stream_rank.evaluation.standing import Standing, complaint

__all__ = ["ConstantWatch"]

_RECOVERED = 0.05
"""The recent skill from which on a learner is better again: one that is level with its baseline would be told of every few minutes."""


class ConstantWatch:
    """Remembers of whom it was said.

    >>> watch = ConstantWatch()
    >>> worse = ("prank", Standing("rank", 2_000, 0.9, 1.5, "median", 1.2, 1.0))
    >>> watch.news([worse])
    ['prank is worse than always answering the median: lately its rank loss is 1.5, and that would have 1']
    >>> watch.news([worse])
    []
    """

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    def news(self, standings: Iterable[tuple[str, Standing]]) -> list[str]:
        """Sentences about learners that are worse than their baseline, and were not before."""
        found = []
        for name, standing in standings:
            key = name, standing.kind
            if standing.worse and key not in self._told:
                self._told.add(key)
                found.append(complaint(name, standing))
            elif (standing.recent_skill or 0.0) > _RECOVERED:
                self._told.discard(key)
        return found
