"""The command, on an invented league and on the research data."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from simulators.__main__ import main
from simulators.football import report
from simulators.football.matches import load
from tests.conftest import research_data

PEERS = ("glicko2", "openskill", "penaltyblog")


def test_the_table_without_others_libraries(
    league_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*PEERS, "openskill.models", "penaltyblog.ratings"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(report, "BARS", {False: 0.4, True: 0.4})
    assert main(["football", "--data", str(league_file)]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "1,600 matches of 16 teams, from 1990-01-01 to 1994-05-19; 2 without" in shown.out
    assert "pip install glicko2" in shown.out
    assert "pip install openskill" in shown.out
    lines = shown.out.splitlines()
    assert [line.split(",")[0] for line in lines if line.startswith(("Rec", "Elo"))] == [
        *("RecursiveMPRank", "Elo"),
        *("RecursiveMPRank", "Elo"),
    ]
    assert lines.index("by who won") < lines.index("by how many goals")
    assert "(five lines)" in shown.out
    assert "!" not in shown.out


def test_more_misordered_than_is_asked_fails_the_command(
    league_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "BARS", {False: 0.4, True: 0.2})
    assert main(["football", "--data", str(league_file)]) == 1
    marked = [line for line in capsys.readouterr().out.splitlines() if "!" in line]
    assert len(marked) == 1
    assert marked[0].startswith("RecursiveMPRank")
    assert "0.200" in marked[0]


def test_a_terminal_is_told_what_is_under_way(
    league_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    main(["football", "--data", str(league_file)])
    shown = capsys.readouterr()
    assert "RecursiveMPRank, one of 18 settings ..." in shown.err
    assert shown.err.endswith("\033[K\r")
    assert "\033" not in shown.out


@pytest.mark.long(25)
def test_fewer_international_matches_are_misordered_than_is_asked() -> None:
    """And fewer than Elo, Glicko-2 and openskill misorder with the best home advantage, where they are installed."""
    matches = load(research_data("international-football/results.csv.gz"))
    found = [row for row in report.rows(matches) if isinstance(row, report.Row)]
    ours = {row.goals: row for row in found if row.ours}
    assert ours[False].misordered <= 0.232
    assert ours[True].misordered <= 0.225
    for row in found:
        if not row.ours:
            assert row.misordered > ours[row.goals].misordered, row
            assert row.log_loss > ours[row.goals].log_loss, row
    elo = {row.goals: row.misordered for row in found if row.name.startswith("Elo")}
    assert elo == {False: pytest.approx(0.236, abs=0.002), True: pytest.approx(0.231, abs=0.002)}
    names = " ".join(row.name for row in found)
    for name in PEERS:
        assert (find_spec(name) is not None) == (name in names)
