"""The command line, called in this process, and what a replay by it has left."""

import contextlib
import csv
import hashlib
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from stream_rank.cli.main import main

__all__ = ["Row", "digest", "piped", "replay", "row_of", "state_of"]

Row = dict[str, Any]
_SAID = ("events", "learned", "requests", "labels", "skipped", "rejects")
_KNOWN = ("waiting", "dropped", "features", "time")
_BASELINES = ("baseline", "skill", "worse_than_constant", "loss_by_group")
"""What a summary and a curve have of baselines, which are nothing that a learner became or lost; and the same losses once more by group."""


def digest(lines: Iterable[str]) -> str:
    """A digest of lines of text."""
    found = hashlib.sha256()
    for line in lines:
        found.update(line.encode(errors="surrogateescape") + b"\n")
    return found.hexdigest()


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """A command listens to signals; whoever calls it here goes on to listen as before."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
    before = [signal.getsignal(number) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def command(*arguments: Any) -> str:
    """Run a command, which has to go well; its output."""
    said, complaint = io.StringIO(), io.StringIO()
    with (
        _own_signals(),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(complaint),
    ):
        code = main([str(each) for each in arguments])
    if code:
        raise RuntimeError(
            f"stream-rank {' '.join(map(str, arguments))}: {code}: {complaint.getvalue()}"
        )
    return said.getvalue()


@contextlib.contextmanager
def piped(content: bytes) -> Iterator[None]:
    """Let standard input be a pipe, into which somebody writes in portions of any size."""
    reading, writing = os.pipe()
    generator = Random(len(content))

    def write() -> None:
        place = 0
        with contextlib.suppress(BrokenPipeError), open(writing, "wb", buffering=0) as pipe:
            while place < len(content):
                place += pipe.write(content[place : place + generator.randint(1, 8_000)])

    before = sys.stdin
    writer = threading.Thread(target=write, daemon=True)
    with open(reading) as standard:
        sys.stdin = standard
        try:
            writer.start()
            yield
        finally:
            sys.stdin = before
    writer.join()


def _objects(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _of_baseline(name: str) -> bool:
    return any(word in name for word in _BASELINES)


def row_of(out: Path, inputs: Path) -> Row:
    """What the table says of a replay; `inputs` is the folder of what it read, which is no part of a place."""
    summary = json.loads((out / "summary.json").read_text())
    rejects = _objects(out / "rejects.jsonl")
    predictions = _objects(out / "predictions.jsonl")
    curves: dict[str, list[str]] = {}
    with (out / "curve.csv").open(newline="") as file:
        names, *points = csv.reader(file)
        own = [place for place, name in enumerate(names) if not _of_baseline(name)]
        header = [names[place] for place in own]
        for point in points:
            curves.setdefault(point[0], []).append(",".join(point[place] for place in own[1:]))
    learners = {}
    for spec, board in summary["learners"].items():
        asked = (f"{each['id']!r} {each['predictions'][spec]!r}" for each in predictions)
        learners[spec] = {
            **{key: value for key, value in board.items() if not _of_baseline(key)},
            "points": len(curves.get(spec, [])),
            "curve": digest([",".join(header[1:]), *curves.get(spec, [])]),
            "predictions": digest(asked),
        }
    places = (each["place"].replace(f"{inputs}{os.sep}", "") for each in rejects)
    return {
        **{key: summary[key] for key in (*_SAID, *_KNOWN)},
        "asked": len(predictions),
        "reasons": digest(each["reason"] for each in rejects),
        "rejected": digest(json.dumps([each.get("raw"), each.get("raw_hex")]) for each in rejects),
        "places": digest(places),
        "learners": learners,
    }


def replay(inputs: Sequence[Any], out: Path, *arguments: Any) -> None:
    """Replay into a folder."""
    shown = command("replay", *inputs, "--out", out, "--quiet", "--json", *arguments)
    if json.loads(shown) != json.loads((out / "summary.json").read_text()):
        raise RuntimeError(f"the summary that is printed is not the one in {out}")


def state_of(path: Path, known: dict[bytes, str]) -> str:
    """The digest of a learner's state in a file that `stream_rank.save` wrote; `known` are those of files seen."""
    content = path.read_bytes()
    if content not in known:  # the same bytes say the same, and asking takes a while
        (learner,) = json.loads(command("snapshot", "show", path))["learners"].values()
        known[content] = str(learner["state_sha256"])
    return known[content]
