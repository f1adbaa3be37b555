"""What the repository itself promises."""

import re
import subprocess
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
