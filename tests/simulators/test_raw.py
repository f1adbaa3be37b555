"""Raw data sets by the default learner: small ones that are made here, and the real ones where they are."""

import csv
import gzip
from pathlib import Path
from random import Random

import pytest

from simulators.__main__ import main
from simulators.raw import DATASETS, Dataset, row_of, table
from tests.conftest import research_data

pytestmark = pytest.mark.long(10)


@pytest.fixture(autouse=True)
def as_a_person_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STREAM_RANK_PREPARATION", raising=False)


def test_a_messy_table_needs_one_command(tmp_path: Path) -> None:
    """Unscaled numbers, text, ids and missing cells: better than a constant, and than Vowpal Wabbit where it is."""
    generator = Random(5)
    sellers = {str(i): generator.gauss(0, 0.5) for i in range(1_000, 1_040)}
    with gzip.open(tmp_path / "messy.csv.gz", "wt", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["price", "seller", "kind", "remark", "stars"])
        for _ in range(3_000):
            price, seller = generator.lognormvariate(8, 0.7), generator.choice(list(sellers))
            kind = generator.choice(["old, but good", "new", ""])
            merit = sellers[seller] + (kind == "new") - 0.5 * price / 3_000
            stars = min(5, max(1, round(3.2 + merit + generator.gauss(0, 0.3))))
            shown = f"{price:.2f}" if generator.random() < 0.9 else ""
            rows.writerow([shown, seller, kind, 'said "yes"\nand left', stars])
    data = Dataset(
        "messy", "messy.csv.gz", "--fields y=stars --category seller --n-ranks 5", "stars", names=("seller",)
    )  # fmt: skip
    row = row_of(data, tmp_path, lambda _: None)
    assert row.ours < 0.7 * row.constant
    assert row.peer is None or row.ours < row.peer
    assert "messy" in table([row])


@pytest.mark.parametrize("name", ["car", "auto10"])
def test_real_data(name: str) -> None:
    (data,) = (each for each in DATASETS if each.name == name)
    folder = research_data(data.path).parents[1]
    row = row_of(data, folder, lambda _: None)
    assert row.ours < row.constant
    assert row.peer is None or row.ours < row.peer


def test_a_folder_without_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["raw", "--data", str(tmp_path)]) == 2
    assert "--data says where the data sets are" in capsys.readouterr().err
