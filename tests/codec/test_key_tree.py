"""The table of keys and texts: nobody can make it slow from outside, and it finds what was entered."""

import json
import random
from contextlib import suppress
from itertools import islice, product
from typing import Any

import numpy as np

from stream_rank.codec.decoder import Decoder
from stream_rank.codec.event import Event
from stream_rank.codec.feature_index import FeatureIndex
from stream_rank.codec.form import EventForm
from stream_rank.codec.key_tree import Keys
from stream_rank.codec.limits import Limits
from stream_rank.codec.own_form import OwnLayout
from stream_rank.errors import FeatureError
from stream_rank.ingest.chunk import as_records
from stream_rank.learners.base.values import features_of

BITS = 24
"""As many of the lowest bits collide: a table of 50,000 names has fewer places."""


def colliding(count: int) -> list[str]:
    """Names that Fowler, Noll and Vo's hash, which has no key, puts into one place.

    From each state two blocks lead on to the same state (its lowest bits depend on nothing higher), and so of sixteen of
    them every choice does.
    """
    mask = (1 << BITS) - 1

    def after(state: int, block: bytes) -> int:
        for byte in block:
            state = (state ^ byte) * 0x100000001B3 & mask
        return state

    state, choices = 0xCBF29CE484222325 & mask, []
    generator = random.Random(0)
    letters = b"abcdefghijklmnopqrstuvwxyz0123456789"
    for _ in range(16):
        seen: dict[int, bytes] = {}
        while True:
            block = bytes(generator.choices(letters, k=6))
            reached = after(state, block)
            if seen.setdefault(reached, block) != block:
                choices.append((seen[reached], block))
                state = reached
                break
    return ["".join(map(bytes.decode, some)) for some in islice(product(*choices), count)]


def grown(names: list[str], text: bool) -> Keys:
    """A tree that knows these names, as keys or as texts of one key."""
    index = FeatureIndex([f"user={name}" for name in names] if text else names)
    keys = Keys(index, OwnLayout(), frozenset(), 10**6)
    for begin in range(0, len(names), 1000):
        some = names[begin : begin + 1000]
        x: dict[str, Any] = {"user": some} if text else dict.fromkeys(some, 1.0)
        keys.learn(json.dumps({"x": x, "y": 1}).encode())
    return keys


def test_names_made_to_collide_cost_what_others_do() -> None:
    """By how many entries a search may look at; a clock would say the same with noise."""
    count = 50_000
    attack = colliding(count)
    assert len(set(attack)) == count
    others = [f"{i:096d}" for i in range(count)]
    for text in (False, True):
        runs = [grown(names, text).longest_run for names in (attack, others)]
        assert runs[0] <= 3 * runs[1]
        assert max(runs) < 200  # of all in one place it would be 50,000


def test_no_more_is_entered_than_was_allowed() -> None:
    index = FeatureIndex([f"user={i}" for i in range(1_000)])
    keys = Keys(index, OwnLayout(), frozenset(), 100)
    for i in range(1_000):
        keys.learn(json.dumps({"x": {"user": str(i), f"k{i}": 1}}).encode())
    assert len(keys) <= 101


def test_what_stood_in_many_events_is_read_by_the_scanner() -> None:
    """Keys and texts of all lengths, as they are and with escapes, and in tables that have grown."""
    generator = random.Random(1)
    words = ["".join(generator.choices('abé"\\\n', k=length)) for length in range(1, 60)] * 3
    words += [f"{word}{i}" for i, word in enumerate(words)]
    events = [
        json.dumps({"x": {f"k{word}": i, "t": word, f"o{i % 7}": {word: {"user": i}}}}, ensure_ascii=bool(i % 2))
        for i, word in enumerate(words)
    ]  # fmt: skip
    lines = [event[:-1].encode() + b', "y": 1}' for event in events]
    decoder = Decoder(
        Limits(),
        form=EventForm(frozenset({f"o{i}.{word}.user" for i in range(7) for word in words})),
    )
    first = decoder.decode(as_records(lines))
    expected = [*first.rows.dicts()]
    asked: list[bytes] = []
    decoder._event = asked.append  # type: ignore[assignment, method-assign]
    found = decoder.decode(as_records(lines))
    assert [*found.rows.dicts()] == expected
    assert np.array_equal(found.labels, first.labels)
    assert asked == []


def test_texts_that_wait_belong_to_their_event() -> None:
    """They are looked up events later: unknown and blank ones, some to which two keys lead, and more than may wait."""
    generator = random.Random(2)
    keys, texts = ["a", "a=b", *map("k{}".format, range(90))], ["b=d", "d"]
    events = [
        {
            key: generator.choice(
                texts if "a" in key else ["", " ", 1, f"v{generator.randrange(200)}"]
            )
            for key in generator.sample(keys, generator.choice((1, 3, 90)))
        }
        for _ in range(600)
    ]
    lines = [json.dumps({"x": x, "y": 1}).encode() for x in events]
    expected = {}
    for record, x in enumerate(events):
        with suppress(FeatureError):
            expected[record] = features_of(x)
    good = {record: x for record, x in expected.items() if x}
    assert len(events) - len(expected) > 10, "two keys that lead to one text"
    decoder = Decoder(Limits())
    asked: list[bytes] = []
    event_of = decoder._event

    def noted(raw: bytes) -> Event:
        asked.append(raw)
        return event_of(raw)

    decoder._event = noted  # type: ignore[method-assign]
    for _ in range(3):  # the third time everything is known
        asked.clear()
        batch = decoder.decode(as_records(lines))
        assert dict(zip(batch.records.tolist(), batch.rows.dicts(), strict=True)) == good
    assert len(asked) == len(events) - len(good)
