"""LETOR and MSLR: lines `label qid:query 1:value 2:value ...`, as `train.txt`, `S1.txt` or any other; queries are groups.

Relevance from 0 on is made ranks from 1 on. OHSUMED is one of LETOR's sets.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from simulators.readers.shipped import Lines, lines_of, parts_of

__all__ = ["EXPECTED", "FLAGS", "Document", "documents", "events"]

FLAGS = "--n-ranks 5"
EXPECTED = "a label from 0 to 4, qid:query, and features as 1:value"


class Document(NamedTuple):
    """A line: relevance from 0 on, the query's name, and features by their numbers."""

    relevance: int
    query: str
    features: dict[int, float]


def documents(lines: Lines) -> Iterator[Document]:
    """Documents in the order of the file."""
    for line in lines:
        with lines.checked():
            label, query, *cells = line.partition("#")[0].split()
            kind, _, name = query.partition(":")
            if kind != "qid" or not name or label not in ("0", "1", "2", "3", "4"):
                raise ValueError
            places = (cell.partition(":") for cell in cells)
            document = Document(int(label), name, {int(p): float(value) for p, _, value in places})
        yield document


def events(path: Path) -> Iterator[str]:
    """Documents in the order of the file, or of the files of a folder."""
    for part in parts_of(path, "*.txt"):
        with lines_of(part, "train.txt", EXPECTED) as lines:
            for relevance, query, features in documents(lines):
                x = ", ".join(f'"{place}": {value!r}' for place, value in features.items())
                yield f'{{"x": {{{x}}}, "y": {relevance + 1}, "group": "{query}"}}'
