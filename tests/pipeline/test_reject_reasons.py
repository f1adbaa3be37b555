"""Reasons of rejects: what they have in common, and how much of them is kept."""

import json

from stream_rank.learners.base.state import State
from stream_rank.pipeline.reject_reasons import OTHERS, RejectReasons, clipped


def test_reasons_are_alike_whatever_is_quoted_or_counted_in_them() -> None:
    reasons = RejectReasons()
    for one in (
        "feature 'it\\'s' is nan; at most 1e+130",
        "feature 'b' is nan; at most 1",
        'x.f12: Input should be a valid number, not "a \'b"',
        'x.f3: Input should be a valid number, not ""',
    ):
        reasons.count(one, b"")
    assert [(each.reason, each.records) for each in reasons.most_frequent(9)] == [
        ("feature … is nan; at most …", 2),
        ("x.f…: Input should be a valid number, not …", 2),
    ]


def test_memory_is_bounded_whatever_comes() -> None:
    reasons = RejectReasons()
    for number in range(5_000):
        name = "".join(chr(ord("a") + int(digit)) for digit in str(number))
        reasons.count(f"{name}{'z' * 10_000}: no number", b"\xff\x00" * 10_000)
    kept = reasons.most_frequent(1_000)
    assert len(kept) == 101
    assert (kept[0].reason, kept[0].records) == (OTHERS, 4_900)
    assert sum(each.records for each in kept) == 5_000
    assert len(json.dumps(reasons.dump().metadata)) < 150_000


def test_a_snapshot_has_all_of_it() -> None:
    reasons, other = RejectReasons(), RejectReasons()
    for label in (9, 8, "\x1b"):
        reasons.count(f"label {label}", b"\x9b")
    other.load(State(json.loads(json.dumps(reasons.dump().metadata)), {}))
    for each in (reasons, other):
        each.count("label 7", b"")
    assert other.dump() == reasons.dump()


def test_nothing_reaches_a_terminal() -> None:
    text = "".join(map(chr, range(0x3000))) + "\u2028\u202e\ud800\U000e0001"
    shown = clipped(text, len(text))
    assert shown.isprintable()
    assert shown.encode()
