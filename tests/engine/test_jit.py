"""The cache of compiled code: found again, and never stale."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stream_rank.engine import jit

REPOSITORY = Path(__file__).parents[2]
PROGRAM = """
import numpy as np
from stream_rank.engine.check import first_beyond
from stream_rank.engine.coins import toss
from stream_rank.engine.jit import compiled
from stream_rank.engine import check
first_beyond(np.ones((1, 1)), 2.0)
print(sum(first_beyond.stats.cache_hits.values()), first_beyond(np.full((1, 1), 5.0), 2.0))
"""


def run(tree: Path, cache: Path) -> list[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(tree)}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        cwd=tree,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()


def test_a_second_process_finds_what_the_first_compiled_until_any_file_changes(
    tmp_path: Path,
) -> None:
    tree, cache = tmp_path / "tree", tmp_path / "cache"
    shutil.copytree(REPOSITORY / "stream_rank", tree / "stream_rank")
    assert run(tree, cache) == ["0", "0"]
    assert run(tree, cache) == ["1", "0"]
    other = tree / "stream_rank/engine/coins.py"  # another file than the function's own
    other.write_text(other.read_text() + "\n# a change\n")
    assert run(tree, cache) == ["0", "0"]


def test_the_folder_follows_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert jit.cache_folder().parent == tmp_path / "stream-rank"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "own"))
    assert jit.cache_folder().parent == tmp_path / "own" / "stream-rank"
