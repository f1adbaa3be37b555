"""What a fixed rule would have lost that was found with all events at hand, beside what learners lost on their way."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.errors import ConfigError
from stream_rank.evaluation.board import Board
from stream_rank.pipeline.event_sample import EventSample, Kept

__all__ = ["Hindsight"]

Array = npt.NDArray[Any]

METHODS = {
    "rank": "cumulative logit",
    "magnitude": "RankRLS",
    "preference": "the logit of pairs",
}
"""The methods that stand for the best fixed rule, by loss."""


class Hindsight:
    """Keeps events while they are learned, and finds the rule when all is over.

    It needs scikit-learn, as the batch methods do.
    """

    def __init__(self, most: int, seed: int) -> None:
        try:
            import stream_rank.batch.hindsight as methods
        except ImportError:
            raise ConfigError(
                "`regret` needs the batch methods: pip install 'stream-rank[batch]'"
            ) from None
        self._methods = methods
        self.stage = EventSample(most, seed)

    def found(self, boards: Mapping[str, Board]) -> dict[str, Any]:
        """By loss: the method, how many events it had of how many, what it lost, and by how much more each learner lost an event."""
        sample, found = self.stage, {}
        if sample.lost is not None:
            return {"why_not": sample.lost}
        rated, compared = sample.kept("ratings"), sample.kept("preferences")
        if rated is not None and any(board.ranks and board.events for board in boards.values()):
            found["rank"] = self._beside(boards, "rank", "ratings", rated, self._ranks)
        if rated is not None and any(not board.ranks and board.events for board in boards.values()):
            found["magnitude"] = self._beside(boards, "magnitude", "ratings", rated, self._scores)
        if compared is not None:
            found["preference"] = self._beside(
                boards, "preference", "preferences", compared, self._preferences
            )
        return found

    def _beside(
        self,
        boards: Mapping[str, Board],
        loss: str,
        kind: str,
        kept: Kept,
        least: Callable[[Kept], float],
    ) -> dict[str, Any]:
        of = {"method": METHODS[loss], "events": len(kept), "of": self.stage.met[kind]}
        try:
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                lost = least(kept)
        except ValueError as error:
            return {**of, "why_not": str(error)}
        if not np.isfinite(lost):
            return {**of, "why_not": "its loss is no finite number, as where features are huge"}
        losses = {name: _loss_of(board, loss) for name, board in boards.items()}
        return {
            **of,
            "loss": lost,
            "regret": {name: each - lost for name, each in losses.items() if each is not None},
        }

    def _ranks(self, kept: Kept) -> float:
        (X,) = _matrices(kept)
        return self._methods.rank_loss(X, kept.labels)

    def _scores(self, kept: Kept) -> float:
        (X,) = _matrices(kept)
        known = np.array([each is not None for each in kept.groups])
        # an event without a group is one of those without
        groups = [
            str(each) if there else "" for each, there in zip(kept.groups, known, strict=True)
        ]
        return self._methods.score_loss(X, kept.labels, np.array(groups) if known.any() else None)

    def _preferences(self, kept: Kept) -> float:
        preferred, other = _matrices(kept)
        return self._methods.preference_error(preferred, other, kept.labels)


def _loss_of(board: Board, loss: str) -> float | None:
    if loss == "preference":
        return board.preferences.error if board.preferences.events else None
    return board.loss if board.events and board.ranks == (loss == "rank") else None


def _matrices(kept: Kept) -> list[Any]:
    """Tables of features, with the same columns, of those slots that occur."""
    from stream_rank.batch.hindsight import table

    width = 1 + max(int(slots.max(initial=0)) for _, slots, _ in kept.tables)
    return [table(*each, width) for each in kept.tables]
