"""What somebody outside asks of a run while it goes on."""

from dataclasses import dataclass

__all__ = ["RunControl"]


@dataclass
class RunControl:
    """Looked at between parts of chunks, so that a signal's handler or another thread may ask."""

    stop_requested: bool = False
    snapshot_requested: bool = False
