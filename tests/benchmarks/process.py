"""What a process takes: memory, and time to its first event."""

import subprocess
import sys
from collections.abc import Iterator

import numpy as np

from stream_rank import OAPBPM
from tests.benchmarks.measure import Line, side_by_side

__all__ = ["first_event", "memory"]

_FIRST = (
    "from stream_rank import OAPBPM\n"
    "model = OAPBPM(n_ranks=5, seed=1)\n"
    "model.predict_one({'a': 1.0})\n"
    "model.learn_one({'a': 1.0}, 3)\n"
)


def memory() -> Iterator[Line]:
    """The state after ten thousand events and after a million."""
    generator = np.random.default_rng(0)
    model = OAPBPM(5, 100, 0.3, seed=1)

    def learn(n_events: int) -> int:
        for _ in range(n_events // 10_000):
            X = generator.normal(size=(10_000, 20))
            model.learn_many(X, generator.integers(1, 6, 10_000))
        return sum(kept.block.nbytes for kept in model._model.memories().values())

    early, late = learn(10_000), learn(990_000)
    yield Line(
        "OAPBPM, 100 members, 20 features: memory after 10 thousand events",
        f"{early / 1e3:.0f} kB",
        f"after a million, {late / 1e3:.0f} kB",
        early / late,
        1.0,
    )


def first_event() -> Iterator[Line]:
    """A second process, whose code a first one has compiled."""
    ours, river, python = side_by_side(
        lambda: subprocess.run([sys.executable, "-c", _FIRST], check=True),
        lambda: subprocess.run(
            [sys.executable, "-c", "from river import base, metrics"], check=True
        ),
        lambda: subprocess.run([sys.executable, "-c", ""], check=True),
        rounds=3,
    )
    yield Line(
        "first event learned by a second process: two seconds over its time",
        f"{ours:.2f} s",
        f"importing what it uses of River alone, {river:.2f} s; bare Python, {python:.2f} s",
        2 / ours,
        1.0,
    )
