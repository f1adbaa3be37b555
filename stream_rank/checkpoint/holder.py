"""Who holds a lease: a process, and whether it is known to have ended."""

import os
import secrets
import socket
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Holder"]

_ENDED = ("Z", "X")
"""States of a process that runs no more, though its parent has not asked after it."""


class Holder(NamedTuple):
    """A process that holds a lease, or held it. All but `id` may be that of others too, or unknown."""

    id: str
    """Random: what decides."""
    host: str = ""
    process: int = 0
    started: str = ""
    """Since the machine's start, in ticks: numbers of processes come again."""
    kernel: str = ""
    """The machine, since its last start, and the name space of its processes: containers number theirs themselves."""

    @staticmethod
    def ours() -> "Holder":
        """This process, as the holder of one lease."""
        number = os.getpid()
        host = socket.gethostname()
        return Holder(secrets.token_hex(8), host, number, _start_of(number) or "", _kernel())

    @staticmethod
    def from_json(given: Any) -> "Holder | None":
        """A holder as it was written; None if it is none."""
        match given:
            case {"id": str(key), "host": str(host), "process": int(number), "started": str(started), "kernel": str(kernel)}:  # fmt: skip
                return Holder(key, host, number, started, kernel)
        return None

    @property
    def gone(self) -> bool | None:
        """Whether the process is known to have ended (True) or to be there (False); None of one that cannot be seen from here."""
        if not (self.process > 0 and self.started and self.kernel and self.kernel == _kernel()):
            return None
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except (OSError, OverflowError):
            pass  # somebody else's, of which /proc may show nothing
        started = _start_of(self.process)
        return None if started is None else started != self.started

    def __str__(self) -> str:
        return f"process {self.process} on {self.host}"


def _start_of(process: int) -> str | None:
    """When a process was started; empty if it has ended, None if it cannot be seen."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return None
    state, *rest = text.rpartition(")")[2].split()  # the name before may have anything in it
    return "" if state in _ENDED else rest[18]


def _kernel() -> str:
    """Whose processes these are; empty where no file says so."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""
