"""Entries are sorted by their slots, whatever their order."""

from typing import Any

import numpy as np
import pytest

from stream_rank.engine.reading.entries import gather

LONGEST = 64


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("dropped", [False, True])
def test_events_are_sorted(dtype: str, dropped: bool) -> None:
    """In order from the first on, nearly so, or not at all; of no entries and of many; and each as often as it is asked for."""
    generator = np.random.default_rng(0)
    events: list[Any] = []
    for _ in range(300):
        slots = generator.permutation(1_000)[: generator.choice([0, 1, 2, 7, 8, 9, 15, 63, 64])]
        ordered = generator.integers(0, len(slots) + 1)
        events.append(np.concatenate([np.sort(slots[:ordered]), slots[ordered:]]))
    ends = np.cumsum([len(slots) for slots in events])
    which = np.repeat(np.arange(300), generator.integers(1, 4, 300))
    last, slots = ends[which], np.concatenate(events)
    first = last - [len(events[event]) for event in which]
    values = generator.random(len(slots)).astype(np.float32).astype(np.float64)
    where = np.arange(1_000)[::-1].copy() if dropped else np.empty(0, np.int64)
    if dropped:
        where[::3] = -1
    most = int((last - first).sum())
    starts, found, beside = (
        np.empty(len(which) + 1, np.int64),
        np.empty(most, np.int64),
        np.empty(most, dtype),
    )
    count, good = gather(first, last, slots, values, where, LONGEST, starts, found, beside)
    assert good
    assert starts[-1] == count
    for row, (begin, end) in enumerate(zip(first, last, strict=True)):
        own = slots[begin:end] if not dropped else where[slots[begin:end]]
        kept = own >= 0
        order = np.argsort(own[kept])
        mine = slice(starts[row], starts[row + 1])
        assert np.array_equal(found[mine], own[kept][order])
        assert np.array_equal(beside[mine], values[begin:end][kept][order])


def test_long_events_stay_in_their_order() -> None:
    slots = np.arange(LONGEST + 1)[::-1].copy()
    found, beside, starts = (
        np.empty(len(slots), np.int64),
        np.empty(len(slots)),
        np.empty(2, np.int64),
    )
    bounds = np.zeros(1, np.int64), np.array([len(slots)])
    nowhere = np.empty(0, np.int64)
    count, good = gather(*bounds, slots, slots + 0.0, nowhere, LONGEST, starts, found, beside)
    assert (count, good) == (len(slots), False)
    assert np.array_equal(found, slots)
    assert np.array_equal(beside, slots)
