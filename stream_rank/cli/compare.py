"""Learn from files with many learners at once, and see which to take."""

import argparse
import os
import sys

from stream_rank.cli.replay import add_flags, carry_out, config_of
from stream_rank.config.compare import CompareConfig
from stream_rank.contestants.peers import peers
from stream_rank.printable import printable

__all__ = ["add", "run"]


def add(parser: argparse.ArgumentParser) -> None:
    """Flags of `compare`."""
    add_flags(parser, CompareConfig)


def run(given: argparse.Namespace) -> int:
    """Compare; returns the exit code."""
    config = config_of(given, CompareConfig)
    if config.peers:
        found, missing = peers(config.n_ranks is not None)
        config.learners += [name for name in found if name not in config.learners]
        for why in missing:
            print(printable(f"skipped: {why}"), file=sys.stderr)
    cores = min(len(config.learners), config.cores or os.cpu_count() or 1)
    return carry_out(config, given, cores, comparing=True, searches=config.searches)
