"""MovieLens' rows of the magnitude-preserving paper's tables, on invented ratings."""

from pathlib import Path

import numpy as np
import pytest

from simulators import mp_movielens
from simulators.__main__ import main


def invented(folder: Path) -> Path:
    """People of two opposite tastes, with few ratings and with many."""
    generator = np.random.default_rng(0)
    taste = generator.normal(0, 1.3, 120)
    lines = []
    for person in range(1, 160):
        seen = generator.permutation(120)[: (30, 50, 70)[person % 3]]
        liked = 3 + (1 if person % 2 else -1) * taste[seen] + generator.normal(0, 0.5, len(seen))
        for film, value in zip(seen.tolist(), np.clip(np.rint(liked), 1, 5).tolist(), strict=True):
            lines.append(f"{person}\t{film + 1}\t{value:.0f}\t881250949")
    file = folder / "u.data"
    file.write_text("\n".join(lines))
    return file


def test_the_protocol_on_invented_ratings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        mp_movielens,
        "WAYS",
        tuple(way._replace(settings=way.settings[:1]) for way in mp_movielens.WAYS),
    )
    given = mp_movielens.load(invented(tmp_path))
    assert given.given.shape == (159, 121)
    assert not np.isnan(given.filled).any()
    assert mp_movielens.report(given, trials=1, users=4) == 0
    shown = capsys.readouterr().out
    for group in mp_movielens.groups():
        for way in mp_movielens.WAYS:
            assert f"{group.name:7}{way.name:11}" in shown


def test_a_file_of_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "other.csv"
    file.write_text("1,2,3")
    assert main(["mp-movielens", "--data", str(file)]) == 2
    assert (
        "user, item, 1 to 5 and seconds, with tabs between is expected" in capsys.readouterr().err
    )
