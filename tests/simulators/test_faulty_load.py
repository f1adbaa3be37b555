"""A stream with faults: what is sent follows from the seed, and what a daemon says of it is checked."""

from collections import Counter
from typing import Any

import pytest

from simulators import faulty_load
from simulators.faulty_stream import Faults, messages


def test_there_are_as_many_faults_as_were_asked_for() -> None:
    faults = Faults(0.02, 0.1, 0.03, 100, 2.0)
    some = list(messages(20_000, 1, faults))
    assert some == list(messages(20_000, 1, faults))
    counted = Counter(each.counted for each in some)
    assert counted["labels"] / 20_000 == pytest.approx(0.1, abs=0.01)
    assert counted["rejects"] / 20_000 == pytest.approx(0.03, abs=0.005)
    assert (counted["learned"] - 20_000) / 20_000 == pytest.approx(0.02, abs=0.005)
    keys = Counter(each.key for each in some)
    (_, most), *_ = keys.most_common()
    assert most > 5 * len(some) / 100  # a third power of a uniform number is often small
    even = Counter(each.key for each in messages(20_000, 1, Faults(0, 0, 0, 100, 0.0)))
    assert max(even.values()) < 2 * 20_000 / 100
    assert len(list(messages(500, 1, Faults(0, 0, 0)))) == 500


def status(some: Any, **other: Any) -> dict[str, Any]:
    counted = Counter(each.counted for each in some)
    found = {name: counted[name] for name in ("learned", "labels", "rejects")}
    settings = {"delay": 1000}
    return {**found, "requests": 0, "events": len(some), "settings": settings, "assigned": ["a[0]", "a[1]"], **other}  # fmt: skip


def test_what_is_not_as_it_must_be_is_told() -> None:
    some = list(messages(300, 1, Faults()))
    before = status([])
    assert faulty_load.complaints(before, status(some), some) == []
    lost = faulty_load.complaints(before, status(some[1:]), some)
    assert any(each.startswith("learned: ") for each in lost)
    (waiting,) = faulty_load.complaints(before, status(some, requests=2), some)
    assert waiting == "requests: 2 still have no label"
    (why,) = faulty_load.complaints(before, status(some, settings={"delay": 0}), some)
    assert "start it with --delay" in why


def test_learners_that_are_not_what_a_replay_makes_of_them_are_told() -> None:
    some = list(messages(300, 1, Faults()))
    settings = {"delay": 1000, "n_ranks": 5, "learners": ["prank"], "preparation": "raw"}
    learners = faulty_load._replayed(settings, some)["learners"]
    more = {"settings": settings, "assigned": ["a[0]"], "learners": learners}
    assert faulty_load.complaints(status([]), status(some, **more), some) == []
    learners["prank"]["state_sha256"] = "another"
    (found,) = faulty_load.complaints(status([]), status(some, **more), some)
    assert found == "prank is not what a replay makes of it: state_sha256"
