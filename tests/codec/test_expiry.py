"""A full index goes on learning: what is unused gives its slot to what comes, at the same record however the stream is cut."""

import json
import os
import tracemalloc
from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from stream_rank.codec.decoder import Decoder
from stream_rank.codec.limits import Limits
from stream_rank.ingest.chunk import as_records
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.files.columns import as_columns
from stream_rank.ingest.position import RowPosition
from stream_rank.learners.base.state import digest_of
from stream_rank.pipeline.loop import Loop
from tests.pipeline.conftest import ALL, Kept, feed, loop_of, mixed, waiting_in

EVENTS = 1_000_000 if os.environ.get("SOAK") else 20_000
MOST = EVENTS // 100
CHAINS = (
    *("scale | normalize | oap-bpm:n_members=5", "scale | waves:n_components=4 | averaged-prank"),
    *("target_mean:user,word | cross:user*word | pairwise-ranker", "voted-prank"),
    *("cross:user*word | cross:user*kind | scale | prank", "recursive-mprank:forgetting=0.99"),
    *("waves:n_components=3,keep=False | widrow-hoff", "hash:bits=4 | scale | averaged-prank"),
    "scale | polynomial:max_products=200 | prank",
    *("scale | ordinal-factors:item=word,traits=2", "neighbours:user,kind,n=5,keeps=True | prank"),
)


