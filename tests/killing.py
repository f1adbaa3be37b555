"""Killing a run at a random moment, as all proofs of resuming do."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

__all__ = ["kill", "newest", "unfinished"]


_LOOK = 0.0005
"""Seconds between two looks: a snapshot is written within some thousandths, and looking without a pause takes the processor from it."""


def newest(out: Path) -> str:
    """The name of the latest snapshot of a run; empty before there is one."""
    try:
        found = json.loads((out / "snapshots/latest").read_text())
    except OSError:
        return ""
    return found["snapshot"] or ""


def unfinished(out: Path) -> bool:
    """Whether a snapshot was being written."""
    try:
        return any(name.startswith(".unfinished-") for name in os.listdir(out / "snapshots"))
    except OSError:
        return False


def kill(process: "subprocess.Popen[bytes]", out: Path, generator: random.Random) -> str:
    """Kill a run while it starts, behind a snapshot, or inside the writing of one."""
    before = newest(out)
    kind = generator.choice(
        ["at any moment", "behind a snapshot", "inside a snapshot", "inside a snapshot"]
    )
    until = time.monotonic() + (generator.uniform(0, 5) if kind == "at any moment" else 60)
    while process.poll() is None and time.monotonic() < until:
        if kind == "behind a snapshot" and newest(out) != before:
            time.sleep(generator.uniform(0, 0.1))
            break
        if kind == "inside a snapshot" and newest(out) != before and unfinished(out):
            process.send_signal(signal.SIGSTOP)  # so that it still is inside when it is killed
            if unfinished(out):
                break
            process.send_signal(signal.SIGCONT)
        time.sleep(_LOOK)
    process.kill()
    process.wait()
    return kind
