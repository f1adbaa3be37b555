"""Opening sources by file name, `-` for standard input, or `synthetic:N`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from stream_rank.errors import ConfigError, InputError
from stream_rank.ingest.chunk import Chunk
from stream_rank.ingest.files.column_mapping import Mapping
from stream_rank.ingest.files.csv_options import CsvOptions
from stream_rank.ingest.files.lines import Followed, LineFile, StandardInput
from stream_rank.ingest.files.synthetic import Synthetic
from stream_rank.ingest.position import ChainPosition, Position
from stream_rank.ingest.source import Source

__all__ = ["FORMATS", "Chain", "open_source"]

FORMATS = ("jsonl", "csv", "parquet", "arrow", "avro")
_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".avro": "avro",
}
_COMPRESSED = (".gz", ".zst")
_SYNTHETIC = "synthetic:"


class Chain:
    """Several sources, read one after the other."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self.name = ", ".join(source.name for source in sources)

    def chunks(self, position: ChainPosition | None) -> Iterator[Chunk | None]:
        """Events from a position on."""
        first, inner = (0, None) if position is None else (position.source, position.at)
        for number in range(first, len(self._sources)):
            source = self._sources[number]
            for chunk in source.chunks(inner):
                if chunk is None:
                    yield None
                    continue
                yield replace(
                    chunk, position_after=_position_in(number, source.name, chunk.position_after)
                )
            inner = None

    def position_from(self, stored: Any) -> ChainPosition:
        """The position stored in a snapshot; raises `InputError` if the inputs or their order changed."""
        number, name = int(stored["source"]), stored["name"]
        if number >= len(self._sources) or self._sources[number].name != name:
            raise InputError(
                f"the run that is resumed was reading {name} as its input number {number + 1}; "
                f"now there is {self.name}: give the same inputs in the same order"
            )
        return ChainPosition(number, name, self._sources[number].position_from(stored["at"]))

    def progress(self, position: ChainPosition | None) -> float | None:
        """The share that was read; every source has the same weight."""
        done, at = (0, None) if position is None else (position.source, position.at)
        part = self._sources[done].progress(at)
        return None if part is None else (done + part) / len(self._sources)


def _position_in(
    number: int, name: str, inner: Callable[[int], Position]
) -> Callable[[int], ChainPosition]:
    """Positions of one source as positions of the chain."""
    return lambda done: ChainPosition(number, name, inner(done))


def _synthetic(name: str) -> Source:
    count = name.removeprefix(_SYNTHETIC).replace("_", "").replace(",", "")
    if not count.isdecimal() or int(count) < 1:
        raise InputError(f"{name!r}: how many events? as in synthetic:100000")
    return Synthetic(int(count))


def _format_of(path: Path, given: str | None) -> str:
    if given is not None:
        return given
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in _COMPRESSED]
    found = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    if found is None:
        raise InputError(
            f"{path} has none of the endings {', '.join(_SUFFIXES)}; say what it is with `format`"
        )
    return found


def _single(
    name: str, form: str | None, mapping: Mapping, follow: bool, options: CsvOptions
) -> Source:
    if name.startswith(_SYNTHETIC):
        return _synthetic(name)
    path = Path(name)
    if name == "-":
        form, source = form or "jsonl", StandardInput()
    else:
        try:
            there = path.is_file()
        except OSError as error:  # such as a name that is too long
            raise InputError(f"{name} cannot be read: {error.strerror}") from None
        if not there:
            near = get_close_matches(path.name, _beside(path), 1)
            hint = f"; there is {path.with_name(near[0])}" if near else ""
            raise InputError(f"{name} is not a file{hint}")
        form = _format_of(path, form)
        if follow and path.suffix.lower() in _COMPRESSED:
            raise InputError(f"{name} is compressed; only plain files can be followed")
        source = Followed(path) if follow else LineFile(path)  # type: ignore[assignment]
    if form in ("jsonl", "avro") and (mapping.ranking or mapping.chosen or mapping.among):
        raise ConfigError(
            f"`fields` ranking, chosen and among are of tables; in {name} rankings and choices have a form of their own"
        )
    if form == "jsonl":
        return source
    if form == "csv":
        from stream_rank.ingest.files.csv_file import Csv  # imports Arrow, which is slow

        if options.delimiter is None and ".tsv" in map(str.lower, path.suffixes):
            options = replace(options, delimiter="\t")
        return Csv(source, mapping, options)
    if follow or name == "-":
        raise InputError(f"{name}: {form} can be read from whole files only")
    if form == "avro":
        from stream_rank.ingest.files.avro_file import AvroFile  # needs fastavro

        return AvroFile(path)
    from stream_rank.ingest.files.arrow_file import ArrowFile, ParquetFile

    return (ParquetFile if form == "parquet" else ArrowFile)(path, mapping)


def open_source(
    names: Sequence[str],
    form: str | None = None,
    mapping: Mapping | None = None,
    follow: bool = False,
    options: CsvOptions | None = None,
) -> Source:
    """A source for files (or "-", or "synthetic:100000"), read one after the other."""
    mapping, options = mapping or Mapping(), options or CsvOptions()
    # only the last file is followed: a followed file never ends
    sources = [
        _single(name, form, mapping, follow and name == names[-1], options) for name in names
    ]
    return Chain(sources)


def _beside(path: Path) -> list[str]:
    try:
        return [each.name for each in path.parent.iterdir()]
    except OSError:
        return []
