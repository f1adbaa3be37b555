"""The errors that users meet, each saying what was expected, what came, and what to do.

```
StreamRankError
├── EventError (a ValueError)      one event; the learner, or the run, goes on as it was
│   ├── UnreadableError
│   ├── FeatureError
│   └── LabelError
├── ConfigError                    a setting; nothing was begun
│   └── UnknownLabelsError         nobody said which labels there are
├── InputError                     a file or stream that cannot be read
│   └── RegistryError              a schema registry
│       └── RetriableRegistryError  (R)
├── MergeError (a ValueError)      learners that do not fit together
├── SnapshotError                  a snapshot that cannot be read, or cannot be trusted
│   └── SnapshotReadError  (R)
├── LeaseError                     somebody else writes the snapshots
├── TooManyRejectsError
├── NothingLearnedError            no event had a label or a preference
├── WriteError                     a result that cannot be written
│   └── SnapshotWriteError  (R)
└── KafkaError
    ├── RetriableKafkaError  (R)
    │   ├── MessageTooLargeError
    │   └── RefusedMessagesError
    └── FatalKafkaError
        └── LostOffsetsError
```

(R): a `RecoverableError`, which may pass without anybody's help. What runs for long tries again after a back-off;
every other error stays until somebody changes something.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

__all__ = [
    "ConfigError",
    "EventError",
    "FatalKafkaError",
    "FeatureError",
    "InputError",
    "KafkaError",
    "LabelError",
    "LeaseError",
    "LostOffsetsError",
    "MergeError",
    "MessageTooLargeError",
    "NothingLearnedError",
    "RecoverableError",
    "RefusedMessagesError",
    "RegistryError",
    "RetriableKafkaError",
    "RetriableRegistryError",
    "SnapshotError",
    "SnapshotReadError",
    "SnapshotWriteError",
    "StreamRankError",
    "TooManyRejectsError",
    "UnknownLabelsError",
    "UnreadableError",
    "WriteError",
    "cause_of",
    "unknown_name",
]


def cause_of(error: OSError, place: object = None) -> str:
    """What the system refused and where; `place` is said if the system does not say where.

    >>> cause_of(OSError(28, "No space left on device"), "run/rejects.jsonl"), cause_of(OSError(13, "Permission denied", "ca.pem"))
    ('run/rejects.jsonl: No space left on device', 'ca.pem: Permission denied')
    """
    where = place if error.filename is None else error.filename
    reason = error.strerror or str(error) or type(error).__name__
    return reason if where is None else f"{where}: {reason}"


class StreamRankError(Exception):
    """An error that stream-rank has words for; all others are faults of its own."""


class RecoverableError(StreamRankError):
    """An error that may pass without anybody's help."""


class EventError(StreamRankError, ValueError):
    """An event that cannot be learned from or ranked; the learner is as it was before."""

    kind = "schema"
    """What was wrong, in one word of few: rejects are counted by it."""


class UnreadableError(EventError):
    """Bytes that are not JSON, or more of them than are looked at."""

    kind = "unreadable"


class FeatureError(EventError):
    """A feature whose value is not a usable number."""

    kind = "feature"


class LabelError(EventError):
    """A label that is not one of the ranks."""

    kind = "label"


class ConfigError(StreamRankError):
    """A setting that cannot be."""


class UnknownLabelsError(ConfigError):
    """A learner of ranks that was not told which labels there are."""


class InputError(StreamRankError):
    """A file or stream that cannot be read."""


class RegistryError(InputError):
    """A schema registry that refuses, or is none, and will until somebody changes something."""


class RetriableRegistryError(RegistryError, RecoverableError):
    """A schema registry that cannot be reached, or cannot answer now."""


class MergeError(StreamRankError, ValueError):
    """Learners of which no average can be made; all of them are as they were."""


class SnapshotError(StreamRankError):
    """A snapshot that cannot be read, or cannot be trusted."""


class SnapshotReadError(SnapshotError, RecoverableError):
    """A store of snapshots that cannot be reached, or does not answer now; what is in it may be sound."""


class LeaseError(StreamRankError):
    """The snapshots of a run are written by another process, which holds their lease or took it."""


class TooManyRejectsError(StreamRankError):
    """More records were rejected than is allowed."""


class NothingLearnedError(StreamRankError):
    """A whole stream came, and there was nothing in it to learn from."""


class WriteError(StreamRankError):
    """A result that cannot be written."""


class SnapshotWriteError(WriteError, RecoverableError):
    """A snapshot that cannot be written now; the one before is whole."""


class KafkaError(StreamRankError):
    """Something between Kafka and us."""


class RetriableKafkaError(KafkaError, RecoverableError):
    """Kafka cannot be reached, or cannot do what is asked now."""


class MessageTooLargeError(RetriableKafkaError):
    """Messages that the broker does not take because of their size; they were not sent, and may be sent smaller."""

    def __init__(self, messages: Sequence[Any], error: object) -> None:
        super().__init__(f"{len(messages):,} messages are too large for the broker: {error}")
        self.messages = messages


class RefusedMessagesError(RetriableKafkaError):
    """Messages that were to be sent together, and of which the broker does not take at least one; none was sent."""

    def __init__(self, messages: Sequence[Any], error: object) -> None:
        super().__init__(f"the broker does not take one of {len(messages):,} messages: {error}")


class FatalKafkaError(KafkaError):
    """Kafka refuses, and will until somebody changes something."""


class LostOffsetsError(FatalKafkaError):
    """A partition no longer has what comes next."""


def unknown_name(
    what: str, given: str, known: Iterable[str], synonyms: Mapping[str, str] | None = None
) -> str:
    """A sentence about a name that is not known, with the nearest that is, or the one that it is a synonym of.

    >>> unknown_name("learner", "oap-bmp", ["prank", "oap-bpm"])
    "there is no learner 'oap-bmp'; did you mean 'oap-bpm'?"
    """
    names = list(known)
    lower = {name.lower(): name for name in names}
    synonym = (synonyms or {}).get(given)
    near = get_close_matches(given.lower(), lower, 1, cutoff=0.5)
    nearest = synonym if synonym in names else lower[near[0]] if near else None
    hint = f"did you mean {nearest!r}?" if nearest else f"there are {', '.join(names)}"
    return f"there is no {what} {given!r}; {hint}"
