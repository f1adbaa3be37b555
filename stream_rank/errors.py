"""The errors that users meet, each saying what was expected, what came, and what to do."""

__all__ = [
    "ConfigError",
    "EventError",
    "FeatureError",
    "InputError",
    "LabelError",
    "SnapshotError",
    "TooManyRejectsError",
    "WriteError",
]


class EventError(ValueError):
    """An event that cannot be learned from or ranked; the learner is as it was before."""


class FeatureError(EventError):
    """A feature whose value is not a usable number."""


class LabelError(EventError):
    """A label that is not one of the ranks."""


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
