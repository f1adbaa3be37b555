"""The hold-out of ordinal sets, on a small one that is made here."""

import csv
import gzip
from pathlib import Path
from random import Random

import numpy as np
import pytest

from simulators.__main__ import main
from simulators.ordinal_peers import MISSING, PEERS
from simulators.ordinal_sets import LEARNERS, report, scores_of


def test_a_table_of_errors_beside_the_peers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STREAM_RANK_PREPARATION", raising=False)
    folder, generator = tmp_path / "ordinal-sets", Random(3)
    folder.mkdir()
    with gzip.open(folder / "car.csv.gz", "wt", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["size", "colour", "price", "y"])
        for _ in range(500):
            size, price = generator.gauss(0, 1), generator.gauss(5, 2)
            colour = generator.choice(["red", "green", "blue"])
            score = size + (colour == "red") - 0.5 * (price - 5) + generator.gauss(0, 0.2)
            shown = f"{price:.3f}" if generator.random() < 0.95 else ""
            rows.writerow(
                [f"{size:.3f}", colour, shown, sum(score > edge for edge in (-1, 0, 1)) + 1]
            )
    lines: list[str] = []
    assert report(tmp_path, 2, ["car"], lines.append) == 0
    head = ["hedge", "linear", "waves", "averaged", *PEERS]
    row, ratios = (line.split() for line in lines[1:3])
    assert lines[0].split()[1:] == " ".join(head).split()
    errors = {name: float(error) for name, error in zip(head, row[1:], strict=True) if error != "-"}
    assert len(errors) == len(LEARNERS) + len(PEERS) - len(MISSING)
    assert max(errors["linear"], errors["ARF regr"], errors["ARF class"]) < errors["median"]
    assert errors["linear"] < 0.7 * errors["median"]
    assert ratios[:2] == ["over", "trees"]
    assert float(ratios[3]) == pytest.approx(errors["linear"] / errors["trees"], abs=0.02)
    assert errors["hedge"] < 1.2 * min(errors["linear"], errors["waves"])
    assert lines[-len(MISSING) :] == [*MISSING.values()] if MISSING else True
    assert lines[4].split()[0] == "car"
    assert [0.0 < float(score) < limit for score in lines[4].split()[1:] for limit in (2.0,)] == [
        True
    ] * 6


def test_scores_of_probabilities() -> None:
    shares = np.array([[0.5, 0.3, 0.2], [0.0, 1.0, 0.0]])
    rps, log_loss = scores_of(shares, np.array([1, 2]))
    assert rps == pytest.approx((0.5**2 + 0.2**2) / 2 / 2)
    assert log_loss == pytest.approx(np.log(2) / 2)


def test_a_folder_without_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ordinal-sets", "--data", str(tmp_path)]) == 2
    assert "--data says where the data sets are" in capsys.readouterr().err
