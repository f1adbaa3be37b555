"""The errors that users meet, each saying what was expected, what came, and what to do."""

from collections.abc import Sequence
from typing import Any

__all__ = [
    "BrokerError",
    "BrokerTrouble",
    "ConfigError",
    "EventError",
    "FeatureError",
    "InputError",
    "LabelError",
    "PositionError",
    "SnapshotError",
    "TooLargeError",
    "TooManyRejectsError",
    "UnreadableError",
    "WriteError",
]


class EventError(ValueError):
    """An event that cannot be learned from or ranked; the learner is as it was before."""

    kind = "schema"
    """What was wrong, in one word of few: for counting."""


class UnreadableError(EventError):
    """Bytes that are no JSON, or more of them than are looked at."""

    kind = "unreadable"


class FeatureError(EventError):
    """A feature whose value is not a usable number."""

    kind = "feature"


class LabelError(EventError):
    """A label that is not one of the ranks."""

    kind = "label"


class InputError(Exception):
    """A file or stream that cannot be read."""


class SnapshotError(Exception):
    """A snapshot that cannot be written, or cannot be trusted."""


class ConfigError(Exception):
    """A setting that cannot be."""


class TooManyRejectsError(Exception):
    """More records that are no events than were allowed."""


class WriteError(Exception):
    """A result that cannot be written."""


class BrokerTrouble(Exception):  # noqa: N818 - it passes by itself, and nobody needs to be told twice
    """Kafka cannot be reached, or cannot do what is asked now."""


class TooLargeError(BrokerTrouble):
    """Messages that the broker does not take because of their size; they were not sent."""

    def __init__(self, messages: Sequence[Any], error: object) -> None:
        super().__init__(f"{len(messages):,} messages are too large for the broker: {error}")
        self.messages = messages


class BrokerError(Exception):
    """Kafka refuses, and will until somebody changes something."""


class PositionError(BrokerError):
    """A partition no longer has what comes next."""
