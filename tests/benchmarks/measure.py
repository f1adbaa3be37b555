"""Measuring side by side, on one core."""

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding as llvm

__all__ = ["Line", "machine", "one_core", "side_by_side"]


class Line(NamedTuple):
    """A line of the table: a ratio, and the least it must be (None where nothing is required)."""

    what: str
    ours: str
    peer: str
    ratio: float
    at_least: float | None

    @property
    def good(self) -> bool:
        """Whether the requirement is met."""
        return self.at_least is None or self.ratio >= self.at_least


def one_core() -> None:
    """Stay on one core, with whatever is started from here on; BLAS is kept to it by its threads' affinity."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def machine() -> str:
    """What it was measured on: ratios differ between processors too."""
    described = Path("/proc/cpuinfo")
    lines = described.read_text().splitlines() if described.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    cores = os.cpu_count() or 1
    return f"{(names or [platform.machine()])[0]} ({llvm.get_host_cpu_name()}), {cores} cores"


def side_by_side(*works: Callable[[], object], rounds: int = 5) -> list[float]:
    """The least time of each work, all taking turns, so that a slow spell of the machine hits every one."""
    best = [float("inf")] * len(works)
    for work in works:
        work()  # compiles, fills caches
    for _ in range(rounds):
        for number, work in enumerate(works):
            start = time.perf_counter()
            work()
            best[number] = min(best[number], time.perf_counter() - start)
    return best
