"""What the repository itself promises."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
TOP = {
    *("pyproject.toml", "README.md", "stream_rank", "deploy", "tests", "simulators", "dashboards"),
    *("Makefile", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "requirements.lock"),
    *(".ci", ".gitignore"),
}


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return [REPOSITORY / name for name in listed.stdout.split()]


def test_top_level() -> None:
    assert {path.relative_to(REPOSITORY).parts[0] for path in tracked()} <= TOP


def test_the_lock_pins_hashes_and_names_no_address() -> None:
    lock = (REPOSITORY / "requirements.lock").read_text()
    assert "://" not in lock
    assert not re.search(r"--(index-url|extra-index-url|find-links|trusted-host)", lock)
    pins = re.findall(r"^([A-Za-z0-9._-]+)==", lock, re.MULTILINE)
    assert {"numpy", "numba", "river", "pytest", "vowpalwabbit"} <= set(pins)
    assert lock.count("--hash=sha256:") >= len(pins)


def test_ci_runs_what_the_readme_says() -> None:
    assert "make check" in (REPOSITORY / ".ci/run").read_text()
    readme = (REPOSITORY / "README.md").read_text()
    assert "make demo" in readme
    assert "make test" in readme


def test_files_stay_small() -> None:
    longest = max(
        (len(path.read_text().splitlines()), path.name)
        for path in tracked()
        if path.suffix == ".py" and path.exists()
    )
    assert longest[0] <= 500, longest


def test_the_wheel_installs_the_package_alone(tmp_path: Path) -> None:
    """What ships must run from what ships: its examples name no simulator, and nothing else comes to lie beside it."""
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet"]
    shutil.copytree(REPOSITORY / "stream_rank", tmp_path / "src/stream_rank")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, tmp_path / "src")
    subprocess.run([*build, "--wheel-dir", tmp_path, tmp_path / "src"], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    top = {name.partition("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"stream_rank"}
    assert "stream_rank/py.typed" in names
    for path in (REPOSITORY / "stream_rank").rglob("*.py"):
        assert not re.search(r"(from|import) simulators", path.read_text()), path
