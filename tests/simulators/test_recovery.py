"""The picture of how learners recover from a drift."""

from pathlib import Path

import numpy as np
import pytest

from simulators import recovery
from simulators.__main__ import main


def test_the_command_draws_every_learner(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "recovery.svg"
    assert main(["recovery", "--trials", "1", "--events", "800", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    picture = out.read_text()
    for name in recovery.LEARNERS:
        assert name in shown
        assert name in picture


def test_recovery_is_when_the_loss_is_as_before() -> None:
    loss = np.concatenate([np.full(100, 0.2), np.full(30, 2.0), np.full(70, 0.2)])
    assert recovery.recovered(loss, 10) == 30 + 10
    assert recovery.recovered(np.concatenate([loss[:100], loss[:100] + 1.0]), 10) is None
    assert recovery.smoothed(np.arange(5.0), 2).tolist() == [0.5, 1.5, 2.5, 3.5]
