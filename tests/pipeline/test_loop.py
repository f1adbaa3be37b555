"""The loop: what is known depends on the events and their order, and on nothing else."""

import json
from random import Random
from typing import Any

import pytest

from stream_rank.checkpoint.model_file import state_digest
from stream_rank.codec.decoder import Decoder
from stream_rank.codec.limits import Limits
from stream_rank.ingest.chunk import as_records
from stream_rank.ingest.position import RowPosition
from stream_rank.learners.base.state import digest_of
from stream_rank.pipeline.pace import Pace
from tests.learners.conftest import LEARNERS
from tests.pipeline.conftest import ALL, Kept, feed, loop_of, mixed, waiting_in


def known(loop: Any, kept: Kept, delayed: bool) -> dict[str, Any]:
    board = loop.scoreboard.dump()
    return {
        "states": {each.name: state_digest(each.model) for each in loop.contestants},
        "board": digest_of(*board),
        "counts": loop.progress.counts.as_dict(),
        "rejects": kept.rejects,
        "predictions": kept.predictions,
        "names": loop.decoder.index.names[: loop.decoder.index.learned],
        "waiting": digest_of(*waiting_in(loop).dump()) if delayed else None,
        "position": loop.progress.position,
    }


@pytest.mark.parametrize("delay", [0, 10, 1000])
def test_chunks_make_no_difference(delay: int) -> None:
    lines, found = mixed(700), []
    for sizes in ([700], [1], [3, 1, 64, 7], [200, 10]):
        kept = Kept()
        loop = loop_of(ALL, delay, kept=kept)
        feed(loop, lines, sizes)
        found.append(known(loop, kept, delay > 0))
    assert all(each == found[0] for each in found[1:])
    counts = found[0]["counts"]
    assert sum(counts.values()) == len(lines)
    assert counts["rejects"] == len(found[0]["rejects"]) > 10


def test_every_learner_learns_rows_as_dicts() -> None:
    """Rows of a stream, late features and groups among them, are `learn_one` in a loop, to the bit."""
    lines = [line for line in mixed(400, seed=3) if b'"y"' in line and b'"x": {"' in line]
    lines = [line for line in lines if json.loads(line)["y"] != 9]
    for name, make in LEARNERS.items():
        one, many = make(n_ranks=5), make(n_ranks=5)
        grouped = hasattr(one, "_groups")
        decoder, expected, found = Decoder(Limits(n_ranks=5, grouped=True)), [], []
        for line in lines:
            event = json.loads(line)
            more = {"group": event.get("group")} if grouped else {}
            expected.append(one.predict_one(event["x"]))
            one.learn_one(event["x"], event["y"], **more)
        for begin in range(0, len(lines), 90):
            batch = decoder.decode(as_records(lines[begin : begin + 90]))
            more = {"group": batch.groups} if grouped else {}
            labels = batch.labels if grouped else batch.labels.astype(int)
            found += many.test_then_train(batch.rows, labels, **more).tolist()
        assert found == expected, name
        assert state_digest(one) == state_digest(many), name


def test_predictions_come_before_learning() -> None:
    """Against the learner itself, event by event."""
    from stream_rank import OAPBPM

    kept = Kept()
    loop = loop_of(["oap-bpm"], kept=kept)
    model, off, count = OAPBPM(n_ranks=5, seed=1), 0, 0
    lines = [line for line in mixed(300) if b'"x": {' in line]
    feed(loop, lines, [50])
    for line in lines:
        event = json.loads(line)
        if not event["x"] or event.get("y", 1) > 5:
            continue
        if "y" in event:
            off += abs(model.predict_one(event["x"]) - event["y"])
            count += 1
            model.learn_one(event["x"], event["y"])
    assert loop.scoreboard.boards["oap-bpm"].loss == off / count
    assert loop.progress.counts.learned == count
    assert state_digest(loop.contestants[0].model) == state_digest(model)


