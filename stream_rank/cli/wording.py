"""Messages with flags in place of the names of settings."""

import re
from collections.abc import Mapping

__all__ = ["with_flags"]

_SETTING = re.compile(r"`([a-z_]+)`")


def with_flags(text: str, names: Mapping[str, str]) -> str:
    """Replace settings in backticks by their flags; messages name settings, since the package may be embedded.

    >>> with_flags("more than `max_features` of `x`: see `max_features`", {"max_features": "--max-features"})
    'more than --max-features of `x`: see --max-features'
    """
    return _SETTING.sub(lambda found: names.get(found[1], found[0]), text)
