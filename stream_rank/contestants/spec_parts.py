"""How specifications of learners are cut into parts."""

import re
from collections.abc import Iterable, Iterator

from stream_rank.errors import ConfigError
from stream_rank.features.names import STAGE_NAMES
from stream_rank.learners.names import COMMITTEE, LEARNER_NAMES

__all__ = ["members_of", "separate", "steps_of"]

_HEDGE = re.compile(r"hedge\s*(\((.*)\))?", re.DOTALL)
_FIRST = {*STAGE_NAMES, *LEARNER_NAMES, "raw", "hedge"}
_WORD = re.compile(r"\s*([\w.-]*)")


def separate(text: str, at: str = ",") -> Iterator[str]:
    """Split at commas, or what else is given, that are not inside brackets."""
    depth, begin = 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == at and depth == 0:
            yield text[begin:place]
            begin = place + 1
    if text[begin:].strip():
        yield text[begin:]


def steps_of(spec: str) -> list[str]:
    """The stages and the learner of a specification.

    >>> steps_of("scale | hedge(waves | prank, prank)")
    ['scale', 'hedge(waves | prank, prank)']
    """
    return [step.strip() for step in separate(spec, "|")] or [""]


def members_of(spec: str) -> list[str] | None:
    """The specifications of a committee's members, each behind the stages before the committee; None if it is none.

    A comma parts members where a name of a stage or a learner follows it, and parameters elsewhere.

    >>> members_of("scale | hedge(waves:seed=1,width=2 | prank, prank:n_ranks=3)")
    ['scale | waves:seed=1,width=2 | prank', 'scale | prank:n_ranks=3']
    """
    *stages, last = steps_of(spec)
    found = _HEDGE.fullmatch(last)
    if found is None:
        return None
    given = list(_grouped(separate(found[2]))) if found[1] else list(COMMITTEE)
    members = [" | ".join([*stages, *steps_of(each)]) for each in given]
    if len(members) < 2 or len(set(members)) < len(members):
        raise ConfigError(f"{last!r}: a committee has two members or more, none of them twice")
    if any("hedge" in steps_of(each)[-1].partition("(")[0] for each in members):
        raise ConfigError(f"{last!r}: no member of a committee can be a committee")
    return members


def _grouped(parts: Iterable[str]) -> Iterator[str]:
    """Parts at commas, those put together again that are parameters of the one before."""
    whole = ""
    for part in parts:
        word = _WORD.match(part)
        rest = part[word.end() :].lstrip() if word else ""
        known = word is not None and (word[1] in _FIRST or word[1].startswith("river."))
        begins = known and rest[:1] in ("", ":", "|", "(")
        if whole and begins:
            yield whole
            whole = part
        else:
            whole = f"{whole},{part}" if whole else part
    if whole:
        yield whole
