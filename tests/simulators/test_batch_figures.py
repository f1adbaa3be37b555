"""The batch methods' pictures, of few events."""

from pathlib import Path

import pytest

from simulators.batch_figures import draw, gap, promised


def test_the_picture_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "figures.svg"
    draw(60, 2, out)
    assert "leaving out all pairs" in out.read_text()
    assert "measured" in capsys.readouterr().out


def test_what_is_promised_is_kept() -> None:
    for C in (1.0, 0.01):
        assert 0 < gap(100, C, 20) < promised(100, C)
