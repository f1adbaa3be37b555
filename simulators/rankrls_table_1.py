"""Table 1 of the RankRLS paper: seconds to train with a Gaussian kernel, beside a support vector machine over pairs.

The paper's documents are the acq task of Reuters, which is not at hand; ours are made: words of a long-tailed vocabulary, of unit length, a fifth
of them relevant. Parameters are the programs' defaults, as in the paper. LAPACK alone is its decomposition of the same matrix, which
RankRLS cannot do without. Of machines of pairs there are scikit-learn's, which is linear and needs a table of all pairs, and
one that needs none (`pairwise_svm`). RankSVM is ours, of the kernel's decomposition (the paper's section 4.2), and makes no pairs.
The kernel's matrix is needed by all, and made once; the paper's times have it in them. All run on one core; times are the
processor's, those of RankRLS and LAPACK the least of three that take turns.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh
from sklearn.svm import LinearSVC

from simulators.arguments import whole
from simulators.pairwise_svm import train
from stream_rank import Gaussian
from stream_rank.batch import RankRLS, RankSVM
from stream_rank.batch.graph import edges_of
from stream_rank.batch.kernel_values import kernel_values, root_of

__all__ = ["PAPER", "Row", "add", "documents", "measure", "report", "run"]

Array = npt.NDArray[Any]

PAPER = {
    200: (1, 2),
    500: (3, 150),
    750: (5, 579),
    1000: (10, 1740),
    1500: (24, 4685),
    2000: (48, 13_707),
}
"""Seconds of RankRLS and of RankSVM, by inputs."""
MOST_OVER_LAPACK = 2.0
_REQUIRED_AT = 1000
"""From so many inputs on the decomposition is what takes the time."""
_KERNEL = Gaussian(0.5**0.5)
"""SVM-light's default: `exp(-|x - z|**2)`."""
_VOCABULARY = 3000
_WORDS = 60
_RELEVANT = 0.2
_TURNS = 3
_LINE = "{:>7}{:>9}{:>10}{:>9}{:>7}{:>12}{:>8}{:>14}{:>8}{:>14}{:>17}{:>7}"
_LARGEST = 200_000_000
"""Numbers in a table of pairs: 1.6 GB, and three times as much for who learns from it."""


class Row(NamedTuple):
    """Seconds at a number of inputs."""

    inputs: int
    kernel: float
    rls: float
    lapack: float
    explicit: float | None
    """Of scikit-learn's linear machine on a table of all pairs, where there is room for that."""
    pairwise: float
    decomposed: float

    @property
    def over_lapack(self) -> float:
        """How many times longer RankRLS takes than its decomposition alone."""
        return self.rls / self.lapack

    @property
    def failed(self) -> bool:
        """Whether that is more than is asked."""
        return self.inputs >= _REQUIRED_AT and self.over_lapack > MOST_OVER_LAPACK


def documents(m: int, seed: int) -> tuple[Array, Array]:
    """Rows of unit length with counts of words, and which of them are relevant: those that speak most of a subject."""
    generator = np.random.default_rng(seed)
    common = 1.0 / np.arange(1, _VOCABULARY + 1)
    words = generator.choice(_VOCABULARY, (m, _WORDS), p=common / common.sum())
    counts = np.zeros((m, _VOCABULARY))
    np.add.at(counts, (np.repeat(np.arange(m), _WORDS), words.ravel()), 1.0)
    subject = generator.normal(size=_VOCABULARY)
    X = counts / np.sqrt((counts**2).sum(axis=1))[:, None]
    told = X @ subject + generator.normal(0, 0.3, m)
    return X, (told >= np.quantile(told, 1 - _RELEVANT)).astype(float)


def _explicit(K: Array, preferred: Array, other: Array) -> None:
    """Learn the pairs' differences, every other one turned around, so that there are two classes."""
    features = root_of(K)
    signs = np.where(np.arange(len(preferred)) % 2 == 0, 1.0, -1.0)
    table = features[preferred]
    table -= features[other]
    table *= signs[:, None]
    machine = LinearSVC(loss="hinge", C=1.0, fit_intercept=False, tol=1e-3, max_iter=10_000)
    machine.fit(table, signs)


def _seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def measure(m: int, turns: int = _TURNS) -> Row:
    """Learn so many documents by each, from the kernel's matrix."""
    X, y = documents(m, seed=m)
    K = kernel_values(_KERNEL, X, X)
    model = RankRLS(kernel="precomputed").fit(K, y)
    found = model._decomposition()
    gram = (found.rotation * found.values) @ found.rotation.T  # what RankRLS decomposes
    gram = (gram + gram.T) / 2
    taken = [
        (
            _seconds(lambda: RankRLS(kernel="precomputed").fit(K, y)),
            _seconds(lambda: eigh(gram, driver="evd")),
        )
        for _ in range(turns)
    ]
    rls, lapack = (min(each) for each in zip(*taken, strict=True))
    preferred, other = edges_of(y, np.zeros(m, np.int64))
    room = len(preferred) * m <= _LARGEST
    # C / p is the weight of a pair there
    machine = RankSVM(C=float(len(preferred)), kernel="precomputed", tol=1e-3)
    return Row(
        m,
        _seconds(lambda: kernel_values(_KERNEL, X, X)),
        rls,
        lapack,
        _seconds(lambda: _explicit(K, preferred, other)) if room else None,
        _seconds(lambda: train(K, preferred, other, C=1.0)),
        _seconds(lambda: machine.fit(K, y)),
    )


def report(sizes: Sequence[int], say: Callable[[str], object] = print) -> int:
    """Print the table; 1 if RankRLS takes more than twice as long as LAPACK where that is asked."""
    train(np.eye(2), np.array([0]), np.array([1]), 1.0)  # compiled before it is measured
    say(
        "seconds of one core; ratios are that of RankRLS to LAPACK, and of machines of pairs to RankRLS"
    )
    say(
        _LINE.format(
            *("inputs", "kernel", "RankRLS", "LAPACK", "ratio", "LinearSVC", "ratio"),
            *("SVM of pairs", "ratio", "our RankSVM", "paper: RLS, SVM", "ratio"),
        )
    )
    failed = False
    for m in sizes:
        row = measure(m)
        failed |= row.failed
        paper = explicit = ("–", "–")
        if row.explicit is not None:
            explicit = (f"{row.explicit:.2f}", f"{row.explicit / row.rls:.0f}")
        if m in PAPER:
            rls, svm = PAPER[m]
            paper = (f"{rls:,}, {svm:,}", f"{svm / rls:.0f}")
        say(
            _LINE.format(
                f"{m:,}",
                *(f"{row.kernel:.2f}", f"{row.rls:.3f}", f"{row.lapack:.3f}"),
                f"{row.over_lapack:.2f}{'!' if row.failed else ''}",
                *explicit,
                *(f"{row.pairwise:.2f}", f"{row.pairwise / row.rls:.0f}"),
                f"{row.decomposed:.2f}",
                *paper,
            )
        )
    say(f"asked: RankRLS within {MOST_OVER_LAPACK:g} times LAPACK from {_REQUIRED_AT:,} inputs on")
    return int(failed)


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument(
        "inputs", nargs="*", type=whole, default=[500, 1000, 2000], help="(500 1000 2000)"
    )


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    return report(given.inputs)
