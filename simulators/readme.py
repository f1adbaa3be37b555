"""Putting what a command found where the README shows it."""

from pathlib import Path

__all__ = ["put_between"]


def put_between(file: Path, mark: str, text: str) -> None:
    """Replace what stands between `<!-- mark -->` and the next `<!-- end -->`."""
    begin, end = f"<!-- {mark} -->\n", "<!-- end -->"
    before, found, rest = file.read_text().partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{file} has no lines {begin.strip()} and {end}")
    file.write_text(f"{before}{begin}{text}\n{end}{after}")
