"""The errors that users meet, each saying what was expected, what came, and what to do."""

__all__ = ["EventError", "FeatureError", "LabelError"]


class EventError(ValueError):
    """An event that cannot be learned from or ranked; the learner is as it was before."""


class FeatureError(EventError):
    """A feature whose value is not a usable number."""


class LabelError(EventError):
    """A label that is not one of the ranks."""
