"""The mapping of table columns to features, label, id, timestamp and group."""

from collections.abc import Sequence
from dataclasses import dataclass

from stream_rank.errors import InputError

__all__ = ["Mapping"]

_ROLES = ("y", "id", "ts", "group")


@dataclass(frozen=True)
class Mapping:
    """The column of each role. By default, the columns `y`, `id`, `ts` and `group` have the role of that name, and
    all others are features."""

    x: tuple[str, ...] | None = None
    y: str | None = None
    id: str | None = None
    ts: str | None = None
    group: str | None = None

    def of(self, names: Sequence[str], source: str) -> tuple[list[str], dict[str, str]]:
        """The feature columns, and the column of every role that the table has."""
        if len(set(names)) < len(names):
            twice = next(name for name in names if list(names).count(name) > 1)
            raise InputError(f"{source} has the column {twice!r} twice")
        roles: dict[str, str] = {}
        for role in _ROLES:
            given = getattr(self, role)
            if given is not None or role in names:
                roles[role] = given or role
        features = (
            list(self.x) if self.x is not None else [n for n in names if n not in roles.values()]
        )
        absent = [name for name in [*features, *roles.values()] if name not in names]
        if absent:
            raise InputError(
                f"{source} has no column {absent[0]!r}; it has {', '.join(map(repr, names))}"
            )
        if not features:
            raise InputError(f"{source} has no column of features")
        return features, roles
