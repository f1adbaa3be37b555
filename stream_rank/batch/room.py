"""How much a method may take of memory: what grows with the square of the number of events is refused in words, not by the system."""

__all__ = ["LARGEST", "check_room"]

LARGEST = 400_000_000
"""Numbers in a table: 3.2 GB, or 20,000 events by 20,000."""


def check_room(numbers: int, what: str, instead: str) -> None:
    """Raise a `ValueError` if a table would have more numbers than there is room for.

    >>> check_room(50_000**2, "the kernel of 50,000 events", "give a basis")
    Traceback (most recent call last):
    ValueError: the kernel of 50,000 events has 2,500,000,000 numbers, of at most 400,000,000; give a basis
    """
    if numbers > LARGEST:
        raise ValueError(f"{what} has {numbers:,} numbers, of at most {LARGEST:,}; {instead}")
