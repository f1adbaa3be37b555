"""What somebody outside asks of a run while it goes on."""

from dataclasses import dataclass

__all__ = ["RunControl"]


@dataclass
class RunControl:
    """Looked at between portions, so that whoever asks may be a signal or another thread."""

    stop_requested: bool = False
    snapshot_requested: bool = False
