"""Taking turns at compiling a function, among the processes of one user.

A process that was stopped (SIGSTOP, a frozen container) keeps its file locks for
as long as it is stopped. So nobody waits for a turn without end, and nothing that
can be read without a turn takes one.
"""

import fcntl
import logging
import os
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["LONGEST_WAIT_SECONDS", "Turn"]

LONGEST_WAIT_SECONDS = 60.0  # several times what the longest function takes to compile
_PAUSE_SECONDS = 0.02
_log = logging.getLogger(__name__)


class Turn:
    """The right to compile and keep one function: one process has it at a time, by a lock on a file.

    Threads of one process take turns by Numba's own lock, which whoever calls this has.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._held: int | None = None

    def take(self) -> bool:
        """Wait for this process's turn, a minute at most; say whether it came. Where the file cannot be made, it never does."""
        self.end()
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            held = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return False
        last = time.monotonic() + LONGEST_WAIT_SECONDS
        waits = False
        while True:
            with suppress(OSError):
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._held = held
                return True
            if not waits:
                _log.info("another process compiles %s: this one waits for it", self._file.stem)
                waits = True
            if time.monotonic() > last:
                _log.warning(
                    "another process has compiled %s for %.0f s, or was stopped meanwhile: "
                    "this one compiles it for itself",
                    self._file.stem,
                    LONGEST_WAIT_SECONDS,
                )
                os.close(held)
                return False
            time.sleep(_PAUSE_SECONDS)

    @property
    def taken(self) -> bool:
        """Whether it is this process's turn."""
        return self._held is not None

    def end(self) -> None:
        """Let the next one have its turn."""
        if self._held is not None:
            os.close(self._held)
            self._held = None
