"""Compiling the engine, and keeping what was compiled.

Numba keeps compiled code on disk and compares the time stamp of *one* file: a
function whose callee changed in another file would be served stale. Here the
folder of the cache carries a digest of every file of the engine, so any change
compiles all of it anew and nothing else ever does.

Numba reads, changes and writes a function's index without a lock: of two
processes that compile it for different types at once, both may give their code
the same name, and one would run the other's from then on. Here they take turns,
and of several that start at once on a new machine, one compiles a function and
the others find it.

What is kept is code, which whoever writes to the folder has us run. So a folder
that somebody else owns, or may write to, is not used: nothing is kept then, and
every process compiles for itself, and says so.
"""

import fcntl
import hashlib
import logging
import os
import stat
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numba
from numba import extending
from numba.core.compiler_lock import global_compiler_lock

__all__ = ["cache_folder", "called", "compiled", "foreign", "inlined", "intrinsic"]

_Function = Callable[..., Any]
_config: Any = numba.config
_ENGINE = Path(__file__).parent


def _digest() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for file in sorted(_ENGINE.rglob("*.py")):
        digest.update(file.relative_to(_ENGINE).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where compiled code is kept: `NUMBA_CACHE_DIR` if set, else the user's cache folder."""
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    root = Path(base) if base else Path.home() / ".cache"
    return root / "stream-rank" / _digest()


def foreign(folder: Path) -> str:
    """Why the code in a folder cannot be trusted, which is made if it is not there; empty if it can be."""
    for each in (folder.parent, folder):
        with suppress(OSError):  # where we may not write, and nothing is, nothing is found either
            each.mkdir(mode=0o700, parents=each is not folder)
        try:
            found = each.lstat()
        except OSError:
            continue
        if not stat.S_ISDIR(found.st_mode):
            return f"{each} is no folder"
        if found.st_uid not in (os.geteuid(), 0):
            return f"{each} belongs to user {found.st_uid}"
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"others may write to {each}"
    return ""


if _config.DISABLE_JIT:
    raise ImportError("NUMBA_DISABLE_JIT is set, and the engine is nothing without its compiler")
_FOLDER = cache_folder()
_DISTRUSTED = foreign(_FOLDER)
if _DISTRUSTED:
    logging.getLogger(__name__).warning(
        "compiled code is neither taken nor kept, and every start compiles it anew: %s; "
        "remove that folder, or name another by NUMBA_CACHE_DIR",
        _DISTRUSTED,
    )


def compiled(function: _Function) -> _Function:
    """Compile an entry point: called from Python, kept on disk, without the interpreter's lock."""
    if _DISTRUSTED:
        alone: _Function = numba.njit(nogil=True, error_model="numpy")(function)
        return alone
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(_FOLDER)  # read once, when the function is decorated
    try:
        entry: _Function = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
        _take_turns(entry)
        return entry
    finally:
        _config.CACHE_DIR = before


def _take_turns(entry: Any) -> None:
    """Let no other process look up, compile or keep this function at the same time."""
    # Numba has no lock, and no place for one but around the method that does all three
    files = entry._cache._cache_file  # noqa: SLF001 - Numba offers no public way to its cache
    lock_file = Path(f"{files._index_path}.lock")  # noqa: SLF001 - in a folder made by Numba
    compile_for = entry.compile

    def alone(signature: Any) -> Any:
        # Numba's own lock first: a thread that has it may want this function next
        with global_compiler_lock, ExitStack() as held:
            with suppress(OSError):  # where we may not write, nobody does
                fcntl.flock(held.enter_context(lock_file.open("a")), fcntl.LOCK_EX)
            return compile_for(signature)

    entry.compile = alone


def inlined(function: _Function) -> _Function:
    """Compile a part of entry points: LLVM folds it into its callers, nothing is kept of its own.

    Compiled code alone calls it. Python and C have no way in, which would take a fifth of all the time of compiling.
    """
    no_way_in: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    made = numba.njit(nogil=True, error_model="numpy", forceinline=True, **no_way_in)
    part: _Function = made(function)
    return part


def called(function: _Function) -> _Function:
    """Compile a part of entry points that is long and seldom needed: what calls it keeps its registers for itself."""
    no_way_in: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    part: _Function = numba.njit(nogil=True, error_model="numpy", **no_way_in)(function)
    return part


def intrinsic(function: _Function) -> _Function:
    """Make a function of compiled code from one that writes its instructions."""
    made: _Function = extending.intrinsic(function)
    return made
