"""What commands take: numbers and names, checked when they are typed."""

import argparse
from pathlib import Path

__all__ = ["add_pace", "amount", "picture", "share", "whole"]


def whole(text: str) -> int:
    """A whole number of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"a whole number of at least 1 is needed, not {text!r}")
    return number


def share(text: str) -> float:
    """A number from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1.0:
        raise argparse.ArgumentTypeError(f"a number from 0 to 1 is needed, not {text!r}")
    return number


def amount(text: str) -> float:
    """A number of at least 0."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1e9:
        raise argparse.ArgumentTypeError(f"a number from 0 to 1e9 is needed, not {text!r}")
    return number


def picture(text: str) -> Path:
    """The name of a picture."""
    path = Path(text)
    if path.suffix not in (".svg", ".png", ".pdf"):
        raise argparse.ArgumentTypeError(
            f"a name ending in .svg, .png or .pdf is needed, not {text!r}"
        )
    return path


def add_pace(parser: argparse.ArgumentParser) -> None:
    """What commands take that have a producer of events."""
    parser.add_argument("--rate", type=whole, default=2000, help="events a second (%(default)s)")
    parser.add_argument(
        "--drift-seconds", type=whole, default=180, help="between two drifts (%(default)s)"
    )
