"""What is asked of OrdinalLogit on streams whose truth is known, on fewer events."""

import numpy as np
import pytest

from simulators import ordinal_streams
from simulators.ordinal_streams import Figure, calibration, figures, reliability, report


@pytest.mark.long(12)
def test_figures_are_what_is_asked() -> None:
    for figure in figures(trials=1, scale=0.06):
        slack = 1.2 if "over 3,000" in figure.what else 1.03
        assert 0.0 <= figure.found <= slack * figure.most, figure


def test_what_is_said_is_what_is_seen() -> None:
    ours, truth, shares, true, y = calibration(3_000)
    assert truth < ours < 1.02 * truth
    for said, seen, really in reliability(shares, true, y):
        assert said == pytest.approx(seen, abs=0.05)
        assert said == pytest.approx(really, abs=0.03)
    assert np.allclose(shares.sum(axis=1), 1.0)


def test_a_figure_that_is_missed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for found, code in ((0.2, 1), (0.1, 0), (float("nan"), 1)):
        monkeypatch.setattr(
            ordinal_streams, "figures", lambda trials, found=found: [Figure("it", found, 0.1)]
        )
        assert report(1, lambda line: None) == code
