"""Why records were rejected, by what their reasons have in common."""

import re
from typing import Any, NamedTuple

from stream_rank.learners.base.serialization import count_in
from stream_rank.learners.base.state import State
from stream_rank.printable import printable

__all__ = ["OTHERS", "RejectReason", "RejectReasons", "clipped"]

_MOST_KINDS = 100
"""So many kinds of reasons are told apart; names in them, such as those of features, may be of any number."""
_LONGEST, _SHOWN = 300, 80
"""Characters of a reason that are looked at, and of a record that are kept as an example."""
OTHERS = "other reasons"
"""What kinds that came after the most are counted as."""
_QUOTED = re.compile(r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)""")
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


def clipped(text: str, most: int) -> str:
    r"""Text that can do nothing to a terminal, clipped.

    >>> print(clipped("caf\u00e9 \x1b[31m and more", 12))
    café \x1b[31m a...
    """
    shown = printable(text[:most])
    return shown if len(text) <= most else f"{shown}..."


class RejectReason(NamedTuple):
    """Records that were rejected for the same reason."""

    reason: str
    """What their reasons have in common."""
    records: int
    first: str
    """The reason of the first of them, ..."""
    example: str
    """... and its beginning; both can be printed."""


class RejectReasons:
    """Counts rejects by their reason without the numbers and quoted values in it. Cost: O(1) a reject, bounded memory.

    >>> reasons = RejectReasons()
    >>> for label in (9, 8, 0):
    ...     reasons.count(f"label {label} is not one of the ranks 1..5", b'{"y": %d}' % label)
    >>> reasons.most_frequent(3)
    [RejectReason(reason='label … is not one of the ranks …..…', records=3,
                  first='label 9 is not one of the ranks 1..5', example='{"y": 9}')]
    """

    key = "reject_reasons"

    def __init__(self) -> None:
        self._kinds: dict[str, RejectReason] = {}

    def count(self, reason: str, raw: bytes) -> None:
        """Count a reject."""
        said = reason[:_LONGEST]
        kind = _NUMBER.sub("…", _QUOTED.sub("…", said))
        if kind not in self._kinds and len(self._kinds) >= _MOST_KINDS:
            kind = OTHERS
        known = self._kinds.get(kind)
        if known is None:
            text = raw[: 4 * _SHOWN + 4].decode(errors="backslashreplace")
            shown = clipped(said, _LONGEST), clipped(text, _SHOWN)
            known = RejectReason(clipped(kind, _LONGEST), 0, *shown)
        self._kinds[kind] = known._replace(records=known.records + 1)

    def most_frequent(self, most: int) -> list[RejectReason]:
        """The most frequent kinds of reasons; of equally frequent ones those that came first."""
        return sorted(self._kinds.values(), key=lambda each: -each.records)[:most]

    def dump(self) -> State:
        """All counts."""
        return State({"kinds": [[kind, *known] for kind, known in self._kinds.items()]}, {})

    def load(self, state: State) -> None:
        """Continue from the counts of another run."""
        stored: list[list[Any]] = state.metadata["kinds"]
        self._kinds = {str(kind): RejectReason(*known) for kind, *known in stored}
        for each in self._kinds.values():
            count_in(each._asdict(), "records")
            if not all(isinstance(text, str) for text in (each.reason, each.first, each.example)):
                raise ValueError("reasons are texts")
