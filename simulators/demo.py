"""The demonstration: a table of reviews as people export it, replayed by one command as it is."""

import argparse
import csv
import random
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path

from simulators.arguments import whole
from stream_rank.cli.main import main

__all__ = ["COMMAND", "add", "run", "show", "write"]

COMMAND = "--fields y=stars ts=date --category seller --na-value NA --n-ranks 5"
"""What is in the table: which column is the label, which one a time, and that the numbers of sellers are names."""
_LEARNERS = ("hedge", "oap-bpm", "averaged-prank")
_BRANDS = ("Alder", "Birke", "Ceder", "Dorn", "Eibe", "Föhre", "Ginster", "Hasel")
_CITIES = ("Graz", "Linz", "Wels", "Steyr", "St. Pölten")
_WORDS = (
    "arrived on time",
    "would buy again",
    'they call it "new"',
    "smells of smoke; a pity",
    "as described",
    "broke within a week",
)


def write(path: Path, rows: int, seed: int) -> None:
    """A table of used things and the stars that their buyers gave: names, ids, missing cells, line breaks in quotes."""
    generator = random.Random(seed)
    sellers = {
        number: generator.gauss(0, 0.7) for number in generator.sample(range(10_000, 99_999), 300)
    }
    brands = {brand: generator.gauss(0, 0.5) for brand in _BRANDS}
    known = list(sellers)
    when = datetime(2026, 1, 1, tzinfo=UTC)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, delimiter=";")
        table.writerow(
            ["date", "seller", "brand", "city", "price", "age", "warranty", "remark", "stars"]
        )
        for _ in range(rows):
            when += timedelta(seconds=generator.randint(5, 600))
            seller, brand = generator.choice(known), generator.choice(_BRANDS)
            price, age = generator.lognormvariate(7, 0.8), generator.randint(0, 20)
            warranty = generator.choice(("yes", "no", ""))
            words = generator.sample(range(len(_WORDS)), generator.choice((0, 1, 1, 2)))
            merit = sellers[seller] + brands[brand] - 0.06 * age - 0.4 * (price / 2_000 - 0.7)
            merit += 0.3 * (warranty == "yes") + sum(
                (0.5, 0.7, -0.4, -0.8, 0.3, -1.5)[w] for w in words
            )
            stars = min(5, max(1, round(3.6 + merit + generator.gauss(0, 0.5))))
            table.writerow(
                [
                    when.strftime("%Y-%m-%d %H:%M:%S"),
                    seller,
                    brand if generator.random() < 0.97 else "",
                    generator.choice(_CITIES),
                    f"{price:.2f}" if generator.random() < 0.95 else "NA",
                    age if generator.random() < 0.9 else "",
                    warranty,
                    "\n".join(_WORDS[word] for word in words),
                    stars,
                ]
            )


def _free(folder: Path) -> Path:
    """A folder that is not there yet."""
    number, found = 1, folder
    while found.exists():
        number += 1
        found = folder.with_name(f"{folder.name}-{number}")
    return found


def show(events: int, seed: int, out: Path) -> int:
    """Write a table and replay it; the exit code."""
    path = out / "reviews.csv"
    write(path, events, seed)
    with path.open(encoding="utf-8") as file:
        head = "    ".join(["    ", *(next(file) for _ in range(6))])
    print(f"{events:,} reviews of used things, as they were exported, in {path}:\n\n{head}")
    print(
        "Text, ids that are numbers, missing cells, line breaks within cells: nothing is prepared by hand."
    )
    print(
        "Every learner predicts the stars of each review, then learns them. The skill is what it saves of"
    )
    print("the loss of always answering the median.\n")
    learners = [flag for learner in _LEARNERS for flag in ("--learner", learner)]
    folder = _free(out / "run")
    command = [str(path), *shlex.split(COMMAND), *learners, "--out", str(folder)]
    print(f"    stream-rank replay {shlex.join(command)}\n", flush=True)
    code = main(["replay", *command])
    if code == 0:
        print(
            f"\nOpen {folder / 'report.html'} in a browser. What was learned, in Python:\n"
            "\n    import stream_rank"
            f'\n    model = stream_rank.load("{folder}", learner="hedge")'
            '\n    model.predict_one({"brand": "Eibe", "price": 900.0, "seller=12345": 1})'
            f"\n\nor for any language:  stream-rank snapshot export {folder} --learner oap-bpm"
        )
    return code


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--events", type=whole, default=100_000, help="how many (%(default)s)")
    parser.add_argument("--seed", type=whole, default=1, help="of the stream (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path("out/demo"), help="a folder (%(default)s)")


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    return show(given.events, given.seed, given.out)
