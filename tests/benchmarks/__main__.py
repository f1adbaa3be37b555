"""`make bench`: speed as ratios within one run on one core, as tables, of which the README shows some rows."""

import argparse
import itertools
import sys
from importlib.util import find_spec
from pathlib import Path

from simulators.readme import put_between
from tests.benchmarks.headlines import HEAD, shown
from tests.benchmarks.measure import Line, machine, one_core

_RESULTS = Path(__file__).with_name("RESULTS.md")
_README = Path(__file__).parents[2] / "README.md"


def _table(lines: list[Line]) -> str:
    rows = [
        f"| {_cell(line.what)} | {_cell(line.ours)} | {_cell(line.peer)} | {line.ratio:.2f} | {_asked(line)} |"
        for line in lines
    ]
    return "\n".join([HEAD, *rows])


def _asked(line: Line) -> str:
    if line.at_least is None:
        return ""
    return f"{line.at_least}" if line.good else f"{line.at_least}, not met"


def _cell(text: str) -> str:
    """Text in which the bars of pipelines do not end a cell."""
    return text.replace("|", r"\|")


def main() -> int:
    """Run all benchmarks, or some; 1 if a requirement is not met."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="put the tables into RESULTS.md")
    parser.add_argument(
        "--only",
        choices=["engine", "raw", "factors", "preferences", "daemon", "spark"],
        help="one of the tables",
    )
    given = parser.parse_args()
    one_core()  # before BLAS is loaded, which counts the cores
    from tests.benchmarks import (
        engine,
        factors,
        kafka,
        monitoring,
        ordinal,
        peers,
        preferences,
        process,
        raw,
        scores,
        spark,
        stream,
    )

    tables = {
        "engine": (
            *(engine.dense, peers.tables, peers.dicts, engine.non_zeros, ordinal.ordinal),
            *(scores.recursive, scores.on_line, scores.windows),
            *(stream.decoding, stream.replays, process.memory, process.first_event),
        ),
        "raw": (raw.messages, raw.avro, raw.arrays, raw.dicts, stream.texts),
        "factors": (factors.factors,),
        "preferences": (preferences.preferences,),
        "daemon": (kafka.end_to_end, monitoring.exporter),
        "spark": (spark.partitions, spark.keys),
    }
    if given.only is None and find_spec("pyspark") is None:
        print("without Spark, which `make spark` installs", file=sys.stderr)
        del tables["spark"]
    good = True
    for name in tables if given.only is None else (given.only,):
        lines = []
        for line in itertools.chain.from_iterable(part() for part in tables[name]):
            lines.append(line)
            good &= line.good
            mark = "" if line.good else f"   BELOW {line.at_least}"
            print(f"{line.ratio:7.2f}  {line.what}: {line.ours}; {line.peer}{mark}", flush=True)
        if given.keep:
            put_between(
                _RESULTS, f"made by make bench: {name}", f"{_table(lines)}\n\n*On {machine()}.*"
            )
            put_between(_README, "made by make bench", shown(_RESULTS))
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
