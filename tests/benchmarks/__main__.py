"""`make bench`: speed as ratios within one run on one core, as a table, kept in the README."""

import argparse
import sys
from pathlib import Path

from tests.benchmarks.measure import Line, one_core
from tests.benchmarks.readme import put_between


def _table(lines: list[Line]) -> str:
    head = ["| what | here | against | ratio | at least |", "|---|---|---|---:|---:|"]
    rows = [
        f"| {line.what} | {line.ours} | {line.peer} | {line.ratio:.2f} |"
        f" {'' if line.at_least is None else line.at_least} |"
        for line in lines
    ]
    return "\n".join(head + rows)


def main() -> int:
    """Run all benchmarks; 1 if a requirement is not met."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--readme", type=Path, help="a file whose table is replaced")
    given = parser.parse_args()
    one_core()  # before BLAS is loaded, which counts the cores
    from tests.benchmarks import engine, kafka, monitoring, peers, process, scores, stream

    lines = []
    for part in (
        *(engine.dense, peers.tables, peers.dicts, engine.non_zeros),
        *(scores.recursive, scores.on_line, scores.windows),
        *(
            stream.decoding,
            stream.replays,
            monitoring.exporter,
            kafka.end_to_end,
            process.memory,
            process.first_event,
        ),
    ):
        for line in part():
            lines.append(line)
            mark = "" if line.good else f"   BELOW {line.at_least}"
            print(f"{line.ratio:7.2f}  {line.what}: {line.ours}; {line.peer}{mark}", flush=True)
    if given.readme is not None:
        put_between(given.readme, "made by make bench", _table(lines))
    return int(not all(line.good for line in lines))


if __name__ == "__main__":
    sys.exit(main())
