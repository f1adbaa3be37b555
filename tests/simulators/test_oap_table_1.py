"""Table 1 of the OAP paper, with fewer trials than the command's twenty."""

import re

import numpy as np
import pytest

from simulators import oap_table_1
from simulators.__main__ import main

TRIALS = 4


@pytest.mark.parametrize("row", [*oap_table_1.rows()], ids=lambda row: row.name)
def test_figures_agree_with_the_papers(row: oap_table_1.Row) -> None:
    """Few trials are wide; the learners themselves are pinned by the oracle's tests."""
    ours = oap_table_1.figure(oap_table_1.losses(row, TRIALS, 5000, kernel=False))
    if row.required:
        assert oap_table_1.agrees(row, ours)
    assert abs(ours.mean - row.paper) < 0.1


@pytest.mark.parametrize(
    "row", [row for row in oap_table_1.rows() if row.has_kernel], ids=lambda row: row.name
)
def test_kernel_and_explicit_map_give_the_same_figures(row: oap_table_1.Row) -> None:
    """Rounding may turn a rank on the edge of a threshold: of 1,000 test events, one step at the most."""
    explicit, kernel = (oap_table_1.losses(row, 1, 2000, kernel=form) for form in (False, True))
    assert np.abs(explicit - kernel).max() <= 0.001


def test_disagreement_is_seen() -> None:
    row = next(oap_table_1.rows())
    assert not oap_table_1.agrees(row, oap_table_1.Figure(row.paper + 0.03, 0.01))
    assert oap_table_1.agrees(row, oap_table_1.Figure(row.paper + 0.015, 0.01))


def test_the_order_of_the_learners_is_the_papers() -> None:
    """OAP-BPM before bagging and voting, at every sampling rate."""
    losses = {
        row.name: oap_table_1.losses(row, TRIALS, 5000, kernel=False).mean()
        for row in oap_table_1.rows()
        if row.name.startswith("OAP")
    }
    for sampling in (0.3, 0.6, 0.9):
        assert losses[f"OAPBPM τ={sampling}"] < losses[f"OAPBagg τ={sampling}"]
        assert losses[f"OAPBPM τ={sampling}"] < losses[f"OAPVP τ={sampling}"]


def test_the_command_prints_the_paper_beside_ours(capsys: pytest.CaptureFixture[str]) -> None:
    main(["oap-table-1", "--trials", "2", "--events", "300", "--form", "explicit"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len([*oap_table_1.rows()]) + 1
    assert re.match(r"OAPBPM τ=0.3 +0.23 ± 0.01 +\d", lines[2])


def test_figures_that_do_not_agree_fail_the_command() -> None:
    """300 events are not enough for the paper's figures."""
    assert main(["oap-table-1", "--trials", "3", "--events", "300", "--form", "explicit"]) == 1
