"""`python -m simulators live --table FILE`: break everything once with each client, and write how soon row 1 of the dashboards says so.

A real broker, a real daemon, a real Prometheus, by the files that are deployed. Every five seconds the expressions of the tiles are asked,
as a Grafana would; a break is seen once all the tiles that are about it say the right word in the right colour, at once. From then
on, and until it is mended, no tile may be green that is not well.
"""

import signal
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from simulators import tiles
from simulators.breaks import BREAKS
from simulators.broker import NoKafkaError, free_ports
from simulators.live import Live, Ports
from simulators.prometheus import NoPrometheusError
from simulators.tiles import Tile

__all__ = ["EXPECTED", "Expected", "seen_after", "until_well", "write"]

_CLIENTS = ("kafka-python", "confluent")
_BOARDS = ("fleet", "learning", "pipeline")
_STEP = 5.0
_PATIENCE = 240.0
"""Seconds until all is well again, or until a break counts as not seen."""
_GREEN, _ORANGE, _RED, _GREY, _BLUE = "#1E7B34", "#B04A00", "#C4162A", "#5B616B", "#1F60C4"
_UNKNOWN = Tile("Not known", _GREY)
_FLAGS = ("--max-consecutive-rejects", "5000")
_MARK = "<!-- python -m simulators live --table -->"


class Expected(NamedTuple):
    """What is to be seen of a break."""

    tiles: dict[str, Tile]
    within: float
    """Seconds."""
    alert: str | None = None
    """One that fires within the same time."""


_NO_KAFKA = {
    "Kafka": Tile("Kafka unreachable", _RED),
    **dict.fromkeys(("Learning", "Keeps up", "Loss", "Drift"), _UNKNOWN),
    "Lead": Tile("No comparison", _GREY),
}
EXPECTED = {
    "daemon": Expected(
        {
            "Up": Tile("Down", _RED),
            **dict.fromkeys(("Kafka", "Learning", "Keeps up", "Loss", "Drift"), _UNKNOWN),
            **dict.fromkeys(("Saved", "Restarts", "Numbers"), _UNKNOWN),
            "Lead": Tile("No comparison", _GREY),
            "Rejects": Tile("Nothing comes", _GREY),
        },
        10,
    ),
    "broker": Expected(_NO_KAFKA, 30, "StreamRankKafkaUnreachable"),
    "frozen": Expected(_NO_KAFKA, 30, "StreamRankKafkaUnreachable"),
    "producer": Expected({"Learning": Tile("Nothing comes", _ORANGE)}, 20),
    "garbage": Expected({"Rejects": Tile("Many", _RED)}, 30),
    "disk": Expected({"Saved": Tile("Cannot save", _RED)}, 30),
    "drift": Expected({"Drift": Tile("Within the hour", _BLUE)}, 60),
    "two": Expected({"Kafka": Tile("Shared", _ORANGE)}, 90),
    "storm": Expected({"Kafka": Tile("Rebalance storm", _RED)}, 60),
    "rejects": Expected({"Up": Tile("Down", _RED), "Learning": _UNKNOWN}, 45),
}
"""In this order: what is remembered for an hour or a day comes last."""


class Seen(NamedTuple):
    """How soon a break was seen, and its alert; `wrong` are tiles that were green later, `first` says when each was right."""

    after: float | None
    alert: float | None
    wrong: frozenset[str]
    first: dict[str, float]


def until_well(live: Live, seconds: float = _PATIENCE) -> None:
    """Wait until nothing is red, and it learns."""
    until = time.monotonic() + seconds
    while True:
        live.tend()
        said = _all(live)
        if said["Learning"] == Tile("Learning", _GREEN) and said["Up"] == Tile("Up", _GREEN):
            wanted = ("Answers", "Was away", "Shared", "Rebalance storm", "Trouble")
            if said["Kafka"].word in wanted and said["Loss"].word != "Not known":
                return
        if time.monotonic() > until:
            raise RuntimeError(f"it is not well: {said}")
        time.sleep(1)


def _all(live: Live) -> dict[str, Tile]:
    """The tiles of all dashboards, which agree where they have the same title."""
    read: dict[str, Tile] = {}
    for name in _BOARDS:
        read |= tiles.read(tiles.board(name), live.prometheus)
    return read


