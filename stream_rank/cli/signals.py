"""Signals, as what they ask for."""

import signal
from collections.abc import Callable
from typing import Any

from stream_rank.asked import Asked
from stream_rank.cli.exit_codes import ExitCode

__all__ = ["listen"]


def listen(on_stop: Callable[[], None] = lambda: None) -> tuple[Asked, list[ExitCode]]:
    """Take SIGINT and SIGTERM for the wish to stop behind the portion that a run is at, and SIGUSR1 for that of a snapshot.

    The wishes, and how to exit because of them. `on_stop` is called at once. Whoever asks to stop twice is obeyed at once.
    """
    asked, codes = Asked(), []

    def stop(number: int, *_: Any) -> None:
        if asked.to_stop:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        asked.to_stop = True
        on_stop()
        codes.append(ExitCode.INTERRUPTED if number == signal.SIGINT else ExitCode.TERMINATED)

    def snapshot(*_: Any) -> None:
        asked.for_snapshot = True

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGUSR1, snapshot)
    return asked, codes