def test_labels_come_later() -> None:
    """The prediction of when the event came is what counts, and the event is learned when its label comes."""
    kept = Kept()
    loop = loop_of(["prank"], delay=2, kept=kept)
    event = '{"x": {"a": 1}, "id": "%s"}'
    lines = [event % "one", event % "two", '{"x": {"a": 1}, "y": 1}', '{"id": "one", "y": 1}']
    feed(loop, [line.encode() for line in lines], [10])
    board = loop.scoreboard.boards["prank"]
    # PRank predicted 5 for "one" at its time, though it would not by now
    assert board.confusion[0] == [0, 0, 0, 0, 2]
    assert loop.contestants[0].model.predict_one({"a": 1}) < 5
    assert loop.progress.counts.as_dict() == {
        "learned": 2, "requests": 1, "labels": 1, "skipped": 0, "rejects": 0,
    }  # fmt: skip
    assert [name for name, _ in kept.predictions] == ["one", "two"]
    more = [event % "three", event % "four", '{"id": "two", "y": 5}', '{"id": "four", "y": 5}']
    feed(loop, [line.encode() for line in more], [1])
    assert waiting_in(loop).dropped == 1  # "two" had to go for "four"
    assert [reason for reason, _, _ in kept.rejects] == [
        "id: no features wait under 'two'; 1 were dropped, since more may not wait"
    ]


def test_between_times_and_at_most() -> None:
    start = 1_700_000_000_000
    for most in (None, 7, 100):
        loop = loop_of(["prank"], between=(start + 50_000, start + 149_000), max_events=most)
        feed(loop, mixed(300), [40])
        if most is not None and most < 50:
            assert loop.progress.counts.taken == most
        assert loop.progress.counts.skipped >= 40
    whole = loop_of(["prank"], max_events=33)
    feed(whole, mixed(300), [300])
    part = loop_of(["prank"])
    assert isinstance(whole.progress.position, RowPosition)
    feed(part, mixed(300)[: whole.progress.position.rows], [5])
    assert part.progress.counts == whole.progress.counts
    assert part.decoder.index.names == whole.decoder.index.names[: whole.decoder.index.learned]


def test_pace_follows_the_events_times() -> None:
    now = 0.0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    pace = Pace(10.0, clock=lambda: now, sleep=sleep)
    loop = loop_of(["prank"], pace=pace)
    lines = [line for line in mixed(100) if b'"ts"' in line]
    feed(loop, lines, [30])
    first, last = (json.loads(line)["ts"] for line in (lines[0], lines[-1]))
    assert now == pytest.approx((last - first) / 1000 / 10, abs=0.06)
    plain = loop_of(["prank"])
    feed(plain, lines, [30])
    assert state_digest(plain.contestants[0].model) == state_digest(loop.contestants[0].model)


def test_a_learner_of_rivers_is_a_contestant() -> None:
    loop = loop_of(["river.linear_model.LinearRegression", "river.dummy.NoChangeClassifier"])
    feed(loop, mixed(200), [64])
    regression, dummy = (board.summary() for board in loop.scoreboard.boards.values())
    assert regression["magnitude_loss"] > 0
    assert dummy["rank_loss"] > 0
    assert dummy["events"] == regression["events"] - 1  # its first prediction was none


def test_limits_are_the_narrowest() -> None:
    loop = loop_of(["prank", "recursive-mprank", "prank:dtype=float32"])
    limits = loop.decoder.limits
    assert limits.largest == pytest.approx(1e9)
    assert limits.max_features == 10_000


def test_content_has_no_side_effects() -> None:
    for name, make in LEARNERS.items():
        quiet, watched = make(n_ranks=5), make(n_ranks=5)
        for number in range(40):
            x = {"a": (number % 7) / 4, f"b{number // 10}": number % 3 - 1.0}
            quiet.learn_one(x, number % 5 + 1)
            watched.learn_one(x, number % 5 + 1)
            watched.dump()
        assert state_digest(quiet) == state_digest(watched), name


