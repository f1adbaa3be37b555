"""Measuring on one core."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["one_core"]


@contextmanager
def one_core() -> Iterator[None]:
    """Stay on one core; before BLAS is loaded, which counts the cores then."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
