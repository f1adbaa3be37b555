"""The one filter between what came from elsewhere and a terminal or a log line."""

import re

__all__ = ["printable", "shortened"]

_LONG = re.compile(r"(\S{200})\S{200,}(\S{100})")


def printable(text: str) -> str:
    r"""A text in one line, whose characters all show: those that move a cursor, ring, colour or turn a line around are written out.

    >>> print(printable("\x1b[2Jgone\nfake line \u202e tab\t and ordinary wörds"))
    \x1b[2Jgone\nfake line \u202e tab\t and ordinary wörds
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def shortened(text: str) -> str:
    """A sentence without the middle of words that nobody reads to their end: a setting, a path or a name of thousands of characters.

    >>> shortened("no " + "x" * 5_000 + " here") == "no " + "x" * 200 + "..." + "x" * 100 + " here"
    True
    """
    return _LONG.sub(r"\1...\2", text)
