"""Messages that are passed over, because the setting `skip` names them."""

import re
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

from stream_rank.ingest.kafka.port import Partition, PartitionRecords
from stream_rank.ingest.timestamps import moment_of

__all__ = ["Passed", "Quarantine", "Skip"]

_FORM = (
    "is neither TOPIC:PARTITION:FIRST-LAST, such as ratings:0:2000-2500, nor TOPIC:FROM/TO, "
    "such as ratings:2026-11-20T10:00Z/2026-11-20T11:00Z"
)
_OFFSETS = re.compile(r"(\d{1,9}):(\d{1,18})(?:-(\d{1,18}))?")
_WITHOUT_SECONDS = re.compile(r"([Tt ]\d\d:\d\d)(?=$|[Zz+-])")


class Skip(NamedTuple):
    """Messages of a topic, by partition and offset or by their own timestamps."""

    text: str
    """As the setting has it."""
    topic: str
    partition: int | None
    """None for all of them, by time."""
    first: int
    last: int
    """Offsets, or milliseconds since 1970; the last one is included."""

    @staticmethod
    def of(text: str) -> "Skip":
        """What a setting means; raises `ValueError` if it means nothing. TO is the first moment that is learned again.

        >>> Skip.of("ratings:0:2000-2500")[1:]
        ('ratings', 0, 2000, 2500)
        >>> Skip.of("ratings:1970-01-01T00:00Z/1970-01-01T00:01Z")[1:]
        ('ratings', None, 0, 59999)
        """
        topic, colon, rest = text.partition(":")
        offsets = _OFFSETS.fullmatch(rest)
        begin, slash, end = rest.partition("/")
        if not topic or not colon or not (offsets or slash):
            raise ValueError(f"{text!r} {_FORM}")
        if offsets is not None:
            first, last = int(offsets[2]), int(offsets[3] or offsets[2])
            found = Skip(text, topic, int(offsets[1]), first, last)
        else:
            first, after = (
                moment_of(_WITHOUT_SECONDS.sub(r"\1:00", each)) for each in (begin, end)
            )
            found = Skip(text, topic, None, first, after - 1)
        if found.last < found.first:
            raise ValueError(f"{text!r} ends before it begins")
        return found

    def concerns(self, partition: Partition) -> bool:
        """Whether any message of a partition may be meant."""
        return self.topic == partition.topic and self.partition in (None, partition.number)


class Passed(NamedTuple):
    """Messages of one partition, one after the other, that were passed over for the same reason."""

    partition: Partition
    skip: str
    """The text of the setting."""
    first: int
    last: int
    """Offsets."""
    messages: int

    def after(self, before: "Passed | None") -> "Passed":
        """These and those passed over before them."""
        if before is None:
            return self
        return before._replace(last=self.last, messages=before.messages + self.messages)


class Quarantine:
    """Tells messages that are to be learned from those that are passed over.

    Cost: nothing, unless a setting names the partition; a look at every offset then, and at every timestamp for spans of time.
    """

    def __init__(self, skips: Sequence[Skip], say: Callable[[str], object]) -> None:
        self._skips, self._say = skips, say
        self._said: set[tuple[str, Partition]] = set()
        self.passed = 0
        """Messages that this process passed over."""

    def split(self, part: PartitionRecords) -> list[PartitionRecords | Passed]:
        """The same messages, in runs of those that are learned and those that are passed over."""
        if not part.offsets:
            return []
        first, last = part.offsets[0], part.offsets[-1]
        skips = [
            each
            for each in self._skips
            if each.concerns(part.partition)
            and (each.partition is None or (each.first <= last and first <= each.last))
        ]
        if not skips:
            return [part]
        found: list[PartitionRecords | Passed] = []
        for skip, run in groupby(range(len(part.offsets)), lambda i: _which(skips, part, i)):
            numbers = list(run)
            begin, end = numbers[0], numbers[-1] + 1
            if skip is None:
                found.append(part.part(begin, end))
            else:
                ends = part.offsets[begin], part.offsets[end - 1]
                passed = Passed(part.partition, skip.text, *ends, len(numbers))
                found.append(passed)
                self._tell(passed)
        return found

    def _tell(self, passed: Passed) -> None:
        self.passed += passed.messages
        if (passed.skip, passed.partition) not in self._said:
            self._said.add((passed.skip, passed.partition))
            self._say(
                f"passing over messages of {passed.partition} from {passed.first:,} on: `skip` {passed.skip}"
            )

    def warn(self, partition: Partition, next_offset: int, passed: Sequence[str]) -> None:
        """Say which settings come too late: their messages are behind the position, and were not passed over."""
        for skip in self._skips:
            late = skip.partition is not None and skip.first < next_offset
            if late and skip.concerns(partition) and skip.text not in passed:
                self._say(
                    f"`skip` {skip.text}: {next_offset:,} is next in {partition}, and what is before it was learned already; "
                    "stream-rank rollback goes back to a snapshot from before that"
                )


def _which(skips: Sequence[Skip], part: PartitionRecords, number: int) -> Skip | None:
    """The setting that names a message."""
    offset = part.offsets[number]
    for skip in skips:
        place = offset if skip.partition is not None else part.whole(number).timestamp
        if skip.first <= place <= skip.last:
            return skip
    return None
