"""What a learner reports about itself: its limits, its rule, and an insight into it."""

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy.typing as npt

__all__ = ["Insight", "LearnerLimits", "Rule"]

Array = npt.NDArray[Any]


class LearnerLimits(NamedTuple):
    """The events that a learner can learn from; `inf` where it has no limit."""

    largest: float
    """The largest feature, difference of features, or label."""
    longest: float
    """The largest sum of squares of an event's features."""
    max_features: float
    """The largest number of features that it can know."""


class Rule(NamedTuple):
    """What was learned, in numbers that another program can score with.

    The score of an event is the bias and the sum of weights times features; with a kernel it is the bias and the sum of
    coefficients times kernel values with the support vectors. The rank is 1 and the number of thresholds that are at
    most the score, the label the one at that place of the labels.
    """

    weights: dict[Hashable, float]
    """By feature; empty with a kernel."""
    thresholds: list[float]
    """In ascending order; empty for a learner of scores."""
    bias: float
    exact: bool
    """Whether predictions follow this rule. They do not where members vote, nor where no rule is known."""
    support: list[tuple[dict[Hashable, float], float]]
    """The support vectors of a kernel, each with its coefficient; else empty."""
    labels: list[Any]
    """By rank; empty for a learner of scores."""


class Insight(NamedTuple):
    """What monitoring reads often: it costs less than the rule of a kernel learner.

    The last two are of the events that the learner was asked about, and None where they do not apply to it.
    """

    weights: dict[Hashable, float]
    thresholds: list[float]
    updates: int | None
    """Members' mistakes so far; None where members do not count them."""
    labels: list[Any]
    scores: Array | None = None
    """The score of every event, to be compared with the thresholds."""
    shares: Array | None = None
    """The share of the members' votes that each rank has, a row for every event."""
