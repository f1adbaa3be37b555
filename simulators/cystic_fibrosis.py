"""The cystic fibrosis documents as the OAP paper ranks them: four people judge how a document answers a query, one by the other three.

At each round the target is the judgement of one of the four, drawn at random, and the instance those of the others, in their order. The paper learns
4,247 rounds and tests on 582; the file has ten documents less, of which the same share is learned: 4,238, and the test has 581.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from simulators.people import Split
from simulators.readers.cystic_fibrosis import EXPECTED, judged
from simulators.readers.shipped import lines_of

__all__ = ["RANKS", "bayes_loss", "draw_trial", "load"]

Array = npt.NDArray[np.int64]

RANKS = 3
_LEARNED = 4247 / 4829
"""The paper's share of rounds that are learned."""


def load(file: Path) -> Array:
    """Ranks 1 to 3, documents of queries by the four who judged them, of the file `cfquery`."""
    with lines_of(file, "cfquery", EXPECTED) as lines:
        found = [[int(digit) + 1 for digit in digits] for _, _, digits in judged(lines)]
    return np.array(found, np.int64).reshape(-1, 4)


def draw_trial(documents: Array, seed: int) -> Split:
    """Documents in a random order, each with a target drawn from its judgements."""
    generator = np.random.default_rng(seed)
    count = len(documents)
    rows = documents[generator.permutation(count)]
    targets = generator.integers(0, 4, count)
    y = rows[np.arange(count), targets]
    rest = np.arange(4) != targets[:, None]
    X = rows[rest].reshape(count, 3).astype(np.float64)
    cut = round(_LEARNED * count)
    return Split(X[:cut], y[:cut], X[cut:], y[cut:])


def bayes_loss(documents: Array) -> float:
    """What no rule goes below that sees the three judgements: the loss of the medians, of all documents and targets."""
    counts: dict[tuple[int, ...], list[int]] = {}
    for row in documents.tolist():
        for target in range(4):
            seen = (*row[:target], *row[target + 1 :])
            counts.setdefault(seen, [0] * RANKS)[row[target] - 1] += 1
    ranks = range(RANKS)
    least = [
        min(sum(n * abs(r - p) for r, n in zip(ranks, c, strict=True)) for p in ranks)
        for c in counts.values()
    ]
    return sum(least) / (4 * len(documents))
