"""The metrics of baselines, and of learners that are worse than theirs."""

from stream_rank.evaluation.baseline import COIN, COIN_LOSS, Answer
from stream_rank.evaluation.scoreboard import Scoreboard

__all__ = ["BaselineReadings"]

_LOSSES = {"ranks": "rank", "scores": "magnitude"}

Values = dict[tuple[str, ...], float | None]


class BaselineReadings:
    """Reads the baselines of a scoreboard. As all counters, those of losses begin at 0 with the process."""

    def __init__(self, scoreboard: Scoreboard, prefers: bool) -> None:
        """`prefers`: whether any learner learns preferences, which have a coin for a baseline."""
        self._scoreboard, self._prefers = scoreboard, prefers
        self._before = {key: (each.total, each.terms) for key, each in self._answers().items()}

    def _answers(self) -> dict[tuple[str, str], Answer]:
        """What could always be answered, by its name and the kind of the loss."""
        found = {
            (each.name, _LOSSES[kind]): each
            for kind, baseline in self._scoreboard.longest_baselines.items()
            for each in baseline.answers()
        }
        if self._prefers:
            boards = self._scoreboard.boards.values()
            count = max(board.preferences.events for board in boards)
            recent = COIN_LOSS if count else None
            found[COIN, "preference"] = Answer(COIN, COIN_LOSS * count, count, recent)
        return found

    def values(self) -> dict[str, Values]:
        """The values by metric. Cost: O(window)."""
        totals: Values = {}
        terms: Values = {}
        losses: Values = {}
        recent: Values = {}
        for key, each in self._answers().items():
            total, count = self._before.get(key, (0.0, 0.0))
            totals[key], terms[key] = each.total - total, each.terms - count
            losses[key], recent[key] = each.loss, each.recent_loss
        return {
            "baseline_loss_total": totals,
            "baseline_loss_terms_total": terms,
            "baseline_loss": losses,
            "recent_baseline_loss": recent,
            "worse_than_constant": {
                (name, standing.kind): float(standing.worse)
                for name, standing in self._scoreboard.standings
            },
        }
