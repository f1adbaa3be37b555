"""Measuring on one core."""

import os

__all__ = ["one_core"]


def one_core() -> None:
    """Stay on one core from here on; before BLAS is loaded, which counts the cores."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
