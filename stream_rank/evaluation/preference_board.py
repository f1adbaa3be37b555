"""The board of one learner's preferences: how often it had them in the wrong order, and how sure it was."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.products import mean
from stream_rank.engine.scoring.comparisons import (
    BRIER,
    COUNT,
    DECIDED,
    DECIDED_ERROR,
    ERROR,
    LOG_LOSS,
    MAGNITUDE_LOSS,
    RECENT,
    SUMS,
    tally_preferences,
)
from stream_rank.evaluation.baseline import COIN, COIN_LOSS, counted
from stream_rank.evaluation.drift import BLOCK, DriftDetector
from stream_rank.evaluation.loss_history import LossHistory
from stream_rank.evaluation.standing import Standing
from stream_rank.learners.base.serialization import entries

__all__ = ["PreferenceBoard"]

Array = npt.NDArray[Any]

_DRIFTS_KEPT = 100


class PreferenceBoard:
    """The test-then-train losses of one learner's preferences, over all of them and over the last ones.

    The error counts pairs in the wrong order, and ties for half (`PreferenceError`). Log-loss and Brier score (the sum of
    squared errors of the three outcomes' probabilities) are of what `prefer_proba_one` said. The magnitude loss, of learners
    of scores, is the mean squared difference between a magnitude and the lead.
    """

    def __init__(self, scores: bool, window: int) -> None:
        self._scores, self._window = scores, window
        self._sums: Array = np.zeros(SUMS)
        self._recent: Array = np.zeros((RECENT, 0))
        self._detector = DriftDetector()
        self.history = LossHistory()
        self.drifts: list[int] = []
        self.drifts_met = 0
        """The number of drifts since the board was made; it is not in snapshots."""

    def count(self, leads: Array, proba: Array, magnitudes: Array) -> None:
        """Count predictions in the order in which they were made, NaN where there was none."""
        if not self._recent.shape[1]:  # a stream without preferences needs none of this
            self._recent = np.zeros((RECENT, self._window))
        means = np.empty(len(leads) // BLOCK + 1)
        end = self.events // BLOCK * BLOCK
        ended = tally_preferences(leads, proba, magnitudes, BLOCK, self._sums, self._recent, means)
        for each in means[:ended].tolist():
            end += BLOCK
            self.history.add(each)
            if self._detector.update(each):
                self.drifts = [*self.drifts, end][-_DRIFTS_KEPT:]
                self.drifts_met += 1

    # What is known --------------------------------------------------------------------------

    @property
    def events(self) -> int:
        """Preferences that were predicted."""
        return int(self._sums[COUNT])

    @property
    def error_sum(self) -> float:
        """The sum of all errors, which never decreases."""
        return float(self._sums[ERROR])

    def _mean(self, loss: int) -> float | None:
        return float(self._sums[loss]) / self.events if self.events else None

    def _recent_mean(self, loss: int) -> float | None:
        """The mean of a loss over the last predictions."""
        seen = min(self.events, self._window)
        return mean(self._recent[loss, :seen]) if seen else None

    @property
    def error(self) -> float | None:
        """Errors a preference; None without any."""
        return self._mean(ERROR)

    @property
    def recent_error(self) -> float | None:
        """Errors a preference among the last ones."""
        return self._recent_mean(ERROR)

    @property
    def standing(self) -> Standing:
        """The error beside that of a coin."""
        losses = self.error, self.recent_error, COIN, COIN_LOSS, COIN_LOSS
        return Standing("preference", self.events, *losses)

    @property
    def recent_log_loss(self) -> float | None:
        """The log-loss of the last preferences."""
        return self._recent_mean(LOG_LOSS)

    @property
    def recent_brier_score(self) -> float | None:
        """The Brier score of the last preferences."""
        return self._recent_mean(BRIER)

    @property
    def recent_magnitude_loss(self) -> float | None:
        """The magnitude loss of the last preferences, which means something of learners of scores only."""
        return self._recent_mean(MAGNITUDE_LOSS)

    def summary(self) -> dict[str, Any]:
        """All losses, by name."""
        if not self.events:
            return {"preferences": 0}
        decided, standing = float(self._sums[DECIDED]), self.standing
        found: dict[str, Any] = {
            "preferences": self.events,
            "preference_ties": self.events - int(decided),
            "preference_error": self.error,
            "recent_preference_error": self.recent_error,
            "decided_preference_error": (
                float(self._sums[DECIDED_ERROR]) / decided if decided else None
            ),
            "preference_baseline": standing.baseline,
            "preference_baseline_loss": standing.baseline_loss,
            "preference_skill": standing.skill,
            "recent_preference_skill": standing.recent_skill,
            "preference_worse_than_constant": standing.worse,
            "preference_log_loss": self._mean(LOG_LOSS),
            "recent_preference_log_loss": self.recent_log_loss,
            "preference_brier_score": self._mean(BRIER),
            "recent_preference_brier_score": self.recent_brier_score,
        }
        if self._scores:
            found["preference_magnitude_loss"] = self._mean(MAGNITUDE_LOSS)
            found["recent_preference_magnitude_loss"] = self.recent_magnitude_loss
        found["preference_drifts"] = self.drifts
        return found

    # For snapshots --------------------------------------------------------------------------

    def described(self) -> dict[str, Any]:
        """Its state without the arrays, as JSON has it; empty before the first preference."""
        if not self.events:
            return {}
        return {
            "drifts": self.drifts,
            "drift": self._detector.state,
            "history": self.history.described(),
        }

    def arrays(self) -> dict[str, Array]:
        """The arrays of its state."""
        if not self.events:
            return {}
        return {
            "preference_sums": self._sums,
            "preferences": self._recent,
            "preference_history": self.history.array(),
        }

    def restore(self, said: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Continue from another board's state; a `ValueError` if its arrays have other sizes."""
        if not said:
            return
        wanted = {"preference_sums": (SUMS,), "preferences": (RECENT, self._window)}
        for name, shape in wanted.items():
            if arrays[name].shape != shape or arrays[name].dtype != np.float64:
                raise ValueError(f"the scoreboard's {name} have another size")
        self._sums, self._recent = (np.array(arrays[name]) for name in wanted)
        if not counted(self._sums[COUNT]):
            raise ValueError("the scoreboard's sums of preferences have no count")
        self.drifts = [int(each) for each in entries(said, "drifts")]
        self._detector.state = said["drift"]
        self.history.restore(said["history"], arrays["preference_history"])