def seen_after(live: Live, expected: Expected, broken_at: float, longer: float) -> Seen:
    """Look until it is seen, with its alert, and `longer`."""
    after = alert = None
    wrong: set[str] = set()
    first: dict[str, float] = {}
    until = broken_at + expected.within + 60
    due = time.monotonic()
    while time.monotonic() < until:
        due += _STEP
        time.sleep(max(0.0, due - time.monotonic()))
        live.tend()
        passed, said = time.monotonic() - broken_at, _all(live)
        right = expected.tiles.items() <= said.items()
        for title in expected.tiles.keys() - first.keys():
            if said[title] == expected.tiles[title]:
                first[title] = round(passed)
        if after is None and right:
            after = passed
        elif after is not None and not right:
            wrong |= {t for t in expected.tiles if said[t].colour == _GREEN}
        firing = {name for name, _ in live.prometheus.firing()}
        if alert is None and expected.alert in firing:
            alert = passed
        if after is not None and (expected.alert is None or alert is not None):
            until = min(until, broken_at + passed + longer)
            longer = 0.0
    return Seen(after, alert, frozenset(wrong), first)


def _broken(client: str, rate: int) -> dict[tuple[str, str], Seen]:
    """Break all, with one client."""
    found: dict[tuple[str, str], Seen] = {}
    with (
        tempfile.TemporaryDirectory(prefix="stream-rank-live-") as folder,
        Live(
            *(Path(folder), Ports(*free_ports(len(Ports()))), rate, 10**6),
            flags=("--client", client, *_FLAGS),
        ) as live,
    ):
        for name, expected in EXPECTED.items():
            until_well(live)
            broken_at = time.monotonic()
            with BREAKS[name].enter(live):
                found[name, client] = seen_after(live, expected, broken_at, 10.0)
            print(client, name, found[name, client], flush=True)
    return found


def write(file: Path, rate: int) -> int:
    """Break all, print the table and put it between the marks of a file; 1 if anything was not seen in time."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    found: dict[tuple[str, str], Seen] = {}
    try:
        with ThreadPoolExecutor() as both:
            for some in both.map(partial(_broken, rate=rate), _CLIENTS):
                found |= some
    except (NoKafkaError, NoPrometheusError, RuntimeError, KeyboardInterrupt) as error:
        print(error)
        return 1
    table = as_table(found)
    text = file.read_text()
    before, _, rest = text.partition(f"{_MARK}\n")
    after = rest.partition(f"{_MARK}\n")[2]
    file.write_text(f"{before}{_MARK}\n{table}{_MARK}\n{after}")
    good = all(in_time(found[key], EXPECTED[key[0]]) for key in found)
    return 0 if good else 1


def in_time(seen: Seen, expected: Expected) -> bool:
    """Whether it was seen as soon as it must be, and nothing was green that was not well."""
    times = [seen.after] + [seen.alert] * (expected.alert is not None)
    return not seen.wrong and all(
        each is not None and round(each) <= expected.within for each in times
    )


def as_table(found: dict[tuple[str, str], Seen]) -> str:
    """In Markdown, a line for each break."""
    clients = list(dict.fromkeys(client for _, client in found))
    lines = [
        f"| broken | row 1 says | within | {' | '.join(clients)} |",
        f"|---|---|--:|{'--:|' * len(clients)}",
    ]
    for name, expected in EXPECTED.items():
        if not any((name, client) in found for client in clients):
            continue
        title, tile = next(iter(expected.tiles.items()))
        cells = [_cell(found.get((name, client)), expected) for client in clients]
        said = f"{title}: {tile.word}" + (f", alert {expected.alert}" if expected.alert else "")
        lines.append(
            f"| {BREAKS[name].what} | {said} | {expected.within:.0f} s | {' | '.join(cells)} |"
        )
    return "\n".join(lines) + "\n"


def _cell(seen: Seen | None, expected: Expected) -> str:
    if seen is None or seen.after is None:
        return "never"
    text = f"{seen.after:.0f} s"
    if expected.alert is not None:
        text += ", alert never" if seen.alert is None else f", alert {seen.alert:.0f} s"
    return text + (f"; green: {', '.join(sorted(seen.wrong))}" if seen.wrong else "")
