"""A stage that takes away learners that fall behind: successive halving, on a stream that all of them ride on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from stream_rank.codec.batch import Batch
from stream_rank.codec.event import Kind
from stream_rank.evaluation.board import Board

__all__ = ["FIRST_CUT", "Halving"]

FIRST_CUT = 2_000
"""Events after which the worse half of the candidates goes. Half of that many are what they are compared on, and the others what they learn by."""


class Halving:
    """Keeps the better half of the candidates of every search after 2,000 events, of these again the better half after 4,000, and so on.

    Candidates are compared by what they lost on the later half of the stream so far. What is left in the end has learned the whole stream,
    so nothing is learned twice: beside the one that is left, n candidates cost about `1 + log2(n) / 2` times what they cost until the first cut.
    They are chosen by the first events of a stream: what only a later drift would show is not seen.

    Reference: K. Jamieson and A. Talwalkar. Non-stochastic best arm identification and hyperparameter optimization. AISTATS 2016.
    """

    def __init__(
        self,
        searches: Mapping[str, Sequence[str]],
        boards: Callable[[], Mapping[str, Board]],
        leave: Callable[[Sequence[str]], None],
        learned: Callable[[], int],
    ) -> None:
        """`leave` takes learners out of the run; `learned` is how many events were learned."""
        self._left = {spec: list(names) for spec, names in searches.items()}
        self._boards, self._leave, self._learned = boards, leave, learned
        self._next = FIRST_CUT
        self._dropped: dict[str, list[dict[str, Any]]] = {spec: [] for spec in searches}

    def told(self) -> list[dict[str, Any]]:
        """Of each search the candidates that ride on, and those that went: after how many events, and what they had lost lately."""
        return [
            {"search": spec, "left": names, "dropped": self._dropped[spec]}
            for spec, names in self._left.items()
        ]

    def apply(self, batch: Batch) -> Iterator[Batch]:
        """Cut the batch where candidates are to go, and have them go once what came before was learned."""
        while any(len(names) > 1 for names in self._left.values()):
            room = self._next - self._learned()
            learned = np.flatnonzero((batch.kinds >= 0) & (batch.kinds != Kind.REQUEST))
            if len(learned) < room:
                break
            end = int(learned[room - 1]) + 1
            rest = batch.part(end, len(batch))
            yield batch.part(0, end)
            self._cut()
            self._next *= 2
            batch = rest
        yield batch

    def _cut(self) -> None:
        gone: list[str] = []
        for spec, names in self._left.items():
            if len(names) < 2:
                continue
            losses = {name: _late(self._boards()[name]) for name in names}
            better = sorted(names, key=lambda name: losses[name])[: (len(names) + 1) // 2]
            worse = [name for name in names if name not in better]
            self._left[spec] = [name for name in names if name in better]
            self._dropped[spec] += [
                {"name": name, "after": self._next, "loss": losses[name]} for name in worse
            ]
            gone += worse
        if gone:
            self._leave(gone)


def _late(board: Board) -> float:
    """The mean loss on the later half of the stream so far; of a learner that predicted nothing, more than any."""
    history = board.history if board.events else board.preferences.history
    losses = history.losses
    some = losses[len(losses) // 2 :]
    return sum(some) / len(some) if some else float("inf")
