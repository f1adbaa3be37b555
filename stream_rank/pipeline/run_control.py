"""Requests to a run in progress: to stop, or to take a snapshot."""

from dataclasses import dataclass

__all__ = ["RunControl"]


@dataclass
class RunControl:
    """Flags that a run checks between parts of chunks; signal handlers and other threads may set them."""

    stop_requested: bool = False
    snapshot_requested: bool = False
