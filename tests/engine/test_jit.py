"""The cache of compiled code: found again, and never stale."""

import ast
import fcntl
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stream_rank.engine import check, jit
from tests.ingest.kafka.conftest import wait_for

REPOSITORY = Path(__file__).parents[2]
PROGRAM = """
import numpy as np
from stream_rank.engine.check import first_beyond
from stream_rank.engine.coins import toss
from stream_rank.engine import jit
cold = jit.cold()
first_beyond(np.ones((1, 1)), 2.0)
print("cold" if cold else "warm", sum(first_beyond.stats.cache_hits.values()), first_beyond(np.full((1, 1), 5.0), 2.0))
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


def changed(file: Path) -> None:
    file.write_text(file.read_text() + "\n# a change\n")


def test_a_second_process_finds_what_the_first_compiled_until_what_it_needs_changes(
    tmp_path: Path,
) -> None:
    tree, cache = tmp_path / "tree", tmp_path / "cache"
    shutil.copytree(REPOSITORY / "stream_rank", tree / "stream_rank")
    assert run(tree, cache) == ["cold", "0", "0"]
    assert run(tree, cache) == ["warm", "1", "0"]
    changed(tree / "stream_rank/engine/coins.py")  # nothing that the function needs
    assert run(tree, cache) == ["warm", "1", "0"]
    needed = Path(check.__file__).relative_to(REPOSITORY)
    for other in (tree / "stream_rank/engine/jit.py", tree / needed):
        changed(other)
        assert run(tree, cache) == ["cold", "0", "0"]


def test_a_checkout_finds_what_another_compiled(tmp_path: Path) -> None:
    for tree in (tmp_path / "a", tmp_path / "b"):
        shutil.copytree(REPOSITORY / "stream_rank", tree / "stream_rank")
    assert run(tmp_path / "a", tmp_path / "cache") == ["cold", "0", "0"]
    assert run(tmp_path / "b", tmp_path / "cache") == ["warm", "1", "0"]


@pytest.mark.parametrize(
    "file", sorted((REPOSITORY / "stream_rank/engine").rglob("*.py")), ids=lambda file: file.stem
)
def test_a_file_needs_all_that_it_imports(file: Path) -> None:
    package = REPOSITORY / "stream_rank"
    imported = set()
    for node in ast.walk(ast.parse(file.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "the engine imports by whole names"
            names = [str(node.module), *(f"{node.module}.{each.name}" for each in node.names)]
        for name in names:
            place = REPOSITORY.joinpath(*name.split("."))
            files = place.with_suffix(".py"), place / "__init__.py"
            imported |= {each for each in files if each.is_file() and package in each.parents}
    assert imported == jit.needs(file)


def test_what_cannot_be_kept_is_compiled_all_the_same(tmp_path: Path) -> None:
    program = """
from stream_rank.engine.jit import compiled
@compiled
def twice(value):
    return value + value
twice._cache._cache_file._open_for_write = lambda name: open("/dev/full/" + name)
print(twice(3))
"""
    tmp_path.joinpath("twice.py").write_text(program)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, str(tmp_path / "twice.py")]
    assert (
        subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout
        == b"6\n"
    )


TWO = """
import sys, time
from pathlib import Path
from numba.core.caching import IndexDataCacheFile
from stream_rank.engine.jit import compiled

@compiled
def twice(value):
    return value + value

read = IndexDataCacheFile._load_index
def slowly(files):
    found = read(files)
    time.sleep(float(sys.argv[2]))
    return found
IndexDataCacheFile._load_index = slowly
if len(sys.argv) > 3:  # both at once
    Path(sys.argv[3]).touch()
    while not Path(sys.argv[4]).exists():
        time.sleep(0.001)
results = [twice(eval(value)) for value in sys.argv[1].split()]
print(sum(twice.stats.cache_hits.values()), *results)
"""


def test_two_that_compile_at_once_do_not_take_the_same_name(tmp_path: Path) -> None:
    program, a, b = tmp_path / "two.py", tmp_path / "a", tmp_path / "b"
    program.write_text(TWO)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(REPOSITORY)}

    def begun(*given: object) -> "subprocess.Popen[str]":
        command = [sys.executable, str(program), *map(str, given)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

    with begun("3", 1, a, b) as one, begun("1.5", 1, b, a) as other:
        assert one.communicate()[0].split() == ["0", "6"]
        assert other.communicate()[0].split() == ["0", "3.0"]
    with begun("3 1.5", 0) as third:
        assert third.communicate()[0].split() == ["2", "6", "3.0"]


ONE = """
import logging, sys, time
from pathlib import Path
from stream_rank.engine import turns
from stream_rank.engine.jit import compiled

