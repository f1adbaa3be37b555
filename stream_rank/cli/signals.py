"""Signals, as what they ask for."""

import signal
from collections.abc import Callable
from typing import Any

from stream_rank.cli.exit_codes import ExitCode
from stream_rank.pipeline.run_control import RunControl

__all__ = ["listen"]


def listen(on_stop: Callable[[], None] = lambda: None) -> tuple[RunControl, list[ExitCode]]:
    """Take SIGINT and SIGTERM for the wish to stop behind the portion that a run is at, and SIGUSR1 for that of a snapshot.

    The wishes, and how to exit because of them. `on_stop` is called at once. Whoever asks to stop twice is obeyed at once.
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
