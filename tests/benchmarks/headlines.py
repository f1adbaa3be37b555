"""The rows of the results that the README shows: those that people choose a tool by."""

import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ["HEAD", "rows", "shown"]

HEAD = "| what | here | against | ratio | at least |\n|---|---|---|---:|---:|"
_HEADLINES = [
    "PRank, 6 features, from an array",
    "PRank, dict by dict",
    "OAPBPM, 100 members, 6 features, from an array",
    "OAPBPM, 100 members, 500 dense features, counting 4·N·d operations",
    "OrdinalLogit, 300 features, counting its update's 3·d² operations",
    "replay from JSONL, OAPBPM 100 members, d = 6",
    "JSON of 10 numbers and 5 texts of 1,000 different values each, scale | normalize | prank",
    "preferences from JSON, PRank",
    "Kafka to a learned rule, 20 named features, OAPBPM 100 members, kafka-python",
    "the loop with all metrics, scraped every second, OAPBPM 100 members",
]


def rows(results: Path) -> Iterator[list[str]]:
    """The cells of every row of the tables of ratios, without their headings."""
    of_ratios = False
    for line in results.read_text().splitlines():
        of_ratios = line.startswith("| what |") or (of_ratios and line.startswith("|"))
        if of_ratios and line.startswith("| ") and not line.startswith("| what |"):
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            yield [cell.strip().replace(r"\|", "|") for cell in cells]


def shown(results: Path) -> str:
    """The README's table."""
    found = {cells[0]: cells for cells in rows(results)}
    lines = [
        " | ".join(cell.replace("|", r"\|") for cell in found[name]).join(("| ", " |"))
        for name in _HEADLINES
    ]
    return "\n".join([HEAD, *lines])
