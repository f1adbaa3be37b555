"""How `stream-rank` ends."""

from enum import IntEnum

from stream_rank.errors import (
    ConfigError,
    EventError,
    InputError,
    KafkaError,
    SnapshotError,
    StreamRankError,
    TooManyRejectsError,
    WriteError,
)

__all__ = ["MEANINGS", "ExitCode", "code_of"]


class ExitCode(IntEnum):
    """Exit codes; `--help` shows them."""

    DONE = 0
    BUG = 1
    USAGE = 2
    INPUT = 3
    SNAPSHOT = 4
    REJECTS = 5
    OUTPUT = 6
    KAFKA = 7
    INTERRUPTED = 130
    TERMINATED = 143


MEANINGS = {
    ExitCode.DONE: "done",
    ExitCode.BUG: "an error of stream-rank's own; of `snapshot diff`, that there is a difference",
    ExitCode.USAGE: "a flag, setting, variable or learner that cannot be",
    ExitCode.INPUT: "an input cannot be read",
    ExitCode.SNAPSHOT: "a snapshot cannot be read, or cannot be trusted",
    ExitCode.REJECTS: "too many rejects",
    ExitCode.OUTPUT: "a result cannot be written",
    ExitCode.KAFKA: "Kafka refuses, or no longer has what comes next",
    ExitCode.INTERRUPTED: "stopped by Ctrl-C; everything was kept",
    ExitCode.TERMINATED: "stopped by SIGTERM; everything was kept, but by a daemon that could not in its time (one that could says 0)",
}

_CODES: dict[type[StreamRankError], ExitCode] = {
    ConfigError: ExitCode.USAGE,
    InputError: ExitCode.INPUT,
    EventError: ExitCode.INPUT,
    SnapshotError: ExitCode.SNAPSHOT,
    TooManyRejectsError: ExitCode.REJECTS,
    WriteError: ExitCode.OUTPUT,
    KafkaError: ExitCode.KAFKA,
}
"""One for each branch of the tree in `errors.py`."""


def code_of(error: Exception) -> ExitCode | None:
    """The code for an error that a user can do something about; None for others."""
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), None)
