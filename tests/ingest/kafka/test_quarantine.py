"""Messages that the setting `skip` names are passed over, counted and recorded; nobody else's are."""

import re
from bisect import bisect_left

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_rank.ingest.backoff import Backoff
from stream_rank.ingest.kafka.memory_broker import MemoryBroker, MemoryConsumer
from stream_rank.ingest.kafka.offsets import Offsets
from stream_rank.ingest.kafka.port import (
    ConsumerRecord,
    Partition,
    PartitionRecords,
    ProducerRecord,
    ResolveOffsets,
)
from stream_rank.ingest.kafka.quarantine import Passed, Quarantine, Skip
from stream_rank.ingest.kafka.topic_source import TopicSource

PARTITION = Partition("t", 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("t", "is neither TOPIC:PARTITION:FIRST-LAST"),
        ("t:0", "is neither"),
        ("t:0:5-", "is neither"),
        (":0:1-2", "is neither"),
        ("t:0:5-4", "ends before it begins"),
        ("t:2026-11-20T10:00Z/2026-11-20T10:00Z", "ends before it begins"),
        ("t:2026-11-20T10:00Z/soon", "time 'soon' is not of the form"),
    ],
)
def test_what_no_skip_means(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        Skip.of(text)


def part_of(offsets: list[int], times: list[int]) -> PartitionRecords:
    values: list[bytes | None] = [b"%d" % offset for offset in offsets]
    return PartitionRecords(
        PARTITION, offsets, values, lambda i: ConsumerRecord(values[i], None, (), times[i])
    )


@given(
    st.lists(
        st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=40, unique_by=lambda x: x[0]
    ),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)).map(sorted), max_size=3),
    st.booleans(),
)
def test_runs_are_all_messages_in_their_order(
    messages: list[tuple[int, int]], ranges: list[list[int]], by_time: bool
) -> None:
    """And those that are passed over are those that a slow and obvious look finds."""
    messages = sorted(messages)
    offsets, times = [each[0] for each in messages], [each[1] for each in messages]
    skips = [Skip(f"{a}-{b}", "t", 0, a, b) for a, b in ranges]
    skips += [Skip("times", "t", None, 3, 5)] if by_time else []
    quarantine = Quarantine(skips, lambda _: None)
    runs = quarantine.split(part_of(offsets, times))
    bad = {
        offset
        for offset, time in messages
        if any(a <= offset <= b for a, b in ranges) or (by_time and 3 <= time <= 5)
    }
    learned = [
        offset for run in runs if isinstance(run, PartitionRecords) for offset in run.offsets
    ]
    assert learned == [offset for offset in offsets if offset not in bad]
    found = [run for run in runs if isinstance(run, Passed)]
    assert sum(run.messages for run in found) == len(bad) == quarantine.passed
    for run in found:
        between = offsets[bisect_left(offsets, run.first) : bisect_left(offsets, run.last) + 1]
        assert set(between) <= bad
        assert len(between) == run.messages


def source_of(broker: MemoryBroker, skips: list[str], said: list[str]) -> TopicSource:
    def consumer(resolve: ResolveOffsets) -> MemoryConsumer:
        return MemoryConsumer(broker, None, ["t"], resolve)

    backoff = Backoff("Kafka", said.append)
    return TopicSource(["t"], consumer, backoff, say=said.append, skips=list(map(Skip.of, skips)))


@given(st.integers(0, 30), st.integers(0, 30), st.integers(1, 50), st.data())
def test_a_kill_anywhere_counts_each_once(
    first: int, length: int, total: int, data: st.DataObject
) -> None:
    """Whatever the position after a record is, whoever goes on from there learns the rest, and knows what was passed over."""
    broker, said = MemoryBroker(), list[str]()
    broker.create("t")
    for number in range(total):
        broker.append(ProducerRecord("t", b"%d" % number))
    text = f"t:0:{first}-{first + length}"
    bad = range(first, min(total, first + length + 1))
    learned: list[bytes] = []
    position: Offsets | None = None
    while position is None or position.get(PARTITION) != total:
        done = 0
        for chunk in source_of(broker, [text], said).chunks(position):
            assert chunk is not None
            if len(chunk):
                done = data.draw(st.integers(1, len(chunk)))
                learned += [chunk.raw(i) for i in range(done)]
            after = chunk.position_after(done if len(chunk) else 0)
            assert isinstance(after, Offsets)
            position = Offsets.from_json(after.to_json())  # as a snapshot has it
            if len(chunk) or position.get(PARTITION) == total:
                break  # killed
    assert learned == [b"%d" % number for number in range(total) if number not in bad]
    passed = [each.messages for each in position.passed.values()]
    assert passed == ([len(bad)] if len(bad) else [])


def test_a_skip_that_comes_too_late_is_told() -> None:
    broker, said = MemoryBroker(), list[str]()
    broker.create("t")
    for _ in range(20):
        broker.append(ProducerRecord("t", b"x"))
    chunks = source_of(broker, ["t:0:5-9"], said).chunks(Offsets({PARTITION: 12}))
    next(chunks)
    assert "12 is next in t[0], and what is before it was learned already" in said[-1]
    passed = Passed(PARTITION, "t:0:5-9", 5, 9, 5)
    said.clear()
    next(source_of(broker, ["t:0:5-9"], said).chunks(
        Offsets({PARTITION: 12}, {(PARTITION, passed.skip): passed})
    ))  # fmt: skip
    assert not said
