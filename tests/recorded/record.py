"""Record the table: `python -m tests.recorded.record`. It is refused where ways that must give the same do not."""

import sys

from tests.recorded.table import NAMES, RECORDED, all_computed, recorded, written
from tests.recorded.ways import difference

__all__ = ["main"]


def main() -> int:
    """Compute the table and write it, if it is one; 1 if it is not."""
    table, quarrels = all_computed(NAMES, tables=True)
    if quarrels:
        print("\n".join(quarrels), file=sys.stderr)
        return 1
    changed = difference(recorded(), table) if RECORDED.exists() else []
    print("\n".join(changed))
    RECORDED.write_text(written(table))
    rows = sum(len(row["learners"]) for row in table.values())
    print(f"{rows} rows of {len(table)} parts are in {RECORDED}; {len(changed)} fields changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
