"""Lines on standard output, which whoever reads them may close."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["until_closed"]


@contextmanager
def until_closed() -> Iterator[None]:
    """Write until the reader has enough, as `head` has: that is no fault."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left goes nowhere