def stream(n_events: int, n_users: int = 20, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Ratings that a user decides, beside a word that never comes again; half-way all users are others."""
    generator = Random(seed)
    merits = {f"{half}{i}": generator.gauss(0, 1) for half in "ab" for i in range(n_users)}
    for number in range(n_events):
        half = "a" if 2 * number < n_events else "b"
        user = f"{half}{generator.randrange(n_users)}"
        y = min(5, max(1, round(3 + merits[user] + generator.gauss(0, 0.4))))
        x: dict[str, Any] = {"user": user, "n": number % 7}
        if number % 5:
            x["word"] = f"w{generator.getrandbits(48):x}"
        if number % 3:
            x["kind"] = f"k{(number // 300) % 9}"
        yield {"x": x, "y": y}


def lines_of(events: Iterator[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(event).encode() for event in events]


def expiring(
    specs: list[str],
    delay: int = 0,
    kept: Kept | None = None,
    max_events: int | None = None,
    **limits: Any,
) -> Loop:
    loop = loop_of(specs, delay, kept=kept, max_events=max_events)
    given = {"max_features": 40, "expire_after": 320, **limits}
    loop.decoder = Decoder(Limits(n_ranks=5, delayed=delay > 0, grouped=True, **given))
    return loop


def known(loop: Loop, kept: Kept | None = None) -> list[Any]:
    found: list[Any] = [digest_of(*loop.decoder.index.dump()), digest_of(*loop.scoreboard.dump())]
    found += [each.digest() for each in loop.contestants]
    return found if kept is None else [*found, kept.rejects, kept.predictions]


@pytest.mark.parametrize("specs", [[*ALL], [*CHAINS]], ids=["learners", "stages"])
@pytest.mark.long(15)
def test_chunks_make_no_difference(specs: list[str]) -> None:
    lines, found = lines_of(stream(3_000)), []
    for sizes in ([3_000], [7], [100, 333]):
        loop = expiring(specs)
        feed(loop, lines, sizes)
        found.append(known(loop))
        assert loop.decoder.index.admission.expiry.expired > 20
    assert found[1:] == found[:1] * 2
    assert sum(str(name).startswith("user=b") for name in loop.decoder.index.names) == 20


@pytest.mark.parametrize("min_count", [1, 3])
def test_all_kinds_of_events(min_count: int) -> None:
    """Requests whose labels come late, preferences, rankings and garbage."""
    lines, found = mixed(1_500, seed=5), []
    for sizes in ([1_500], [1], [64, 7]):
        kept = Kept()
        loop = expiring(ALL, 100, kept, max_features=20, expire_after=48, min_count=min_count)
        feed(loop, lines, sizes)
        found.append([*known(loop, kept), digest_of(*waiting_in(loop).dump())])
        assert loop.decoder.index.admission.expiry.expired > 20
    assert found[1:] == found[:1] * 2


def test_it_goes_on_from_what_was_kept() -> None:
    """Between any two parts of a chunk, some of which are decoded already."""
    lines, specs = lines_of(stream(1_200)), ["prank", CHAINS[0], CHAINS[4], *CHAINS[-2:]]
    whole = expiring(specs, min_count=2)
    feed(whole, lines, [400])
    for cut in (3, 150, 399, 640, 1_100):
        first = expiring(specs, min_count=2, max_events=cut)
        feed(first, lines, [400])
        second = expiring(specs, min_count=2)
        second.decoder.index.load(first.decoder.index.dump())
        second.scoreboard.load(first.scoreboard.dump())
        for one, other in zip(first.contestants, second.contestants, strict=True):
            assert one.state is not None
            assert other.state is not None
            other.state.load(one.state.dump())
            if one.chain:
                ours, theirs = (each._preparations.stages for each in (one, other))  # type: ignore[attr-defined]
                for chain, stage in ours.items():
                    theirs[chain].load(stage.dump())
        position = first.progress.position
        assert isinstance(position, RowPosition)
        feed(second, lines[position.rows :], [77])
        assert known(second) == known(whole), cut


def test_columns_are_the_same_events() -> None:
    events = list(stream(1_500))
    names = ("n", "user", "word", "kind")
    table = pa.table(
        {
            **{name: pa.array([event["x"].get(name) for event in events]) for name in names},
            "y": pa.array([float(event["y"]) for event in events]),
        }
    )
    one, other = expiring(["scale | prank"]), expiring(["scale | prank"])
    feed(one, lines_of(iter(events)), [500])
    for begin in range(0, 1_500, 400):
        part = table.slice(begin, 400)
        chunk = as_columns(part, Mapping(), "a table", partial(_position, begin), str)
        for _ in other.take(chunk):
            pass
    assert one.decoder.index.admission.expiry.expired > 0
    assert known(one) == known(other)


def _position(begin: int, done: int) -> RowPosition:
    return RowPosition(begin + done)


class Oracle:
    """Admission, expiry and PRank in plain Python: names to weights, a count for each name, and no slots but by order."""

    def __init__(self, most: int, after: int) -> None:
        self.most, self.period = most, -(-after // 16)
        self.names: list[str] = []
        self.weights: dict[str, float] = {}
        self.thresholds = [0.0] * 4
        self.counts: dict[str, int] = {}
        self.used: dict[str, int] = {}
        self.waiting: list[str] = []
        self.round = self.passed = 0
        self.full = self.room = False

    def take(self, x: dict[str, float], y: int) -> int:
        if self.full and self.passed == self.period:
            self.end_round()
        began = False
        room = self.full and self.room
        for name in sorted(x):
            if name in self.names:
                continue
            if len(self.names) < self.most:
                self.names.append(name)
            elif not self.full:
                self.full = began = True
                self.used, self.room = dict.fromkeys(self.names, 0), False
            elif room:
                self.counts[name] = self.counts.get(name, 0) + 1
                if self.counts[name] >= 2 and name not in self.waiting:
                    self.waiting.append(name)
        known = {name: value for name, value in x.items() if name in self.names}
        if self.full and not began:
            self.passed += 1
        if self.full:
            self.used |= dict.fromkeys(known, self.round)
        score = sum(self.weights.get(name, 0.0) * value for name, value in known.items())
        rank = 1 + sum(score >= threshold for threshold in self.thresholds)
        if rank != y:
            moved = 0
            for r, threshold in enumerate(self.thresholds, start=1):
                side = 1 if y > r else -1
                if (score - threshold) * side <= 0:
                    moved += side
                    self.thresholds[r - 1] -= side
            for name, value in known.items():
                self.weights[name] = self.weights.get(name, 0.0) + moved * value
        return rank

    def end_round(self) -> None:
        unused = [name for name in self.names if self.used[name] <= self.round - 16]
        unused.sort(key=lambda name: self.used[name])
        self.waiting.sort(key=lambda name: -self.counts[name])
        self.round, self.passed = self.round + 1, 0
        for old, new in zip(unused, self.waiting, strict=False):
            self.names[self.names.index(old)] = new
            del self.used[old]
            self.weights.pop(old, None)
            self.used[new] = self.round
        self.waiting = []
        self.room = any(used <= self.round - 16 for used in self.used.values())


def test_it_is_as_its_oracle() -> None:
    loop, oracle, off = expiring(["raw | prank"]), Oracle(40, 320), 0
    events = list(stream(3_000))
    for event in events:
        x: dict[str, float] = {}
        for name, value in event["x"].items():
            x |= {f"{name}={value}": 1.0} if isinstance(value, str) else {name: float(value)}
        off += abs(oracle.take(x, event["y"]) - event["y"])
    feed(loop, lines_of(iter(events)), [700])
    index, model = loop.decoder.index, loop.contestants[0].model
    assert index.names == oracle.names
    assert model.weights == {name: oracle.weights.get(name, 0.0) for name in oracle.names}
    assert model.thresholds == oracle.thresholds
    assert loop.scoreboard.boards["raw | prank"].loss == off / len(events)


def learned(n_events: int, size: int, **limits: Any) -> tuple[float, list[Any], Loop]:
    """The loss over the last tenth, and all that is known."""
    loop = loop_of(["scale | normalize | oap-bpm:n_members=10"], window=n_events // 10)
    loop.decoder = Decoder(Limits(n_ranks=5, **limits))
    chunk: list[bytes] = []
    for event in stream(n_events, n_users=60):
        chunk.append(json.dumps(event).encode())
        if len(chunk) == 5_000:
            feed(loop, chunk, [size])
            chunk = []
    (board,) = loop.scoreboard.boards.values()
    loss = board.recent_loss
    assert loss is not None
    return loss, known(loop), loop


@pytest.mark.long(20)
def test_other_names_come_and_stay() -> None:
    """Memory stays as it is, and what comes later is learned as if there were no bound, which without expiry is lost."""
    bounds = {"max_features": MOST, "expire_after": EVENTS // 20}
    learned(5_000, 1_000, max_features=50, expire_after=250)  # whatever is made once
    tracemalloc.start()
    learned(EVENTS // 2, 1_000, **bounds)
    half = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    loss, found, loop = learned(EVENTS, 1_000, **bounds)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    expiry, index = loop.decoder.index.admission.expiry, loop.decoder.index
    assert most - half < 20 * EVENTS
    assert len(index) <= MOST
    assert 60 <= expiry.expired < EVENTS // 100
    assert sum(str(name).startswith("user=b") for name in index.names) == 60
    assert learned(EVENTS, 777, **bounds)[1] == found
    assert learned(EVENTS, 1_000, max_features=MOST)[0] > 1.2 * loss
    if EVENTS <= 20_000:
        assert loss < 1.05 * learned(EVENTS, 1_000)[0]


def test_the_position_follows_the_rounds() -> None:
    """A chunk is cut where a round ends, and everything says of which record it speaks."""
    kept = Kept()
    loop = expiring(["prank"], kept=kept, max_features=2, expire_after=16)
    lines = [b'{"x": {"a": 1, "b": 1}, "y": 1}', b'{"x": {"c": 1}, "y": 1}', b"[1]"] * 10
    places = partial("line {}".format)
    for _ in loop.take(as_records(lines, RowPosition, places)):
        pass
    assert [place for _, place, _ in kept.rejects] == [f"line {i}" for i in range(2, 30, 3)]
    assert loop.progress.position == RowPosition(30)
    assert loop.progress.counts.as_dict()["rejects"] == 10


@pytest.mark.parametrize("most", [2, 3, 6])
def test_there_may_be_another_number_of_features(most: int) -> None:
    """When learners join or leave a run, others may be known to them."""
    one = expiring(["prank"], max_features=3, expire_after=16)
    feed(one, [b'{"x": {"a": 1, "b": 1, "c": 1, "d": 1}, "y": 1}'] * 9, [4])
    other = expiring(["prank"], max_features=most, expire_after=16)
    other.decoder.index.load(one.decoder.index.dump())
    assert other.contestants[0].state is not None
    assert one.contestants[0].state is not None
    other.contestants[0].state.load(one.contestants[0].state.dump())
    later = [b'{"x": {"a": 1, "e": 1, "f": 1}, "y": 2}'] * 60
    feed(other, later, [7])
    names = other.decoder.index.names
    assert len(names) == (5 if most == 6 else 3)
    assert {"a", "e", "f"} <= {*names}
    assert other.contestants[0].model.features == names
    broken = one.decoder.index.dump()
    broken.arrays["used"] = broken.arrays["used"][:2]
    with pytest.raises(ValueError, match="another size"):
        expiring(["prank"], max_features=3, expire_after=16).decoder.index.load(broken)
