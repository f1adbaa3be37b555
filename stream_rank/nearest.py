"""What somebody may have meant."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["unknown"]


def unknown(what: str, given: str, known: Iterable[str]) -> str:
    """A sentence about a name that is not known, with its nearest neighbour.

    >>> unknown("learner", "oap-bmp", ["prank", "oap-bpm"])
    "there is no learner 'oap-bmp'; did you mean 'oap-bpm'?"
    """
    names = list(known)
    lower = {name.lower(): name for name in names}
    near = get_close_matches(given.lower(), lower, 1, cutoff=0.5)
    hint = f"did you mean {lower[near[0]]!r}?" if near else f"there are {', '.join(names)}"
    return f"there is no {what} {given!r}; {hint}"
