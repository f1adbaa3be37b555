"""Learn from files with many learners at once, and see which to take."""

import argparse
import os

from stream_rank.cli.replay import add_flags, carry_out, config_of
from stream_rank.config.compare import CompareConfig

__all__ = ["add", "run"]


def add(parser: argparse.ArgumentParser) -> None:
    """Flags of `compare`."""
    add_flags(parser, CompareConfig)


def run(given: argparse.Namespace) -> int:
    """Compare; returns the exit code."""
    config = config_of(given, CompareConfig)
    cores = min(len(config.learners), config.cores or os.cpu_count() or 1)
    return carry_out(config, given, learner_threads=cores, comparing=True)
