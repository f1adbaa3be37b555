"""The error of a write that came too late, which its caller expects."""

__all__ = ["SwapError"]


class SwapError(Exception):
    """A file was written by another process since it was read."""