def test_enough_is_enough_wherever_chunks_end() -> None:
    lines = [b'{"x": {"a": 1}, "y": 1}'] * 5 + [b"bad"] * 3 + [b'{"x": {"a": 1}, "y": 1}']
    for sizes in ([9], [8], [1], [6], [3]):
        loop = loop_of(["prank"], max_events=5)
        feed(loop, lines, sizes)
        feed(loop, lines, sizes)  # nothing more is taken
        assert (loop.progress.counts.learned, loop.progress.counts.rejects) == (5, 0)
        assert loop.progress.position == RowPosition(5)


def test_minus_zero_is_zero_however_it_is_read() -> None:
    lines = [b'{"x": {"a": -0, "b": -0.0}, "y": %d}' % (number % 5 + 1) for number in range(12)]
    found = []
    for sizes in ([12], [1], [5]):
        loop = loop_of(["prank:kernel=gaussian(1.0)", "online-mprank", "pairwise-ranker"])
        feed(loop, lines, sizes)
        found.append([state_digest(each.model) for each in loop.contestants])
    assert found[0] == found[1] == found[2]


def test_features_that_nobody_knows_count_to_kernels() -> None:
    kept = Kept()
    loop = loop_of(["online-mprank:kernel=gaussian(0.5)"], kept=kept)
    lines = [b'{"x": {"a": %d}, "y": %d}' % (number % 5, number % 5 + 1) for number in range(50)]
    feed(loop, [*lines, b'{"x": {"a": 1, "new": 3}, "id": "q"}'], [60])
    ((name, found),) = kept.predictions
    expected = loop.contestants[0].model.predict_one({"a": 1.0, "new": 3.0})
    assert (name, [*found.values()]) == ("q", [expected])
    assert loop.decoder.index.names == ["a"]


def test_pace_does_not_wait_for_what_is_left_out() -> None:
    slept: list[float] = []
    loop = loop_of(
        ["prank"], between=(1_600_000_000_000, 2**41), pace=Pace(10.0, lambda: 0.0, slept.append)
    )
    feed(
        loop,
        [b'{"x": {"a": 1}, "y": 1, "ts": 0}', b'{"x": {"a": 1}, "y": 1, "ts": 1700000000000}'],
        [2],
    )
    assert (loop.progress.counts.learned, loop.progress.counts.skipped, slept) == (1, 1, [])
    assert loop.progress.time == 1_700_000_000_000


def test_groups_that_nobody_wants_make_no_difference() -> None:
    """Of ranks no loss is by group: whether an event was read by the scanner or the slow way must not show."""
    lines = [line for line in mixed(300, seed=5) if b'"group"' in line]
    assert len(lines) > 100
    found = []
    for sizes in ([len(lines)], [1], [7, 50]):
        loop = loop_of(["prank", "oap-bpm:n_members=9"])
        feed(loop, lines, sizes)
        found.append(digest_of(*loop.scoreboard.dump()))
    assert found[0] == found[1] == found[2]


def test_rankings_and_choices_are_the_preferences_that_they_stand_for() -> None:
    """Learned as `learn_pair` in a loop would, pair by pair, to the bit; features in the order in which they come."""
    for which in ("all", "adjacent"):
        for name, make in LEARNERS.items():
            one, many = make(n_ranks=5), make(n_ranks=5)
            decoder = Decoder(Limits(ranking_pairs=which))
            lines, pairs = comparisons(60, which)
            for preferred, other, magnitude in pairs:
                one.learn_pair(preferred, other, magnitude)
            for begin in range(0, len(lines), 25):
                batch = decoder.decode(as_records(lines[begin : begin + 25]))
                assert not batch.rejects
                for first, end in ((0, 3), (3, 4), (4, len(batch))):
                    many.learn_pairs(*batch.events(first, end).preferences())
            if many._model.apart:  # a kernel's features take their slots item by item
                assert many.n_events == one.n_events, name
            else:
                assert state_digest(one) == state_digest(many), name


