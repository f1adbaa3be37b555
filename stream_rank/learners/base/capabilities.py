"""What a learner reports about itself: its limits, its rule, and an insight into it."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Insight", "LearnerLimits", "NamedWeights", "Rule", "arrays_of_rule", "as_named"]

Array = npt.NDArray[Any]


class LearnerLimits(NamedTuple):
    """The events that a learner can learn from; `inf` where it has no limit."""

    largest: float
    """The largest feature, difference of features, or label."""
    longest: float
    """The largest sum of squares of an event's features."""
    max_features: float
    """The largest number of features that it can know."""


class NamedWeights(Mapping[Hashable, float]):
    """Weights by feature, of which a dict is made where one is asked for by its name; valid until the learner learns on.

    >>> weights = NamedWeights(["a", "b", "c"], np.array([1.0, -3.0, 2.0, 0.0]))
    >>> dict(weights), weights["c"], weights.numbers
    ({'a': 1.0, 'b': -3.0, 'c': 2.0}, 2.0, array([ 1., -3.,  2.]))
    """

    def __init__(self, names: Sequence[Hashable], numbers: Array) -> None:
        """Numbers after the last name are room."""
        self.names: Sequence[Hashable] = names
        self.numbers: Array = np.asarray(numbers[: len(names)], np.float64)
        self._by_name: dict[Hashable, float] | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Hashable]:
        return islice(self.names, len(self.numbers))

    def __getitem__(self, name: Hashable) -> float:
        if self._by_name is None:
            self._by_name = dict(zip(self.names, self.numbers.tolist(), strict=False))
        return self._by_name[name]


def as_named(weights: Mapping[Hashable, float]) -> NamedWeights:
    """Weights with their names and numbers apart."""
    if isinstance(weights, NamedWeights):
        return weights
    return NamedWeights(list(weights), np.fromiter(weights.values(), np.float64, len(weights)))


class Rule(NamedTuple):
    """What was learned, in numbers that another program can score with.

    The score of an event is the bias and the sum of weights times features; with a kernel it is the bias and the sum of
    coefficients times kernel values with the support vectors. The rank is 1 and the number of thresholds that are at
    most the score, the label the one at that place of the labels.
    """

    weights: Mapping[Hashable, float]
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


def arrays_of_rule(rule: Rule) -> dict[str, Array]:
    """Weights and thresholds; names are bytes of UTF-8, one after the other, and where each ends."""
    weights = as_named(rule.weights)
    names = [str(name).encode(errors="surrogatepass") for name in weights]
    return {
        "names": np.frombuffer(b"".join(names), np.uint8),
        "name_ends": np.cumsum([len(name) for name in names], dtype=np.int64),
        "weights": weights.numbers,
        "thresholds": np.array(rule.thresholds, np.float64),
    }


class Insight(NamedTuple):
    """What monitoring reads often: it costs less than the rule of a kernel learner.

    The last two are of the events that the learner was asked about, and None where they do not apply to it.
    """

    weights: Mapping[Hashable, float]
    thresholds: list[float]
    updates: int | None
    """Members' mistakes so far; None where members do not count them."""
    labels: list[Any]
    scores: Array | None = None
    """The score of every event, to be compared with the thresholds."""
    shares: Array | None = None
    """The share of the members' votes that each rank has, a row for every event."""
