"""A stream of ever new names keeps learning in bounded memory, and to the same bits."""

import json
import os
import tracemalloc
from collections.abc import Iterator
from random import Random

import pytest

from stream_rank.codec.admission import Admission
from stream_rank.codec.decoder import Decoder
from stream_rank.codec.feature_index import FeatureIndex
from stream_rank.codec.limits import Limits
from stream_rank.ingest.chunk import as_records
from stream_rank.learners.base.state import digest_of
from tests.pipeline.conftest import feed, loop_of

EVENTS = 1_000_000 if os.environ.get("SOAK") else 20_000
MOST = EVENTS // 100


def stream(n_events: int) -> Iterator[bytes]:
    """Ratings that a user decides, beside a word that never comes again."""
    generator = Random(3)
    merits = {f"user {i}": generator.gauss(0, 1) for i in range(60)}
    users = list(merits)
    for number in range(n_events):
        user = generator.choice(users)
        y = min(5, max(1, round(3 + merits[user] + generator.gauss(0, 0.4))))
        x = {"user": user, "word": f"w{generator.getrandbits(48):x}", "n": number % 7}
        yield json.dumps({"x": x, "y": y}).encode()


def learned(limits: Limits, size: int, n_events: int) -> tuple[float, str, FeatureIndex]:
    loop = loop_of(["scale | normalize | oap-bpm:n_members=10"])
    loop.decoder = Decoder(limits)
    chunk: list[bytes] = []
    for line in stream(n_events):
        chunk.append(line)
        if len(chunk) == 5_000:
            feed(loop, chunk, [size])
            chunk = []
    (board,) = loop.scoreboard.boards.values()
    (contestant,) = loop.contestants
    digest = digest_of(*loop.decoder.index.dump()) + str(contestant.digest())
    assert board.loss is not None
    return board.loss, digest, loop.decoder.index


@pytest.mark.long(20)
def test_a_long_tail_of_names_does_not_fill_the_memory() -> None:
    bounded = Limits(n_ranks=5, max_features=MOST, min_count=3)
    learned(bounded, 1_000, 5_000)  # whatever is made once
    tracemalloc.start()
    learned(bounded, 1_000, EVENTS // 2)
    half = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    loss, digest, index = learned(bounded, 1_000, EVENTS)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most - half < 20 * EVENTS  # bytes: the names that came are some seventy each
    assert len(index) <= MOST
    assert index.admission.dropped > 0.98 * EVENTS
    assert sum(str(name).startswith("user=") for name in index.names) == 60
    assert learned(bounded, 777, EVENTS)[1] == digest
    if EVENTS <= 20_000:
        unbounded, *_ = learned(Limits(n_ranks=5), 1_000, EVENTS)
        assert loss < 1.05 * unbounded


def test_a_full_index_lets_nobody_in_and_rejects_nobody() -> None:
    decoder = Decoder(Limits(n_ranks=5, max_features=2))
    lines = [json.dumps({"x": {f"f{i}": 1.0, "a": i}, "y": 3}).encode() for i in range(6)]
    batch = decoder.decode(as_records(lines))
    assert not batch.rejects
    assert decoder.index.names == ["a", "f0"]
    assert [*batch.rows.dicts()] == [{"a": 0.0, "f0": 1.0}] + [{"a": float(i)} for i in range(1, 6)]
    assert decoder.index.admission.dropped == 5


def test_of_one_event_so_many_names_are_let_in_and_the_rest_by_later_ones() -> None:
    decoder = Decoder(Limits(n_ranks=5, max_new_features=3))
    wide = json.dumps({"x": {f"f{i}": 1.0 for i in range(8)}, "y": 3}).encode()
    best = {"ranking": [{f"g{place}": 1.0, f"h{place}": 1.0} for place in range(3)]}
    batch = decoder.decode(as_records([wide, wide, json.dumps(best).encode()]))
    assert not batch.rejects
    assert [len(x) for x in batch.rows.dicts()][:2] == [3, 6]
    assert decoder.index.names == [*(f"f{i}" for i in range(6)), "g0", "g1", "h0"]
    assert decoder.index.admission.dropped == 5 + 2 + 3


def test_what_was_counted_is_kept() -> None:
    one = FeatureIndex(admission=Admission(10, min_count=3))
    for record in range(2):
        one.admission.record = record
        one.meet(["ann", "bob"])
    one.learned, one.learned_records = len(one), 2
    other = FeatureIndex(admission=Admission(10, min_count=3))
    other.load(one.dump())
    for index in (one, other):
        index.meet(["ann"])
        assert index.names == ["ann"]
        assert index.admission.dropped == 4
    with pytest.raises(ValueError, match="another size"):
        FeatureIndex(admission=Admission(10)).load(one.dump())
