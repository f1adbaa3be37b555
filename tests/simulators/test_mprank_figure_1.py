"""On-line MPRank beside the batch solution."""

from pathlib import Path

import numpy as np
import pytest

from simulators.__main__ import main
from simulators.mprank_figure_1 import convergence, films, times
from tests.simulators.test_mp_movielens import invented


def test_errors_come_to_those_of_the_batch_solution() -> None:
    curves = convergence(120)
    assert curves.learned[0] > 1.05 * curves.batch_learned
    assert curves.learned[-1] == pytest.approx(curves.batch_learned, rel=0.01)
    assert curves.other[-1] == pytest.approx(curves.batch_other, rel=0.01)


def test_both_ways_give_the_same_scores() -> None:
    row = times(400)
    assert row.apart < 0.05
    assert 1 < row.passes < 1000


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_picture(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / f"figure.{kind}"
    assert main(["mprank-figure-1", "--events", "700", "--passes", "5", "--out", str(out)]) == 0
    assert out.stat().st_size > 10_000
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:-3]] == ["500", "700"]


def test_real_ratings_are_those_of_who_gave_most(tmp_path: Path) -> None:
    source = films(invented(tmp_path))
    assert (source.most, source.some) == (70, 35)
    (X, y), (again, _) = (source.events(200, seed) for seed in (1, 2))
    assert X.shape == (70, 158)
    assert {*y.tolist()} <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert (np.sort(X, axis=0) == np.sort(again, axis=0)).all()
    assert (again != X).any()
    curves = convergence(40, source)
    assert curves.other[-1] == pytest.approx(curves.batch_other, rel=0.01)
    assert times(70, source).apart < 0.1
