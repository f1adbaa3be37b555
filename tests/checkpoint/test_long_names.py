"""Whatever names, ids and groups a stream has, a snapshot of it can be written and read."""

import os
import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from stream_rank import PRank
from stream_rank.checkpoint.model_file import learner_in, learner_key
from stream_rank.checkpoint.snapshot import Snapshot, pack, unpack
from stream_rank.learners.base.state import State
from stream_rank.pipeline.waiting_room import WaitingRoom

WAITING = 2_300_000 if os.environ.get("SOAK") else 300_000
HEADER = 100_000_000
"""Bytes of a header, by the safetensors format."""


def waiting(ids: list[Any]) -> State:
    """The state of a room in which these ids wait, each with one feature and a group."""
    count = len(ids)
    groups = [f"group {number % 1_000}" for number in range(count)]
    ones, slots = np.ones(count, np.int64), np.zeros(count, np.int64)
    arrays = {"slots": slots, "values": np.ones(count), "predictions": np.ones((count, 1))}
    metadata = {"dropped": 0, "ids": ids, "groups": groups}
    return State(metadata, {**arrays, "met": ones, "lengths": ones})


def uuids(count: int) -> Iterator[str]:
    for number in range(count):
        yield str(uuid.UUID(int=number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128))


@pytest.fixture
def long_ids() -> list[Any]:
    """Ids of 512 characters where there are few, so that they are longer together than a header may be."""
    if os.environ.get("SOAK"):
        return list(uuids(WAITING))
    return [f"{text:x<512}" for text in uuids(WAITING)]


@pytest.mark.long(15)
def test_more_ids_than_a_header_may_hold(long_ids: list[Any]) -> None:
    assert sum(len(each) for each in long_ids) > 0.8 * HEADER  # without quotes and commas
    room = WaitingRoom(len(long_ids))
    room.load(waiting([*long_ids[:-1], 17]))
    before = room.dump()
    raw = pack(Snapshot.of({room.key: before}))
    assert int.from_bytes(raw[:8], "little") < 10_000
    other = WaitingRoom(len(long_ids))
    other.load(unpack(raw).part(room.key))
    after = other.dump()
    assert after.metadata == before.metadata
    assert after.arrays.keys() == before.arrays.keys()
    assert all(np.array_equal(array, after.arrays[name]) for name, array in before.arrays.items())


def test_names_of_every_alphabet_and_their_kinds_come_back() -> None:
    model, name = PRank(n_ranks=3), learner_key("model")
    odd = ["", "\0", "\n", "ä", "語", "😀", "\ud800", "a" * 100_000, "7"]
    model.learn_one({**dict.fromkeys(odd, 1.0), 7: 2.0}, 2)
    found = learner_in(unpack(pack(Snapshot.of({name: model.dump()}))), "model")
    assert found.features == model.features
    assert {type(each) for each in found.features} == {int, str}
