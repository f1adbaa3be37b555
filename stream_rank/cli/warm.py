"""Compile the engine for this machine, so that the first daemon or replay starts without that delay."""

import argparse
import sys
import time

from stream_rank.cli.exit_codes import ExitCode
from stream_rank.printable import printable

__all__ = ["add", "run"]


def add(parser: argparse.ArgumentParser) -> None:
    """`warm` has no flags."""


def run(_: argparse.Namespace) -> int:
    """Compile, and print how long it took."""
    from stream_rank.engine.jit import cache_folder
    from stream_rank.runtime.warming import warm

    print("compiling the engine, a minute or two the first time ...", file=sys.stderr, flush=True)
    start = time.monotonic()
    warm(lambda text: print(printable(text), file=sys.stderr))
    words = f"done in {time.monotonic() - start:.0f} s; kept in {cache_folder()}"
    print(printable(words), file=sys.stderr)
    return ExitCode.DONE
