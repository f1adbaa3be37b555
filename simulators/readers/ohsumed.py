"""OHSUMED as LETOR has it: `S1.txt` to `S5.txt`, with three ranks."""

from collections.abc import Iterator
from pathlib import Path

from simulators.readers import letor
from simulators.readers.shipped import parts_of

__all__ = ["FLAGS", "events"]

FLAGS = "--n-ranks 3"


def events(path: Path) -> Iterator[str]:
    """Documents of the five parts, or of one."""
    for part in parts_of(path, "S?.txt"):
        yield from letor.events(part)
