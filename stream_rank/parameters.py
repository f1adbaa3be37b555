"""Checking what constructors are given."""

import operator
import secrets
from typing import Any

__all__ = ["check_number", "check_whole", "key_of"]


def check_whole(name: str, value: Any, least: int = 1) -> None:
    """Raise a `ValueError` unless the value is a whole number of at least `least`.

    >>> check_whole("budget", 2.5)
    Traceback (most recent call last):
    ValueError: budget must be a whole number of at least 1, not 2.5
    """
    try:
        good = not isinstance(value, bool) and operator.index(value) >= least
    except TypeError:
        good = False
    if not good:
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")


def check_number(name: str, value: Any, least: float, most: float) -> None:
    """Raise a `ValueError` unless the value is a number between `least` and `most`.

    >>> check_number("width", "wide", 0.0, 1.0)
    Traceback (most recent call last):
    ValueError: width must be a number between 0 and 1, not 'wide'
    """
    try:
        good = not isinstance(value, bool) and least <= value <= most
    except TypeError:
        good = False
    if not good:
        raise ValueError(f"{name} must be a number between {least:g} and {most:g}, not {value!r}")


def key_of(seed: Any) -> int:
    """64 bits from a seed, or by chance if it is None.

    >>> key_of(7)
    7
    """
    if seed is None:
        return secrets.randbits(64)
    try:
        return operator.index(seed) % 2**64
    except TypeError:
        raise ValueError(f"seed must be None or a whole number, not {seed!r}") from None
