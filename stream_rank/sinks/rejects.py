"""The sink for rejects as lines of a file."""

import json
from pathlib import Path

from stream_rank.sinks.file_sink import FileSink
from stream_rank.sinks.sink import Rejected

__all__ = ["reject_file"]


def reject_file(path: Path) -> FileSink[Rejected]:
    """A file with one line of JSON per reject: reason, place and the raw record, in hex if it is not UTF-8."""
    return FileSink(path, _as_line)


def _as_line(reject: Rejected) -> bytes:
    line = {"reason": reject.reason, "place": reject.place}
    try:
        line["raw"] = reject.raw.decode()
    except UnicodeDecodeError:
        line["raw_hex"] = reject.raw.hex()
    return json.dumps(line).encode()
