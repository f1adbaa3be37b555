"""The exit codes of `stream-rank`."""

from enum import IntEnum

from stream_rank.errors import (
    ConfigError,
    EventError,
    InputError,
    KafkaError,
    LeaseError,
    MergeError,
    NothingLearnedError,
    SnapshotError,
    SnapshotReadError,
    StreamRankError,
    TooManyRejectsError,
    WriteError,
)

__all__ = ["MEANINGS", "ExitCode", "code_of"]


class ExitCode(IntEnum):
    """Exit codes, which `--help` shows."""

    DONE = 0
    BUG = 1
    USAGE = 2
    INPUT = 3
    SNAPSHOT = 4
    REJECTS = 5
    OUTPUT = 6
    KAFKA = 7
    NOTHING = 8
    LEASE = 9
    INTERRUPTED = 130
    TERMINATED = 143


MEANINGS = {
    ExitCode.DONE: "done",
    ExitCode.BUG: "a bug of stream-rank; from `snapshot diff`: the snapshots differ",
    ExitCode.USAGE: "a flag, setting, variable or learner is invalid",
    ExitCode.INPUT: "an input cannot be read",
    ExitCode.SNAPSHOT: "a snapshot is not there, or is corrupt, or does not fit to another",
    ExitCode.REJECTS: "too many rejects, or nothing else",
    ExitCode.OUTPUT: "a result cannot be written, or the store of snapshots cannot be reached",
    ExitCode.KAFKA: "Kafka refuses, or the next offset is no longer available",
    ExitCode.NOTHING: "nothing was learned: no event had a label or a preference",
    ExitCode.LEASE: "another process writes the snapshots of the run, or took their lease",
    ExitCode.INTERRUPTED: "stopped by Ctrl-C; everything is saved",
    ExitCode.TERMINATED: "stopped by SIGTERM; everything is saved. From the daemon: stopping exceeded `stop_seconds` (otherwise it exits with 0)",
}

_CODES: dict[type[StreamRankError], ExitCode] = {
    ConfigError: ExitCode.USAGE,
    InputError: ExitCode.INPUT,
    EventError: ExitCode.INPUT,
    SnapshotReadError: ExitCode.OUTPUT,
    SnapshotError: ExitCode.SNAPSHOT,
    MergeError: ExitCode.SNAPSHOT,
    TooManyRejectsError: ExitCode.REJECTS,
    WriteError: ExitCode.OUTPUT,
    KafkaError: ExitCode.KAFKA,
    NothingLearnedError: ExitCode.NOTHING,
    LeaseError: ExitCode.LEASE,
}
"""The code for each branch of the tree in `errors.py`, a twig before its branch."""


def code_of(error: Exception) -> ExitCode | None:
    """The code for an error that users can act on; None for others, which are bugs."""
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), None)
