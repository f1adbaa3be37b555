"""What somebody outside asks of a run while it goes on."""

from dataclasses import dataclass

__all__ = ["Asked"]


@dataclass
class Asked:
    """Looked at between portions, so that whoever asks may be a signal or another thread."""

    to_stop: bool = False
    for_snapshot: bool = False
