"""The one filter between what came from elsewhere and a terminal or a log line."""

__all__ = ["printable"]


def printable(text: str) -> str:
    r"""A text in one line, whose characters all show: those that move a cursor, ring, colour or turn a line around are written out.

    >>> print(printable("\x1b[2Jgone\nfake line \u202e tab\t and ordinary wörds"))
    \x1b[2Jgone\nfake line \u202e tab\t and ordinary wörds
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
