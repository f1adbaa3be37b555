"""Signal handlers, which set requests in a `RunControl`."""

import signal
from collections.abc import Callable
from typing import Any

from stream_rank.cli.exit_codes import ExitCode
from stream_rank.pipeline.run_control import RunControl

__all__ = ["listen"]


def listen(on_stop: Callable[[], None] = lambda: None) -> tuple[RunControl, list[ExitCode]]:
    """Install handlers: SIGINT and SIGTERM request a stop after the current batch, SIGUSR1 requests a snapshot.

    Returns the requests, and a list that gets the exit code of a stop. `on_stop` is called in the handler. A second SIGINT or
    SIGTERM ends the process at once.
    """
    control, codes = RunControl(), []

    def stop(number: int, *_: Any) -> None:
        if control.stop_requested:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        control.stop_requested = True
        on_stop()
        codes.append(ExitCode.INTERRUPTED if number == signal.SIGINT else ExitCode.TERMINATED)

    def snapshot(*_: Any) -> None:
        control.snapshot_requested = True

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGUSR1, snapshot)
    return control, codes
