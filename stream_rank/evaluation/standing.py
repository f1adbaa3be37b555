"""How a learner stands beside an answer that costs nothing."""

import math
from typing import NamedTuple

__all__ = ["ANSWERING", "ENOUGH", "Standing", "complaint", "skill_of"]

ANSWERING = {
    "median": "always answering the median",
    "group median": "always answering the median of the event's group",
    "mean": "always answering the mean",
    "coin": "tossing a coin",
}
"""What baselines do, by their names, to say what a learner is worse than."""
_SHOWN = 4
"""Digits of losses in sentences."""

ENOUGH = 1_000
"""With fewer predictions, a learner that has only begun would be called worse than a constant."""


def skill_of(loss: float | None, baseline_loss: float | None) -> float | None:
    """The share of the baseline's loss that a learner does without: 1 is perfect, 0 no better, below 0 worse.

    None where one of both is not known, or is not finite, and where the baseline has no loss: nothing can be better.

    >>> skill_of(0.3, 1.2), skill_of(1.5, 1.2), skill_of(0.3, None)
    (0.75, -0.25, None)
    """
    if loss is None or not baseline_loss or not math.isfinite(loss + baseline_loss):
        return None
    return 1.0 - loss / baseline_loss


class Standing(NamedTuple):
    """The losses of a learner and of its baseline: of all predictions, and of the last ones.

    >>> standing = Standing("rank", 2_000, 0.9, 1.5, "median", 1.2, 1.0)
    >>> standing.skill, standing.recent_skill, standing.worse
    (0.25, -0.5, True)
    """

    kind: str
    """Of which loss: rank, magnitude or preference."""
    events: int
    loss: float | None
    recent_loss: float | None
    baseline: str
    """What is always answered: a median, a mean, or what a coin says."""
    baseline_loss: float | None
    recent_baseline_loss: float | None

    @property
    def skill(self) -> float | None:
        """The share of the baseline's loss that the learner did without."""
        return skill_of(self.loss, self.baseline_loss)

    @property
    def recent_skill(self) -> float | None:
        """The same of the last predictions."""
        return skill_of(self.recent_loss, self.recent_baseline_loss)

    @property
    def beaten(self) -> bool:
        """Whether the baseline was at least as good lately. A loss that is no number is as bad as can be."""
        if self.recent_loss is None or self.recent_baseline_loss is None:
            return False
        return not self.recent_loss < self.recent_baseline_loss

    @property
    def worse(self) -> bool:
        """Whether the learner is worse than its baseline lately, and has predicted enough to say so."""
        if self.events < ENOUGH or not self.beaten:
            return False
        return self.recent_loss != self.recent_baseline_loss


def complaint(name: str, standing: Standing) -> str:
    """A sentence about a learner that is worse than its baseline.

    >>> complaint("prank", Standing("rank", 2_000, 0.9, 1.5, "median", 1.2, 1.0))
    'prank is worse than always answering the median: lately its rank loss is 1.5, and that would have 1'
    """
    lost, free = (
        "no number" if loss is None or not math.isfinite(loss) else f"{loss:.{_SHOWN}g}"
        for loss in (standing.recent_loss, standing.recent_baseline_loss)
    )
    return (
        f"{name} is worse than {ANSWERING[standing.baseline]}: "
        f"lately its {standing.kind} loss is {lost}, and that would have {free}"
    )
