"""LETOR and MSLR: lines `label qid:query 1:value 2:value ...`, as `train.txt`, `S1.txt` or any other; queries are groups.

Relevance from 0 on is made ranks from 1 on. OHSUMED is one of LETOR's sets.
"""

from collections.abc import Iterator
from pathlib import Path

from simulators.readers.shipped import Lines, lines_of, parts_of

__all__ = ["FLAGS", "events"]

FLAGS = "--n-ranks 5"
_EXPECTED = "a label from 0 to 4, qid:query, and features as 1:value"


def _events(lines: Lines) -> Iterator[str]:
    for line in lines:
        with lines.checked():
            label, query, *cells = line.partition("#")[0].split()
            kind, _, name = query.partition(":")
            if kind != "qid" or not name or label not in ("0", "1", "2", "3", "4"):
                raise ValueError
            features = []
            for cell in cells:
                place, _, value = cell.partition(":")
                features.append(f'"{int(place)}": {float(value)!r}')
        x, rank = ", ".join(features), int(label) + 1
        yield f'{{"x": {{{x}}}, "y": {rank}, "group": "{name}"}}'


def events(path: Path) -> Iterator[str]:
    """Documents in the order of the file, or of the files of a folder."""
    for part in parts_of(path, "*.txt"):
        with lines_of(part, "train.txt", _EXPECTED) as lines:
            yield from _events(lines)
