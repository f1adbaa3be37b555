"""What is held to be usual between two arrivals, and how long a broker has said nothing."""

import math
from collections.abc import Iterable

import pytest

from stream_rank.ingest.kafka.answers import Answers
from stream_rank.monitoring.arrivals import Arrivals


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def usual(gaps: Iterable[float]) -> float:
    clock = Clock()
    arrivals = Arrivals(clock)
    arrivals.came()
    for gap in gaps:
        clock.now += gap
        arrivals.came()
    return arrivals.usual_gap


@pytest.mark.parametrize(
    ("gaps", "about"),
    [
        ([0.05] * 1000, 0.05),
        ([0.05] * 9, 150),  # too few
        ([0.05, 9.0, 6.0] + [0.05] * 60, 0.05),  # a start
        (([0.01] * 200 + [60.0]) * 20, 60),  # bursts
        ([0.05] * 100_000 + [7200.0] + [0.05] * 20, 0.05),  # an outage
        ([0.01] * 50_000 + [60.0] * 12, 60),  # a backlog, and then a slow stream
    ],
    ids=["steady", "young", "start", "bursts", "outage", "backlog"],
)
def test_the_usual_gap(gaps: list[float], about: float) -> None:
    assert about * 0.8 < usual(gaps) < about * 1.25


def test_an_outage_of_kafka_is_no_gap() -> None:
    clock = Clock()
    arrivals = Arrivals(clock)
    for _ in range(200):
        clock.now += 0.05
        arrivals.came()
        arrivals.interrupted()
        clock.now += 60
        arrivals.came()
    assert arrivals.usual_gap < 0.1


def test_whoever_does_not_listen_hears_no_silence() -> None:
    clock = Clock()
    answers = Answers(clock)
    with answers.listening():
        clock.now += 2
        assert answers.silence == 2
        answers.heard(0.5)
    clock.now += 100  # something is learned for long
    assert answers.silence == 0.5
    with answers.listening():
        assert answers.silence == 0.5
        clock.now += 1
        assert answers.silence == 1.5
        answers.heard(
            102
        )  # by a connection that was there before; as it turns out, nobody spoke meanwhile
        assert answers.silence == 101.5
        answers.heard(math.inf)  # by no connection that is there now
        assert answers.silence == 101.5
        answers.heard(2)
        assert answers.silence == 2
