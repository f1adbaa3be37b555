"""Made streams: the same bytes everywhere, however they are cut, and losses that nobody can be below."""

import hashlib
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from simulators.__main__ import main
from simulators.streams.linear import Linear
from simulators.streams.named import Named
from simulators.streams.preferences import Preferences
from simulators.streams.ratings import Ratings
from simulators.streams.saddle import Saddle
from simulators.streams.told import BLOCK
from tests.cli.conftest import in_process, summary_of

DIGESTS = {
    "oap": "acb791f1f0704fb5",
    "oap --noise 0.3 --label-noise 0.1 --drift gradual --every 100": "2e476d8cfc3ffa59",
    "gaussian": "5c3f444ee23b3d1b",
    "gaussian --width 40 --non-zeros 5 --ranks 7 --drift recurring --every 50": "fb1ff7e6497d7788",
    "gaussian --missing 0.4 --drift features --every 60": "91c96b8c4250c6f1",
    "gaussian --drift rank --every 200 --seed 2": "ec336c1ce635910f",
    "bradley-terry --tie 0.5 --cycles 0.3 --drift sudden --every 100": "fa09a7d23eab5582",
    "bradley-terry --items 12 --cycles 1": "0a32bef61e5fca4b",
    "thurstone --width 3 --label-noise 0.2 --drift features --every 90": "1baacc457209a54b",
    "thurstone --items 5 --tie 0.2 --drift gradual --every 150": "aa4337437584f6f6",
}
"""Of the bytes of 400 events; they were made on x86-64, and are the same on every machine."""


def written(capsys: pytest.CaptureFixture[str], *given: str) -> tuple[str, str]:
    assert main(["stream", *given]) == 0
    said = capsys.readouterr()
    return said.out, said.err


@pytest.mark.parametrize("given", DIGESTS)
def test_the_bytes_of_a_seed_never_change(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = written(capsys, *given.split(), "--events", "400")
    assert out.count("\n") == 400
    assert hashlib.sha256(out.encode()).hexdigest()[:16] == DIGESTS[given]


def test_events_depend_on_their_number_alone() -> None:
    stream = Ratings(3, Linear(3, 8, 3, 5, 0), 0.5, 0.1, 0.0, "gradual", 40)
    whole = stream.told(0, 100)
    parts = [stream.told(first, 25) for first in range(0, 100, 25)]
    assert whole.lines == [line for part in parts for line in part.lines]
    assert whole.least[""].tolist() == np.concatenate([p.least[""] for p in parts]).tolist()
    assert BLOCK > 100


def test_the_least_loss_is_that_of_the_best_answer() -> None:
    """Of events that are alike, the best single answer loses what is said."""
    least = Ratings(1, Saddle(1), 0.125).told(0, 200_000).least[""]
    assert least.mean() == pytest.approx(0.15259, abs=0.001)  # the integral over the square
    stream = Ratings(1, Linear(1, 1, 1, 5, 0), 0.5, label_noise=0.2)
    told = stream.told(0, 200_000)
    events = [json.loads(line) for line in told.lines]
    x = np.array([event["x"]["x0"] for event in events])
    y = np.array([event["y"] for event in events])
    alike = np.array_split(np.argsort(x, kind="stable"), 400)
    lost = sum(np.abs(y[some] - np.median(y[some])).sum() for some in alike) / len(y)
    assert lost == pytest.approx(told.least[""].mean(), abs=0.004)
    assert (
        told.least[""].mean()
        > Ratings(1, Linear(1, 1, 1, 5, 0), 0.5).told(0, 1000).least[""].mean()
    )


def test_the_least_error_of_preferences_is_that_of_the_best_answer() -> None:
    stream = Preferences(2, Named(2, 4), "bradley-terry", 1.0, 0.7, 1.5, 0.1)
    told = stream.told(0, 60_000)
    counts: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for line in told.lines:
        event = json.loads(line)
        one, other = event["preferred"]["item"], event["other"]["item"]
        way = 1 if "tie" in event else 0
        if one > other:
            one, other, way = other, one, 2 - way
        counts[one, other][way] += 1
    lost = sum(min(c + b / 2, a + b / 2, (a + c) / 2) for a, b, c in counts.values())
    assert lost / 60_000 == pytest.approx(told.least[""].mean(), abs=0.004)
    # what goes around cannot be told by a utility
    assert told.least["of the order by utility"].mean() > told.least[""].mean() + 0.02


def test_what_drifts_does() -> None:
    def labels(drift: str, first: int) -> set[int]:
        lines = (
            Ratings(1, Linear(1, 4, 4, 5, 0), 0.5, drift=drift, every=500).told(first, 500).lines
        )
        return {json.loads(line)["y"] for line in lines}

    assert labels("rank", 0) == {1, 2, 3, 4}
    assert labels("rank", 500) == {1, 2, 3, 4, 5}
    grown = Ratings(1, Linear(1, 6, 6, 5, 100), 0.5, drift="features", every=100).told(0, 400)
    widths = [len(json.loads(line)["x"]) for line in grown.lines]
    assert widths == [3] * 100 + [4] * 100 + [5] * 100 + [6] * 100


def test_a_replay_reads_it_and_loses_more_than_the_least(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STREAM_RANK_PREPARATION")
    out, said = written(capsys, "gaussian", "--events", "3000", "--missing", "0.1")
    first, command = said.splitlines()
    least = float(first.split()[-1])
    file = tmp_path / "events.jsonl"
    file.write_text(out)
    given = command.replace("events.jsonl", str(file)).replace("--out run", f"--out {tmp_path}/run")
    code, *_ = in_process(capsys, *given.split()[1:], "--learner", "ordinal-logit")
    assert code == 0
    (found,) = summary_of(tmp_path / "run")["learners"].values()
    assert least < found["rank_loss"] < 1.3 * least


def test_what_there_is_not_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    for given, why in (
        ("gaussian --width 3 --non-zeros 4", "--non-zeros 4 is more than --width 3"),
        ("gaussian --missing 0.5 --non-zeros 2", "cannot be told from what is not there"),
        ("gaussian --ranks 2 --drift rank", "3 where one is new"),
        ("thurstone --items 1", "--items must be 2 or more"),
    ):
        assert main(["stream", *given.split()]) == 2
        assert why in capsys.readouterr().err
