"""The learners against Vowpal Wabbit and River on the same stream."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from river import ensemble, linear_model
from vowpalwabbit import pyvw

from stream_rank import OAPBPM, PRank
from stream_rank.datasets.oap_stream import OAPStream
from tests.benchmarks.measure import Line, side_by_side

__all__ = ["dicts", "tables"]


def _rate(n_events: int, seconds: float) -> str:
    rate = n_events / seconds
    return f"{rate / 1e6:.2f} M events/s" if rate >= 1e6 else f"{rate / 1e3:.0f} k events/s"


def _lines(n_events: int, form: str = "") -> list[str]:
    """The stream in Vowpal Wabbit's text; without a `form` with all digits, so that it learns from the same numbers."""
    stream = OAPStream(seed=1, features="quadratic").take(n_events)
    return [
        f"{y} | " + " ".join(f"{name}:{value:{form}}" for name, value in x.items())
        for x, y in stream
    ]


def _progressive(model: Any, events: list[Any]) -> None:
    for x, y in events:
        model.predict_one(x)
        model.learn_one(x, y)


def tables() -> Iterator[Line]:
    """Streams that are at hand as a whole."""
    n_events = 1_000_000
    X, y = OAPStream(seed=1, features="quadratic").arrays(n_events)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stream.txt"
        file.write_text("\n".join(_lines(n_events)))
        short = Path(folder) / "short.txt"
        short.write_text("\n".join(_lines(n_events, ".6g")))
        driver = [sys.executable, "-m", "vowpalwabbit", "--quiet", "-d", str(file)]
        rounded = [*driver[:-1], str(short)]
        empty = [sys.executable, "-m", "vowpalwabbit", "--quiet", "-d", os.devnull]
        ours, whole, brief, start = side_by_side(
            lambda: OAPBPM(5, 100, 0.3, seed=1).test_then_train(X, y),
            lambda: subprocess.run(driver, check=True),
            lambda: subprocess.run(rounded, check=True),
            lambda: subprocess.run(empty, check=True),
            rounds=5,
        )
    yield Line(
        "OAPBPM, 100 members, 6 features, from an array",
        _rate(n_events, ours),
        f"Vowpal Wabbit's file driver, one squared-loss model, features written with all digits, {_rate(n_events, whole)}"
        f" ({_rate(n_events, whole - start)} without its start)",
        whole / ours,
        5.0,
    )
    yield Line(
        "the same",
        _rate(n_events, ours),
        f"the same, features rounded to six digits, which it reads faster, {_rate(n_events, brief)}",
        brief / ours,
        None,
    )

    n_events = 20_000
    X, y = X[:n_events], y[:n_events]
    events = list(OAPStream(seed=1, features="quadratic").take(n_events))
    lines = _lines(n_events)

    def wabbit() -> None:
        model = pyvw.Workspace(quiet=True)
        for line in lines:
            model.learn(line)  # predicts as it learns
        model.finish()

    ours, river, theirs = side_by_side(
        lambda: PRank(5).test_then_train(X, y),
        lambda: _progressive(linear_model.LinearRegression(), events),
        wabbit,
    )
    yield Line(
        "PRank, 6 features, from an array",
        _rate(n_events, ours),
        f"River's LinearRegression, {_rate(n_events, river)}",
        river / ours,
        10.0,
    )
    yield Line(
        "the same",
        _rate(n_events, ours),
        f"Vowpal Wabbit's Python interface, {_rate(n_events, theirs)}",
        theirs / ours,
        10.0,
    )


def dicts() -> Iterator[Line]:
    """One event at a time: predict, then learn a dict."""
    n_events = 10_000
    events = list(OAPStream(seed=1, features="quadratic").take(n_events))
    bagging = ensemble.BaggingRegressor(linear_model.LinearRegression(), n_models=10, seed=1)
    prank, oap, river, bag = side_by_side(
        lambda: _progressive(PRank(5), events),
        lambda: _progressive(OAPBPM(5, 100, 0.3, seed=1), events),
        lambda: _progressive(linear_model.LinearRegression(), events),
        lambda: _progressive(bagging.clone(), events),
    )
    peer = f"River's LinearRegression, {_rate(n_events, river)}"
    yield Line("PRank, dict by dict", _rate(n_events, prank), peer, river / prank, 0.5)
    yield Line("OAPBPM, 100 members, dict by dict", _rate(n_events, oap), peer, river / oap, 0.25)
    yield Line(
        "the same",
        _rate(n_events, oap),
        f"River's bagging of 10, {_rate(n_events, bag)}",
        bag / oap,
        10.0,
    )
    # every event brings half of the features that are known
    halves = [
        ({name: x[name] for name in list(x)[number % 2 :: 2]}, y)
        for number, (x, y) in enumerate(events)
    ]
    ours, theirs = side_by_side(
        lambda: _progressive(PRank(5), halves),
        lambda: _progressive(linear_model.LinearRegression(), halves),
    )
    yield Line(
        "PRank, dicts with half of the features",
        _rate(n_events, ours),
        f"River's LinearRegression, {_rate(n_events, theirs)}",
        theirs / ours,
        None,
    )