def comparisons(n_events: int, which: str) -> tuple[list[bytes], list[tuple[Any, Any, float]]]:
    """Rankings and choices as lines, and the pairs that they stand for, by the words of their definition."""
    generator = Random(4)
    lines: list[dict[str, Any]] = []
    pairs: list[tuple[Any, Any, float]] = []
    for number in range(n_events):
        items = [
            {
                f"f{generator.randint(0, 3)}": generator.randint(1, 8) / 4,
                f"item{number % 9}{i}": 1.0,
            }
            for i in range(4)
        ]
        if generator.random() < 0.3:
            lines.append({"chosen": items[0], "among": items})
            found = [(0, i, 1.0) for i in (1, 2, 3)]
        else:
            lines.append({"ranking": [items[0], [items[1], items[2]], items[3]]})
            found = [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 0.0), (0, 3, 1.0), (1, 3, 1.0), (2, 3, 1.0)]
            if which == "adjacent":
                found.remove((0, 3, 1.0))
        pairs += [(items[i], items[j], magnitude) for i, j, magnitude in found]
    return [json.dumps(line).encode() for line in lines], pairs


def test_an_event_may_not_be_too_many_preferences() -> None:
    items = [{"a": float(i)} for i in range(101)]
    lines = [
        json.dumps({"ranking": items}).encode(),
        json.dumps({"ranking": items[:100]}).encode(),
        json.dumps({"chosen": {"a": 0.5}, "among": items * 50}).encode(),
    ]
    batch = Decoder(Limits()).decode(as_records(lines))
    assert [each.reason for each in batch.rejects] == [
        "ranking: 101 items are 5,050 preferences, and an event may be 5,000; `ranking_pairs` may be adjacent",
        "among: 5051 items are 5,050 preferences, and an event may be 5,000; give fewer",
    ]
    assert len(batch.preferences()[0]) == 4_950
    assert Decoder(Limits(ranking_pairs="adjacent")).decode(as_records(lines[:1])).rejects == []


def test_preferences_are_counted_as_their_metrics_do() -> None:
    """Errors and log-losses of the board, against the learner and the metrics of River's kind."""
    from stream_rank import OAPBPM, PreferenceError, PreferenceLogLoss

    loop, model = loop_of(["oap-bpm"]), OAPBPM(n_ranks=5, seed=1)
    error, log_loss = PreferenceError(), PreferenceLogLoss()
    lines, pairs = comparisons(200, "all")
    feed(loop, lines, [30])
    for preferred, other, magnitude in pairs:
        outcome = int(magnitude > 0)
        error.update(outcome, model.prefer_one(preferred, other))
        log_loss.update(outcome, model.prefer_proba_one(preferred, other))
        model.learn_pair(preferred, other, magnitude)
    found = loop.scoreboard.boards["oap-bpm"].summary()
    assert found["preferences"] == len(pairs)
    assert found["preference_ties"] == sum(magnitude == 0 for _, _, magnitude in pairs)
    assert found["preference_error"] == error.get()
    assert found["preference_log_loss"] == pytest.approx(log_loss.get())
    assert loop.progress.counts.learned == 200


def test_what_was_sampled_stays_as_it_was() -> None:
    """The memory of a chunk is used again by the next one, which may have no rating."""
    loop = loop_of(["scale | prank"])
    feed(loop, [b'{"x": {"a": 1, "b": %d},      "y": 1}' % (i % 7) for i in range(100)] * 2, [100])
    assert loop.last_ratings is not None
    rows, _ = loop.last_ratings
    before = [*rows.dicts()]
    feed(loop, [b'{"x": {"b": 50, "a": 60}}'] * 100, [100])
    assert loop.last_ratings[0] is rows
    assert [*rows.dicts()] == before
