"""The table: what becomes of every learner on every stream, to the bit.

    python -m tests.recorded.table                     prints it
    python -m tests.recorded.table --compare           says what differs from what is recorded
    python -m tests.recorded.table --without-tables    leaves out what needs pandas, pyarrow and SciPy

`tests.recorded.record` records it. Only what the package promises to its users is called: the command line, and learners.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.recorded.command import Row
from tests.recorded.library import LIBRARY, library_row
from tests.recorded.streams import STREAMS
from tests.recorded.ways import difference, stream_row

__all__ = ["NAMES", "OF_TABLES", "RECORDED", "computed", "recorded", "written"]

RECORDED = Path(__file__).with_name("table.json")
OF_TABLES = ("stream rows", "stream cells")
"""Streams that are tables, and nothing else."""
NAMES = [*(f"stream {name}" for name in STREAMS), *(f"python {name}" for name in LIBRARY)]
"""What the table has a part for."""


def computed(name: str, folder: Path, tables: bool = True) -> tuple[Row, list[str]]:
    """A part of the table; and where ways that must give the same do not."""
    kind, _, inner = name.partition(" ")
    if kind == "stream":
        return stream_row(STREAMS[inner], folder, tables)
    return library_row(inner, folder, tables)


def recorded() -> dict[str, Row]:
    """The table as it was recorded."""
    found: dict[str, Row] = json.loads(RECORDED.read_text())
    return found


def written(table: dict[str, Row]) -> str:
    """The table as JSON, a line for a learner."""
    parts = []
    for name, row in table.items():
        said = [f"  {json.dumps(key)}: {json.dumps(row[key])}" for key in row if key != "learners"]
        learners = [
            f"   {json.dumps(spec)}: {json.dumps(each)}" for spec, each in row["learners"].items()
        ]
        said.append('  "learners": {\n' + ",\n".join(learners) + "\n  }")
        parts.append(f" {json.dumps(name)}: {{\n" + ",\n".join(said) + "\n }")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def all_computed(names: list[str], tables: bool) -> tuple[dict[str, Row], list[str]]:
    """The whole table."""
    found: dict[str, Row] = {}
    quarrels: list[str] = []
    for name in names:
        if not tables and name in OF_TABLES:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found[name], more = computed(name, Path(folder), tables)
        quarrels += more
    return found, quarrels


def main(arguments: list[str] | None = None) -> int:
    """Print or compare the table; 1 if something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.recorded.table", description=__doc__)
    parser.add_argument(*("--compare", "-c"), nargs="?", const=RECORDED, type=Path, metavar="FILE")
    parser.add_argument("--without-tables", action="store_true")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="PART")
    given = parser.parse_args(arguments)
    table, quarrels = all_computed(given.only, not given.without_tables)
    for each in quarrels:
        print(each, file=sys.stderr)
    if given.compare is None:
        print(written(table), end="")
        return int(bool(quarrels))
    known: dict[str, Any] = json.loads(given.compare.read_text())
    found = difference({name: known.get(name) for name in table}, table)
    print("\n".join(found) if found else "no difference")
    return int(bool(found or quarrels))


if __name__ == "__main__":
    sys.exit(main())
