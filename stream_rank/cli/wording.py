"""Sentences about settings, in the words of whoever typed flags."""

import argparse
import re
from collections.abc import Mapping

__all__ = ["flags_of", "with_flags"]

_SETTING = re.compile(r"`([a-z_]+)`")


def with_flags(text: str, names: Mapping[str, str]) -> str:
    """The text with flags for settings: messages name settings in backticks, since the package may be embedded.

    >>> with_flags("more than `max_features` of `x`: see `max_features`", {"max_features": "--max-features"})
    'more than --max-features of `x`: see --max-features'
    """
    return _SETTING.sub(lambda found: names.get(found[1], found[0]), text)


def flags_of(parser: argparse.ArgumentParser, given: argparse.Namespace) -> dict[str, str]:
    """The flag of every setting of the command that was given; of one without a flag, what help calls it."""
    names: dict[str, str] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            chosen = action.choices.get(str(getattr(given, action.dest, None)))
            names |= flags_of(chosen, given) if chosen else {}
        else:
            names[action.dest] = [*action.option_strings, str(action.metavar or action.dest)][0]
    return names
