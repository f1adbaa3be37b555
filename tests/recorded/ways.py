"""One stream in many portions and forms, which must all give the same."""

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.recorded.command import Row, piped, replay, row_of
from tests.recorded.streams import Stream, write_table
from tests.recorded.variants import Variant, few

__all__ = ["difference", "stream_row"]

_OF_FILES = ("places",)
"""What depends on the file that something stands in, and on its name."""
_OF_LINES = (*_OF_FILES, "reasons", "rejected")
"""What lines of JSON and rows of a table do not have in common."""


def difference(first: Any, second: Any, place: str = "") -> list[str]:
    """Where two tables, or parts of them, differ: a line each."""
    if isinstance(first, dict) and isinstance(second, dict):
        found = []
        for key in [*first, *(key for key in second if key not in first)]:
            inner = f"{place} / {key}" if place else str(key)
            if key not in first or key not in second:
                found.append(f"{inner}: only the {'first' if key in first else 'second'} has it")
            else:
                found += difference(first[key], second[key], inner)
        return found
    # by their text: 1 and 1.0 are equal, and not the same
    return [] if repr(first) == repr(second) else [f"{place}: {first!r} is now {second!r}"]


class _Ways:
    """A stream, and a folder to replay it in."""

    def __init__(self, stream: Stream, folder: Path) -> None:
        self.stream, self.folder = stream, folder
        self.few = few(stream.variants)
        self.suffix = f".{stream.form}"
        self.main = folder / f"{stream.name}{self.suffix}"
        self.content = b"".join(line + b"\n" for line in stream.lines)
        if stream.lines:
            self.main.write_bytes(self.content)
        else:
            write_table(stream.events or [], self.main, 64)

    def replayed(
        self,
        way: str,
        inputs: Sequence[Any],
        variants: Sequence[Variant] | None = None,
        cuts: Sequence[int] = (),
        *more: Any,
    ) -> Row:
        """Replay, stopped after so many events and gone on with."""
        stream, out = self.stream, self.folder / f"out {way}"
        given: list[Any] = [*stream.arguments, "--preparation", "raw", *more]
        if stream.n_ranks is not None:
            given += ["--n-ranks", stream.n_ranks]
        for each in stream.variants if variants is None else variants:
            given += ["--learner", each.spec]
        for number, cut in enumerate([*cuts, None]):
            end = [] if cut is None else ["--max-events", cut]
            replay(inputs, out, *given, *end, *(["--resume"] if number else []))
        return row_of(out, self.folder)

    def file(self, way: str, content: bytes) -> Path:
        """A file of lines of its own."""
        path = self.folder / f"{self.stream.name} {way}"
        path.write_bytes(content)
        return path

    # The ways ---------------------------------------------------------------------------------

    def pieces(self, path: Path, variants: Sequence[Variant] | None = None) -> Row:
        events = len(self.stream.events or self.stream.lines)
        cuts = [1, 10, events // 6, events // 3]
        more = ["--snapshot-events", 37]
        return self.replayed(f"pieces of {path.name}", [path], variants, cuts, *more)

    def alone(self) -> dict[str, Row]:
        """Some learners without the others: what those need must make no difference to them."""
        kinds = ("prank", "oap-bpm", "online-mprank")
        first = {each.name: each for each in reversed(self.stream.variants)}
        chosen = [first[kind] for kind in kinds if kind in first]
        return {
            each.spec: self.replayed(f"alone {each.name}", [self.main], [each]) for each in chosen
        }

    def chain(self) -> Row:
        generator, lines = Random(11), self.stream.lines
        cuts = sorted(generator.randint(1, len(lines) - 1) for _ in range(3))
        header = lines[:1] if self.stream.form == "csv" else []
        parts = []
        for number, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(lines)], strict=True)):
            part = b"\n".join(
                [*(header if number else []), *lines[begin:end]]
            )  # no newline at its end
            parts.append(self.file(f"part {number}{self.suffix}", part))
        return self.replayed("chain", parts)

    def pipe(self) -> Row:
        with piped(self.content):
            return self.replayed("pipe", ["-"], None, (), "--format", self.stream.form)

    def gz(self) -> Row:
        packed = self.file(f"packed{self.suffix}.gz", gzip.compress(self.content, mtime=0))
        return self.replayed("gz", [packed], self.few)

    def table(self, suffix: str, rows: int) -> Path:
        path = self.folder / f"{self.stream.name} table{suffix}"
        write_table(self.stream.events or [], path, rows)
        return path


def stream_row(make: Callable[[], Stream], folder: Path, tables: bool) -> tuple[Row, list[str]]:
    """What the table says of a stream; and where one way to replay it differs from the plainest."""
    stream = make()
    quarrels: list[str] = []
    ways = _Ways(stream, folder)
    row = ways.replayed("plain", [ways.main])

    def same(way: str, other: Row, without: Sequence[str] = ()) -> None:
        first = {key: row[key] for key in other if key not in without}
        second = {key: other[key] for key in other if key not in without}
        first["learners"] = {each: row["learners"][each] for each in other["learners"]}
        quarrels.extend(f"{stream.name} / {way}: {each}" for each in difference(first, second))

    same("pieces", ways.pieces(ways.main))
    if stream.alone:
        for spec, other in ways.alone().items():
            same(f"alone {spec}", other)
    if stream.lines:
        same("gz", ways.gz(), _OF_FILES)
        same("chain", ways.chain(), _OF_FILES)
        same("pipe", ways.pipe(), _OF_FILES)
    if tables and stream.events:
        text, parquet, arrow = (
            ways.table(suffix, rows)
            for suffix, rows in ((".csv", 0), (".parquet", 97), (".arrow", 41))
        )
        # rows of Parquet and Arrow are rejected in the same words
        without = _OF_FILES if stream.form == "parquet" else _OF_LINES
        same("CSV", ways.replayed("csv", [text], ways.few), _OF_LINES)
        same("Parquet", ways.replayed("parquet", [parquet]), without)
        same("Parquet in pieces", ways.pieces(parquet, ways.few), without)
        same("Arrow", ways.replayed("arrow", [arrow], ways.few), without)
    return row, quarrels
