"""Rejects as lines of a file."""

import json
from pathlib import Path

from stream_rank.sinks.file_sink import FileSink
from stream_rank.sinks.sink import Rejected

__all__ = ["reject_file"]


def reject_file(path: Path) -> FileSink[Rejected]:
    """A file with a line of JSON for every reject: reason, place and what came, as text if it is any."""
    return FileSink(path, _as_line)


def _as_line(reject: Rejected) -> bytes:
    line = {"reason": reject.reason, "place": reject.place}
    try:
        line["raw"] = reject.raw.decode()
    except UnicodeDecodeError:
        line["raw_hex"] = reject.raw.hex()
    return json.dumps(line).encode()
