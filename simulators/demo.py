"""The demonstration: a day of synthetic ratings, replayed with progress shown."""

from pathlib import Path

from simulators.learning_curves import BAYES_LOSS
from stream_rank.cli.main import main
from stream_rank.datasets.oap_blocks import blocks
from stream_rank.ingest.files.json_rows import as_json

__all__ = ["run"]

_LEARNERS = ("oap-bpm", "prank", "averaged-prank", "widrow-hoff:learning_rate=0.1")


def _write(path: Path, events: int, seed: int) -> bytes:
    """The OAP paper's synthetic stream as lines of JSON; the first of them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names, written, first = [f"x{i}" for i in range(6)], 0, b""
    with path.open("wb") as file:
        for X, y in blocks(seed, "quadratic"):
            for values, rank in zip(X.tolist(), y.tolist(), strict=True):
                line = as_json(names, [round(value, 4) for value in values], rank)
                first = first or line
                file.write(line + b"\n")
                written += 1
                if written == events:
                    return first
    return first


def run(events: int, seed: int, out: Path) -> int:
    """Write a file of ratings and replay it; the exit code."""
    file = out / "events.jsonl"
    print(f"{events:,} ratings of 1 to 5 stars, in {file}, a line each:\n")
    print(f"    {_write(file, events, seed).decode()}\n")
    print("Every learner predicts each rating, then learns it. The loss is how many stars the")
    print(f"predictions are off; {BAYES_LOSS} of it is noise, which no rule can foretell.\n")
    flags = [flag for learner in _LEARNERS for flag in ("--learner", learner)]
    folder = out / "run"
    number = 1
    while folder.exists():
        number += 1
        folder = out / f"run-{number}"
    command = [str(file), *flags, "--n-ranks", "5", "--out", str(folder)]
    print(f"    stream-rank replay {' '.join(command)}\n", flush=True)
    code = main(["replay", *command])
    if code == 0:
        print(
            f"\nOpen {folder / 'report.html'} in a browser. The rule that was learned, in Python:\n"
            "\n    import stream_rank"
            f'\n    model = stream_rank.load("{folder}", learner="oap-bpm")'
            '\n    model.predict_one({"x0": 0.1, "x1": 0.9})'
            f"\n\nor for any language:  stream-rank snapshot export {folder} --learner oap-bpm"
        )
    return code
