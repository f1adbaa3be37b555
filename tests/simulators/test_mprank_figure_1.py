"""On-line MPRank beside the batch solution."""

from pathlib import Path

import pytest

from simulators.__main__ import main
from simulators.mprank_figure_1 import convergence, times


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
    assert [line.split()[0] for line in lines[1:-1]] == ["500", "700"]
