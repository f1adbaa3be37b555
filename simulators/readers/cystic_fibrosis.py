"""The cystic fibrosis collection: `cfquery`, in which four judges say how relevant documents are to queries, from 0 to 2.

Every judge's word is an event; who judges, the document and the query are names, and queries are groups.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from simulators.readers.shipped import Lines, lines_of

__all__ = ["EXPECTED", "FLAGS", "events", "judged"]

FLAGS = "--n-ranks 3"
_ENTRY = re.compile(r"(\d+) ([0-2]{4})")
EXPECTED = "QN and a number, QU, NR, and RD with a document's number and four digits from 0 to 2 again and again"


def judged(lines: Lines) -> Iterator[tuple[int, int, str]]:
    """Queries, documents, and the four digits."""
    query, kind = None, ""
    for line in lines:
        with lines.checked():
            kind, text = line[:2].strip() or kind, line[2:].strip()
            if kind not in ("QN", "QU", "NR", "RD"):
                raise ValueError
            if kind == "QN":
                query = int(text)
            if kind != "RD":
                continue
            found = _ENTRY.findall(text)
            # whatever is no entry is wrong
            if query is None or _ENTRY.sub("", text).strip():
                raise ValueError
        for document, digits in found:
            yield query, int(document), digits


def events(path: Path) -> Iterator[str]:
    """Judges' words in the order of the file."""
    with lines_of(path, "cfquery", EXPECTED) as lines:
        for query, document, digits in judged(lines):
            for judge, digit in enumerate(digits, 1):
                x = {"query": f"q{query}", "document": f"d{document}", "judge": f"j{judge}"}
                yield json.dumps({"x": x, "y": int(digit) + 1, "group": f"q{query}"})
