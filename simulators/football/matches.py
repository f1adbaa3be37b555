"""The matches of a file, in order of date, and how forecasts of them are scored."""

import csv
import datetime
import gzip
import io
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.errors import InputError

__all__ = ["Matches", "load", "log_loss", "misordered"]

Array = npt.NDArray[Any]

_COLUMNS = ("date", "home_team", "away_team", "home_score", "away_score", "neutral")
_NEUTRAL = {"TRUE": True, "FALSE": False}


@dataclass(frozen=True)
class Matches:
    """Matches by date: teams by their number, the home side's goals less the other's, whether the ground was nobody's."""

    teams: tuple[str, ...]
    days: Array
    home: Array
    away: Array
    margin: Array
    neutral: Array
    unplayed: int = 0
    """How many lines of the file have no score, and are not here."""

    def __len__(self) -> int:
        """How many matches there are."""
        return len(self.margin)

    @property
    def outcome(self) -> Array:
        """1 where the home side won, 0 where nobody did, -1 where the other did."""
        return np.sign(self.margin).astype(np.int64)

    @property
    def last_half(self) -> slice:
        """The matches that learners are compared on."""
        return slice(len(self) // 2, len(self))

    @property
    def tuning(self) -> slice:
        """The matches that parameters are chosen on: of the first half again the last, when ratings have settled."""
        return slice(len(self) // 4, len(self) // 2)

    def until(self, end: int) -> "Matches":
        """The first so many matches."""
        columns = ("days", "home", "away", "margin", "neutral")
        return replace(self, **{name: getattr(self, name)[:end] for name in columns})


def _score(line: int, name: str, text: str) -> int | None:
    """Goals, or None for NA."""
    if text == "NA":
        return None
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"line {line}: {name} is {text!r}; a whole number or NA is needed")
    return int(text)


def _text(file: Path) -> str:
    content = file.read_bytes()
    if file.suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"it cannot be unpacked: {error}") from None
    return content.decode("utf-8-sig")


def _parse(text: str) -> Matches:
    reader = csv.DictReader(io.StringIO(text), strict=True, restval="")
    missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise ValueError(f"there is no column {', '.join(missing)}; {', '.join(_COLUMNS)} are read")
    numbers: dict[str, int] = {}
    played, unplayed = [], 0
    for row in reader:
        line = reader.line_num
        goals = [_score(line, name, row[name]) for name in ("home_score", "away_score")]
        if row["neutral"].upper() not in _NEUTRAL:
            raise ValueError(f"line {line}: neutral is {row['neutral']!r}; TRUE or FALSE is needed")
        try:
            day = datetime.date.fromisoformat(row["date"])
        except ValueError:
            raise ValueError(
                f"line {line}: date is {row['date']!r}; a day such as 1872-11-30 is needed"
            ) from None
        if goals[0] is None or goals[1] is None:
            unplayed += 1
            continue
        at_home = not _NEUTRAL[row["neutral"].upper()]
        sides = (row["home_team"], row["away_team"])
        played.append((day, *sides, goals[0] - goals[1], not at_home))
    played.sort(key=lambda match: match[0])  # stable: within a day the file's order stays
    for match in played:
        for team in match[1:3]:
            numbers.setdefault(team, len(numbers))
    matches = Matches(
        tuple(numbers),
        np.array([match[0] for match in played], dtype="datetime64[D]"),
        np.array([numbers[match[1]] for match in played], dtype=np.int64),
        np.array([numbers[match[2]] for match in played], dtype=np.int64),
        np.array([match[3] for match in played], dtype=np.float64),
        np.array([match[4] for match in played], dtype=bool),
        unplayed,
    )
    if not all(matches.margin[part].any() for part in (matches.tuning, matches.last_half)):
        raise ValueError("there are not enough matches that somebody won")
    return matches


def load(file: Path) -> Matches:
    """The matches of a CSV file, plain or `.gz`; those without a score are left out and counted.

    Cost: O(n log n) for n lines; some 0.3 s for fifty thousand.

    >>> import tempfile
    >>> lines = ["date,home_team,away_team,home_score,away_score,neutral"]
    >>> lines += [f"187{i}-11-30,Scotland,England,{i},2,FALSE" for i in range(8)]
    >>> lines += ["2030-06-13,Uruguay,Argentina,NA,NA,TRUE"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "results.csv"
    ...     _ = file.write_text("\\n".join(lines))
    ...     matches = load(file)
    >>> matches.teams, matches.outcome.tolist(), matches.unplayed
    (('Scotland', 'England'), [-1, -1, 0, 1, 1, 1, 1, 1], 1)
    """
    try:
        return _parse(_text(file))
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{file.name} is not a file of matches: {error}") from None


def misordered(matches: Matches, leads: Array, part: slice) -> float:
    """Of the matches that somebody won, the share where the loser was ahead; half a match where nobody was.

    >>> none = np.zeros(4, dtype=np.int64)
    >>> matches = Matches((), none, none, none, np.array([2.0, 0.0, -1.0, 1.0]), none == 1)
    >>> misordered(matches, np.array([0.3, -0.2, 0.1, 0.0]), slice(0, 4))
    0.5
    """
    outcomes = matches.outcome[part]
    won = outcomes != 0
    return float(np.abs(outcomes - np.sign(leads[part]))[won].mean() / 2)


def log_loss(matches: Matches, chances: Array, part: slice) -> float:
    """Minus the mean logarithm of the chance that was given to what happened; columns are home, draw, away.

    >>> none = np.zeros(2, dtype=np.int64)
    >>> matches = Matches((), none, none, none, np.array([2.0, 0.0]), none == 1)
    >>> round(log_loss(matches, np.array([[0.5, 0.3, 0.2], [0.5, 0.5, 0.0]]), slice(0, 2)), 3)
    0.693
    """
    given = chances[np.arange(len(matches)), 1 - matches.outcome][part]
    return float(-np.log(np.maximum(given, 1e-15)).mean())
