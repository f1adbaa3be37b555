"""Compiling the engine, and keeping what was compiled.

Numba keeps compiled code on disk and looks at the content of *one* file: a
function whose callee changed in another file would be served stale. Here the
code of a file is kept in a folder whose name carries a digest of that file and
of every file of the engine that it imports, itself or through others. So a change
compiles anew what it could have changed and nothing else, and all checkouts
and installations of the same code share what one of them compiled.

Numba reads, changes and writes a function's index without a lock: of two
processes that compile it for different types at once, both may give their code
the same name, and one would run the other's from then on. Here they take turns,
and of several that start at once on a new machine, one compiles a function and
the others find it.

What is kept is code, which whoever writes to the folder has us run. So a folder
that somebody else owns, or may write to, is not used: nothing is kept then, and
every process compiles for itself, and says so.
"""

import hashlib
import logging
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import extending
from numba.core.compiler_lock import global_compiler_lock

from stream_rank.engine.turns import Turn

__all__ = [
    "KeptByDigest",
    "cache_folder",
    "called",
    "cold",
    "compiled",
    "digest",
    "foreign",
    "inlined",
    "intrinsic",
    "needs",
]

_Function = Callable[..., Any]
_config: Any = numba.config
_PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(r"^\s*from stream_rank\.([\w.]+) import (\([^)]*\)|.*)", re.MULTILINE)
_IN_USE: set[Path] = set()


def cache_folder() -> Path:
    """Where compiled code is kept: `NUMBA_CACHE_DIR` if set, else the user's cache folder."""
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    root = Path(base) if base else Path.home() / ".cache"
    return root / "stream-rank" / f"numba-{numba.__version__}"


@cache
def needs(file: Path) -> frozenset[Path]:
    """The files of this package that a file imports from, by the one form that the engine uses: `from stream_rank.x import y`."""
    found: set[Path] = set()
    for module, names in _IMPORT.findall(file.read_text()):
        place = _PACKAGE.joinpath(*module.split("."))
        places = [place, *(place / name for name in re.findall(r"\w+", names))]
        for each in places:
            files = each.with_suffix(".py"), each / "__init__.py"
            found.update(one for one in files if one.is_file())
    return frozenset(found)


def _closure(file: Path) -> Iterator[Path]:
    """A file, and all of this package that runs before it is imported."""
    seen, ahead = {file}, [file]
    while ahead:
        each = ahead.pop()
        yield each
        news = needs(each) - seen
        seen |= news
        ahead += news


@cache
def digest(file: Path) -> str:
    """Of all that compiled code of a file may depend on."""
    total = hashlib.sha256(Path(__file__).read_bytes())
    for each in sorted(_closure(file), key=str):
        total.update(hashlib.sha256(each.read_bytes()).digest())
    return total.hexdigest()[:16]


def cold() -> bool:
    """Whether nothing that is imported was compiled before."""
    return not any(next(folder.glob("*.nbi"), None) for folder in _IN_USE)


class KeptByDigest:
    """Where Numba keeps a function's code: in a folder that is named by `digest`, so that nothing in it is ever out of date."""

    def __init__(self, file: Path, line: int) -> None:
        self._folder, self._line = _FOLDER / f"{file.stem}-{digest(file)}", line
        _IN_USE.add(self._folder)

    @classmethod
    def from_function(cls, function: _Function, file: str) -> "KeptByDigest":
        """For a function of a file."""
        return cls(Path(file).resolve(), function.__code__.co_firstlineno)

    def ensure_cache_path(self) -> None:
        """Make the folder."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """Return what never changes: another source has another folder."""
        return self._folder.name

    def get_disambiguator(self) -> str:
        """Return what tells functions of one name apart."""
        return str(self._line)


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
_LOCATORS = f"{__name__}.KeptByDigest"
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
    before = _config.CACHE_LOCATOR_CLASSES
    _config.CACHE_LOCATOR_CLASSES = _LOCATORS  # read once, when the function is decorated
    try:
        entry: _Function = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
        _take_turns(entry)
        return entry
    finally:
        _config.CACHE_LOCATOR_CLASSES = before


def _take_turns(entry: Any) -> None:
    """Let one process at a time compile and keep this function; whoever finds it compiled waits for nobody."""
    # Numba has no lock, and no places for one but around the methods that look up, keep, and do both
    kept = entry._cache  # noqa: SLF001 - Numba offers no public way to its cache
    turn = Turn(Path(f"{kept._cache_file._index_path}.lock"))  # noqa: SLF001
    compile_for, look_up, keep = entry.compile, kept.load_overload, kept.save_overload

    def look_up_again(*given: Any) -> Any:
        # files are replaced whole and never renamed, so reading needs no turn
        found = look_up(*given)
        if found is None and turn.take():
            found = look_up(*given)  # which another may have compiled meanwhile
        return found

    def keep_if_possible(*given: Any) -> None:
        if turn.taken:  # two that keep at once may give their code the same name
            with suppress(OSError):  # a disk that is full: others compile it too
                keep(*given)

    def in_turn(signature: Any) -> Any:
        # Numba's own lock first: a thread that has it may want this function next
        with global_compiler_lock:
            try:
                return compile_for(signature)
            finally:
                turn.end()

    entry.compile, kept.load_overload, kept.save_overload = (
        in_turn,
        look_up_again,
        keep_if_possible,
    )


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
