"""`report.html` in a real browser."""

import json
import random
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from tests.cli.conftest import Ran, run

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"]  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report") / "out"
    learners = [
        "--learner",
        "oap-bpm",
        "--learner",
        "prank",
        "--learner",
        "online-mprank:budget=50",
    ]
    ran = run("replay", "synthetic:30000", *learners, "--n-ranks", 5, "--out", out)
    assert ran.code == 0, ran.error
    return out / "report.html"


def chromium(*arguments: str, folder: Path) -> str:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("chromium is not here; Debian's package of that name has it")
    done = subprocess.run(
        [browser, *FLAGS, f"--user-data-dir={folder / 'profile'}", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def test_a_browser_shows_every_part(page: Path, tmp_path: Path) -> None:
    """The page as the browser understood it: nothing lost, nothing fetched, every line drawn."""
    shown = chromium("--dump-dom", page.as_uri(), folder=tmp_path)
    for words in ("Learning curves: rank loss", "Learning curves: magnitude loss", "Thresholds",
                  "Which rank was taken for which", "The largest weights", "What prank learned"):  # fmt: skip
        assert words in shown
    assert shown.count("<polyline") == shown.count("</polyline>") > 10
    assert "NaN" not in shown
    assert "None" not in shown


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Ratings that have nothing to do with their features, which are far out of scale."""
    folder, generator = tmp_path_factory.mktemp("lost"), random.Random(1)
    events = [
        {"x": {"a": 1e4 * generator.random()}, "y": generator.randint(1, 5)} for _ in range(3_000)
    ]
    (folder / "events.jsonl").write_text("\n".join(map(json.dumps, events)))
    learners = ["--learner", "prank", "--learner", "averaged-prank"]
    return run(
        *("replay", folder / "events.jsonl", *learners, "--n-ranks", 5, "--out", folder / "out")
    )


def test_no_learner_is_crowned_that_a_constant_beats(lost: Ran, page: Path) -> None:
    assert lost.code == 0
    shown = Path(lost.out.split("weights: ")[1].strip()).read_text()
    assert "No learner is better than always answering the median" in shown
    assert "ended best" not in shown
    assert 'class="best"' not in shown
    assert "prank is worse than always answering the median: lately" in shown
    assert "always the median" in shown  # a line in the charts
    good = page.read_text()
    assert "No learner is better" not in good
    assert "is worse than always" not in good
    assert "always the mean" in good


def test_the_terminal_says_that_a_constant_is_better(lost: Ran) -> None:
    assert lost.out.count("worse than the median") == 2
    assert "No learner is better than always answering the median." in lost.out
    assert "averaged-prank is worse than always answering the median: lately" in lost.error


def pixels(png: bytes) -> tuple[int, int, set[bytes]]:
    """Width, height and the colours of a picture of eight bits a channel."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert depth == 8
    channels = {2: 3, 6: 4}[kind]
    data, place = b"", 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        if png[place + 4 : place + 8] == b"IDAT":
            data += png[place + 8 : place + 8 + length]
        place += length + 12
    raw, stride = zlib.decompress(data), width * channels
    found, row = set(), bytearray(stride)
    for line in range(height):
        begin = line * (stride + 1)
        row = _unfiltered(raw[begin], bytearray(raw[begin + 1 : begin + 1 + stride]), row, channels)
        found |= {bytes(row[i : i + 3]) for i in range(0, stride, channels)}
    return width, height, found


def _unfiltered(kind: int, line: bytearray, above: bytearray, step: int) -> bytearray:
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        if kind == 4:
            near = left + above[i] - corner
            _, _, guess = min(
                (abs(near - left), 0, left), (abs(near - above[i]), 1, above[i]), (abs(near - corner), 2, corner)
            )  # fmt: skip
        else:
            guess = (0, left, above[i], (left + above[i]) // 2)[kind]
        line[i] = (line[i] + guess) & 255
    return line


def test_a_screenshot_has_the_colours_of_the_lines(page: Path, tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    chromium(f"--screenshot={picture}", "--window-size=1280,1000", page.as_uri(), folder=tmp_path)
    width, height, colours = pixels(picture.read_bytes())
    assert (width, height) == (1280, 1000)
    for colour in ("0072b2", "d55e00"):  # the lines of two learners
        assert bytes.fromhex(colour) in colours