logging.basicConfig(level=logging.INFO, format="%(message)s", filename=sys.argv[3])
turns.LONGEST_WAIT_SECONDS = float(sys.argv[4])

@compiled
def twice(value):
    return value + value

inner = twice._compiler.compile
def slowly(*given):
    Path(sys.argv[1]).touch()
    while not Path(sys.argv[2]).exists():
        time.sleep(0.001)
    return inner(*given)
twice._compiler.compile = slowly
print(twice(3), sum(twice.stats.cache_hits.values()))
"""


class OneCompiles:
    """A process that has begun to compile a function, until `go_on` is there; and others that want it too."""

    def __init__(self, folder: Path) -> None:
        self._program, self._folder = folder / "one.py", folder
        self._program.write_text(ONE)
        self.go_on = folder / "go-on"
        self.process = self.started("first")
        wait_for((folder / "first").exists)

    def started(self, name: str, patience: float = 600) -> "subprocess.Popen[str]":
        environment = {
            **os.environ,
            "NUMBA_CACHE_DIR": str(self._folder),
            "PYTHONPATH": str(REPOSITORY),
        }
        given = [self._folder / name, self.go_on, self._folder / f"{name}.log", patience]
        command = [sys.executable, str(self._program), *map(str, given)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

    def said(self, name: str, words: str) -> bool:
        log = self._folder / f"{name}.log"
        return log.exists() and words in log.read_text()


def test_one_compiles_and_the_other_waits_for_it(tmp_path: Path) -> None:
    one = OneCompiles(tmp_path)
    with one.process, one.started("other") as other:
        wait_for(lambda: one.said("other", "this one waits"))
        one.go_on.touch()
        assert one.process.communicate()[0].split() == ["6", "0"]
        assert other.communicate()[0].split() == ["6", "1"]


def test_nobody_waits_without_end_for_one_that_was_stopped(tmp_path: Path) -> None:
    one = OneCompiles(tmp_path)
    with one.process:
        one.process.send_signal(signal.SIGSTOP)
        one.go_on.touch()
        with one.started("other", patience=0.1) as other:
            assert other.communicate()[0].split() == ["6", "0"]
        assert one.said("other", "this one compiles it for itself")
        assert not list(tmp_path.rglob("*.nbc"))  # it has kept nothing: it was not its turn
        one.process.send_signal(signal.SIGCONT)
        assert one.process.communicate()[0].split() == ["6", "0"]
    (kept,) = tmp_path.rglob("*.lock")
    with kept.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # as one that was stopped later, while it compiles more
        with one.started("third") as third:
            assert third.communicate()[0].split() == ["6", "1"]
    assert not one.said("third", "waits")


def test_the_folder_follows_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert jit.cache_folder().parent == tmp_path / "stream-rank"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "own"))
    assert jit.cache_folder().parent == tmp_path / "own" / "stream-rank"


@pytest.mark.long(20)
@pytest.mark.parametrize("which", ["own", "mode", "link"])
def test_code_that_others_could_have_written_is_not_run(which: str, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert run(REPOSITORY, cache) == ["cold", "0", "0"]
    assert run(REPOSITORY, cache) == ["warm", "1", "0"]
    (kept,) = (cache / "stream-rank").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o700
    if which == "own":
        if os.geteuid():
            pytest.skip("only root gives files away")
        os.chown(kept, 12_345, 12_345)
    elif which == "mode":
        kept.chmod(0o770)
    else:
        kept.rename(tmp_path / "theirs")
        kept.symlink_to(tmp_path / "theirs")
    assert run(REPOSITORY, cache) == ["cold", "0", "0"]
    why = {"own": "belongs to user 12345", "mode": "others may write", "link": "is no folder"}
    assert why[which] in jit.foreign(kept)
