"""Killed at any moment, and with a full disk, a run goes on as if nothing had happened.

`make soak` kills 200 times; CI does the same a few times.
"""

import os
import random
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import command, run, summary_of
from tests.killing import kill, unfinished
from tests.pipeline.conftest import mixed

pytestmark = pytest.mark.long(60)

KILLS = 200 if os.environ.get("SOAK") else 8
EVENTS = 120_000 if os.environ.get("SOAK") else 20_000
FLAGS = ["--learner", "oap-bpm:n_members=9", "--learner", "online-mprank:budget=20",
         "--learner", "scale | waves:n_components=5 | normalize | prank", "--n-ranks", 5,
         "--delay", 100, "--quiet"]  # fmt: skip
SAME = ("events", "learned", "requests", "labels", "rejects", "waiting", "dropped", "features", "learners", "position")  # fmt: skip


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Long lines, so that there are many chunks, and a snapshot behind each."""
    path = tmp_path_factory.mktemp("kill") / "events.jsonl"
    path.write_bytes(b"".join(line + b" " * 900 + b"\n" for line in mixed(EVENTS)))
    return path


@pytest.fixture(scope="module")
def whole(stream: Path) -> Path:
    out = stream.parent / "whole"
    ran = run("replay", stream, *FLAGS, "--out", out)
    assert ran.code == 0, ran.error
    return out


def assert_same(out: Path, whole: Path) -> None:
    one, other = summary_of(out), summary_of(whole)
    for name in SAME:
        assert one[name] == other[name], name
    for name in ("rejects.jsonl", "predictions.jsonl", "curve.csv"):
        assert (out / name).read_bytes() == (whole / name).read_bytes(), name


def test_killed_and_resumed_again_and_again(stream: Path, whole: Path, tmp_path: Path) -> None:
    generator, kills, inside, finished = random.Random(7), 0, 0, 0
    out = tmp_path / "out"
    while kills < KILLS or finished == 0:
        process = subprocess.Popen(
            command("replay", stream, *FLAGS, "--out", out, "--resume", "--snapshot-events", 1),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if kills < KILLS:
            kind = kill(process, out, generator)
        else:
            process.wait(120)
        if process.returncode == 0:
            assert_same(out, whole)
            shutil.rmtree(out)
            finished += 1
        else:
            assert process.returncode == -9, process.returncode
            kills += 1
            inside += kind == "inside a snapshot" and unfinished(out)
    assert inside > 0
    assert finished > 0


def _small_files() -> None:
    """What a full disk does, to this process alone: no file may grow beyond so many bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, resource.RLIM_INFINITY))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path | None]:
    """A disk of its own with hardly any room; None where nobody may make one."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(place)], capture_output=True
    )
    yield place if mounted.returncode == 0 else None
    if mounted.returncode == 0:
        subprocess.run(["umount", str(place)], check=True)


def _full(out: Path, flags: list[Any], **more: Any) -> None:
    ran = run(*flags, **more)
    assert ran.code == 6, ran.error
    assert "go on with --resume" in ran.error or "the one before is whole" in ran.error
    assert "Traceback" not in ran.error
    assert not unfinished(out)


def test_files_that_may_not_grow(stream: Path, whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    flags = ["replay", stream, *FLAGS, "--out", out, "--resume", "--snapshot-events", 1]
    for _ in range(2):
        _full(out, flags, preexec_fn=_small_files)
        assert run(*flags).code == 0
        assert_same(out, whole)


def test_a_disk_that_is_full(
    stream: Path, whole: Path, tmp_path: Path, small_disk: Path | None
) -> None:
    """With room again, the run goes on. Where no disk can be made, the test above has to do."""
    if small_disk is None:
        return
    out = small_disk / "out"
    flags = ["replay", stream, *FLAGS, "--out", out, "--resume", "--snapshot-events", 1]
    for _ in range(2):
        _full(out, flags)
    room = ["mount", "-o", "remount,size=100m", str(small_disk)]
    subprocess.run(room, check=True)
    ran = run(*flags)
    assert ran.code == 0, ran.error
    assert_same(out, whole)
