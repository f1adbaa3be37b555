"""What may be said of a CSV, apart from its reader, which takes long to import."""

from dataclasses import dataclass

from stream_rank.errors import ConfigError

__all__ = ["CsvOptions"]

_NAMES = {"tab": "\t", "\\t": "\t"}
"""What a delimiter is called that is hard to type."""


@dataclass(frozen=True)
class CsvOptions:
    """What is said of a CSV; what is None is told from its first records.

    `header` says whether the first record has the names of the columns; without, they are called by their place: "0", "1"
    and so on. Cells equal to one of `na_values` are missing, as empty ones are.

    >>> CsvOptions(delimiter="tab").delimiter
    '\\t'
    """

    delimiter: str | None = None
    header: bool | None = None
    na_values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        given = self.delimiter
        if given is None:
            return
        found = _NAMES.get(given, given)
        if len(found) != 1 or not found.isascii() or found in '"\r\n':
            raise ConfigError(
                f"a delimiter is one character, or tab, and neither a quote nor a line's end; not {given!r}"
            )
        object.__setattr__(self, "delimiter", found)
