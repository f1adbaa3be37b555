"""The mapping of table columns to features, label, id, timestamp and group, or to the two items of preferences."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stream_rank.errors import InputError

__all__ = ["Mapping", "TableLayout"]

_ROLES = ("y", "id", "ts", "group")
_OF_PREFERENCES = ("magnitude", "tie", "id", "ts", "group")
_PREFERRED, _OTHER, _CONTEXT = "preferred.*", "other.*", "context.*"
"""The columns of two items, and of what they share, by default: what `pandas.json_normalize` makes of events."""


class TableLayout(NamedTuple):
    """What a table has in which columns."""

    features: dict[str, str]
    """The column of each feature; of preferences, of those of the preferred item."""
    others: dict[str, str] | None
    """Of preferences, the column of each feature of the other item; None of a table of ratings."""
    roles: dict[str, str]
    """The column of every role that the table has."""

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        others = self.others or {}
        return list(
            dict.fromkeys([*self.features.values(), *others.values(), *self.roles.values()])
        )


@dataclass(frozen=True)
class Mapping:
    """The column of each role. By default, the columns `y`, `id`, `ts` and `group` have the role of that name, and
    all others are features.

    A table of preferences has two items in a row: `preferred` and `other` are patterns such as `home_*` and `away_*`, where
    what the star stands for is the feature's name. `magnitude` says by how much, `tie` whether neither is preferred, and
    `context` are features that both items have.
    """

    x: tuple[str, ...] | None = None
    y: str | None = None
    id: str | None = None
    ts: str | None = None
    group: str | None = None
    preferred: str | None = None
    other: str | None = None
    magnitude: str | None = None
    tie: str | None = None
    context: tuple[str, ...] = ()

    def of(self, names: Sequence[str], source: str) -> TableLayout:
        """Which columns of a table have which role."""
        if len(set(names)) < len(names):
            twice = next(name for name in names if list(names).count(name) > 1)
            raise InputError(f"{source} has the column {twice!r} twice")
        if self._has_preferences(names):
            return self._preferences(names, source)
        for role in ("magnitude", "tie", "context"):
            if getattr(self, role):
                raise InputError(
                    f"{source}: `columns` {role} is of preferences, and there are no columns of "
                    "`preferred` and `other` items"
                )
        roles = self._roles(names, _ROLES)
        features = self.x if self.x is not None else [n for n in names if n not in roles.values()]
        layout = TableLayout({name: name for name in features}, None, roles)
        self._check(layout, names, source)
        return layout

    def _has_preferences(self, names: Sequence[str]) -> bool:
        """Whether a row is two items."""
        if self.preferred is not None or self.other is not None:
            return True
        return (
            self.x is None
            and self.y is None
            and all(
                any(_name_in(pattern, name) for name in names) for pattern in (_PREFERRED, _OTHER)
            )
        )

    def _preferences(self, names: Sequence[str], source: str) -> TableLayout:
        """The columns of a table of preferences."""
        if self.x is not None or self.y is not None:
            raise InputError(
                f"{source}: `columns` has x or y, which are of ratings, beside preferred or other"
            )
        roles = self._roles(names, _OF_PREFERENCES)
        given = {name: name for name in self.context}
        if not given:
            given = {_name_in(_CONTEXT, name): name for name in names if _name_in(_CONTEXT, name)}
        taken = {*roles.values(), *given.values()}
        items = []
        for role, pattern in (("preferred", self.preferred), ("other", self.other)):
            pattern = pattern or (_PREFERRED if role == "preferred" else _OTHER)
            found = {
                _name_in(pattern, name): name
                for name in names
                if name not in taken and _name_in(pattern, name)
            }
            if pattern.count("*") != 1 or not found:
                raise InputError(
                    f"{source} has no column {pattern!r} of the {role} item; a pattern such as {role}=home_* is needed, "
                    f"and it has {', '.join(map(repr, names))}"
                )
            items.append(found)
        for item in items:
            twice = [name for name in given if name in item]
            if twice:
                raise InputError(f"{source}: the context {twice[0]!r} is an item's feature too")
            item.update(given)
        layout = TableLayout(items[0], items[1], roles)
        self._check(layout, names, source)
        return layout

    def _roles(self, names: Sequence[str], known: Sequence[str]) -> dict[str, str]:
        """The column of every role that is given, or that a column is called by."""
        roles: dict[str, str] = {}
        for role in known:
            given = getattr(self, role)
            if given is not None or role in names:
                roles[role] = given or role
        return roles

    def _check(self, layout: TableLayout, names: Sequence[str], source: str) -> None:
        absent = [name for name in layout.columns if name not in names]
        if absent:
            raise InputError(
                f"{source} has no column {absent[0]!r}; it has {', '.join(map(repr, names))}"
            )
        if not layout.features:
            raise InputError(f"{source} has no column of features")


def _name_in(pattern: str, column: str) -> str:
    """The feature that a column is of by a pattern with a star; empty if it is of none.

    >>> _name_in("home_*", "home_price")
    'price'
    """
    before, _, after = pattern.partition("*")
    fits = column.startswith(before) and column.endswith(after)
    return column[len(before) : len(column) - len(after)] if fits else ""
