"""The drifting stream: what is asked for comes, and all of it can be learned."""

from contextlib import suppress
from itertools import islice

import pytest

from simulators.drifting import drifting
from stream_rank.codec.event import Event, Kind
from stream_rank.codec.schema import parse
from stream_rank.errors import EventError


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
def test_so_many_are_preferences(share: float) -> None:
    events = [parse(each) for each in islice(drifting(1, lambda: False, 10_000, share), 2_000)]
    found = sum(event.kind is Kind.PREFERENCE for event in events)
    assert found == 2_000 * share


def test_garbage_is_not_learned() -> None:
    """Else there would be ratings in a stream of preferences."""
    for line in islice(drifting(1, lambda: False, 1, 1.0), 10):
        with suppress(EventError):
            assert parse(line).y == 9  # which no rank of five is


def test_preferences_turn_around_with_the_ratings() -> None:
    def some(upside_down: bool) -> list[Event]:
        lines = islice(drifting(1, lambda: upside_down, 10_000, 1.0), 500)
        return [parse(line) for line in lines]

    usual, reversed_ = some(False), some(True)
    assert {event.y for event in usual} == {0.0, 1.0, 2.0, 3.0, 4.0}
    for one, other in zip(usual, reversed_, strict=True):
        assert one.y == other.y
        assert one.y == 0.0 or (one.x, one.other) == (other.other, other.x)
