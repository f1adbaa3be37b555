"""Other machines, as far as this one can play them; part of `make soak`."""

import argparse
import sys

from tests.machines import aarch64, cpython


def main() -> int:
    """Show one of them; 1 if something differs or fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.machines", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    other = kinds.add_parser("aarch64", help="the table of digests on an emulated aarch64")
    other.add_argument(
        "--only", nargs="+", choices=aarch64.PARTS, default=aarch64.PARTS, metavar="PART"
    )
    newer = kinds.add_parser("cpython", help="the quick tests under the newest CPython there is")
    newer.add_argument("--numprocesses", default="auto", help="for pytest")
    given = parser.parse_args()
    if given.kind == "aarch64":
        return aarch64.compare(given.only)
    return cpython.run(["--quiet", "--numprocesses", given.numprocesses])


if __name__ == "__main__":
    sys.exit(main())
