"""The mapping of table columns to features, label, id, timestamp and group, or to the items of comparisons."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from stream_rank.errors import InputError
from stream_rank.ingest.label_scale import LabelScale

__all__ = ["Mapping", "TableLayout"]

_ROLES = ("y", "id", "ts", "group")
_OF_PREFERENCES = ("magnitude", "tie", "id", "ts", "group")
_OF_ORDERS = ("id", "ts", "group")
_NOT_OF_ORDERS = ("x", "y", "preferred", "other", "magnitude", "tie")
_PREFERRED, _OTHER, _CONTEXT, _CHOSEN = "preferred.*", "other.*", "context.*", "chosen.*"
"""The columns of items, and of what they share, by default: what `pandas.json_normalize` makes of events."""


class TableLayout(NamedTuple):
    """What a table has in which columns."""

    features: dict[str, str]
    """The column of each feature; of preferences, of those of the preferred item; of choices, of those of the chosen item
    where it is not in one column."""
    others: dict[str, str] | None
    """Of preferences, the column of each feature of the other item; None of a table of ratings."""
    roles: dict[str, str]
    """The column of every role that the table has."""
    orders: dict[str, str] | None = None
    """Of rankings and choices, the column of each of `ranking`, `chosen` and `among`, whose cells are items or lists of items."""
    context: dict[str, str] | None = None
    """Of comparisons, the column of each feature that all items have beside their own."""

    def categorical(self, categories: Collection[str]) -> set[str]:
        """The columns of some features."""
        parts = self.features, self.others or {}, self.context or {}
        return {column for part in parts for name, column in part.items() if name in categories}

    @property
    def of_numbers(self) -> list[str]:
        """The columns of numbers."""
        labels = [self.roles[role] for role in ("y", "magnitude") if role in self.roles]
        others, context = self.others or {}, self.context or {}
        return [*self.features.values(), *others.values(), *context.values(), *labels]

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        orders = self.orders or {}
        return list(dict.fromkeys([*self.of_numbers, *self.roles.values(), *orders.values()]))


@dataclass(frozen=True)
class Mapping:
    """The column of each role. By default, the columns `y`, `id`, `ts` and `group` have the role of that name, and
    all others are features.

    A table of preferences has two items in a row: `preferred` and `other` are patterns such as `home_*` and `away_*`, where
    what the star stands for is the feature's name. `magnitude` says by how much, `tie` whether neither is preferred, and
    `context` are features that both items have.

    `ranking` is a column of lists of items, the best first; `among` one of what could have been chosen, and `chosen` a column of
    items, or a pattern too.
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
    ranking: str | None = None
    chosen: str | None = None
    among: str | None = None
    ts_unit: Literal["ms", "s", "us", "ns"] = "ms"
    """What times count that are numbers."""
    categories: tuple[str, ...] = ()
    """Features whose numbers are names, as of users and items: 17 is the feature `user=17`, which is 1."""
    labels: LabelScale | None = None
    """The labels, where they are not the ranks 1 to N."""

    @property
    def named(self) -> set[str]:
        """The columns that have a role by their name."""
        given = (getattr(self, role) or role for role in ("y", "id", "ts", "group"))
        more = self.magnitude, self.tie, self.ranking, self.chosen, self.among
        return {*given, *filter(None, more), *(self.x or ()), *self.context}

    def of(self, names: Sequence[str], source: str) -> TableLayout:
        """Which columns of a table have which role."""
        if len(set(names)) < len(names):
            twice = next(name for name in names if list(names).count(name) > 1)
            raise InputError(f"{source} has the column {twice!r} twice")
        if any(each is not None for each in (self.ranking, self.chosen, self.among)):
            return self._orders(names, source)
        if self._has_preferences(names):
            return self._preferences(names, source)
        for role in ("magnitude", "tie", "context"):
            if getattr(self, role):
                raise InputError(
                    f"{source}: `fields` {role} is of preferences, and there are no columns of "
                    "`preferred` and `other` items"
                )
        roles = self._roles(names, _ROLES)
        features = self._features(names, roles)
        layout = TableLayout({name: name for name in features}, None, roles)
        self._check(layout, names, source)
        return layout

    def _features(self, names: Sequence[str], roles: dict[str, str]) -> list[str]:
        """The columns of a rating's features; what a pattern of `x` fits has no other role."""
        free = [name for name in names if name not in roles.values()]
        found: list[str] = []
        for given in ("*",) if self.x is None else self.x:
            found += [n for n in free if _name_in(given, n)] if "*" in given else [given]
        return list(dict.fromkeys(found))

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
                f"{source}: `fields` has x or y, which are of ratings, beside preferred or other"
            )
        roles, context = self._roles(names, _OF_PREFERENCES), self._context(names)
        given = names, source, {*roles.values(), *context.values()}, context
        preferred = _item("preferred", self.preferred or _PREFERRED, *given)
        other = _item("other", self.other or _OTHER, *given)
        layout = TableLayout(preferred, other, roles, None, context)
        self._check(layout, names, source)
        return layout

    def _orders(self, names: Sequence[str], source: str) -> TableLayout:
        """The columns of a table of rankings, choices, or both."""
        for role in _NOT_OF_ORDERS:
            if getattr(self, role) is not None:
                raise InputError(
                    f"{source}: `fields` has {role}, which is of other events, beside ranking, chosen or among"
                )
        roles, context = self._roles(names, _OF_ORDERS), self._context(names)
        orders = {} if self.ranking is None else {"ranking": self.ranking}
        features: dict[str, str] = {}
        if self.chosen is not None or self.among is not None:
            chosen = self.chosen or ("chosen" if "chosen" in names else _CHOSEN)
            among = self.among or "among"
            if "*" in chosen:
                taken = {*roles.values(), *context.values(), *orders.values(), among}
                features = _item("chosen", chosen, names, source, taken, context)
            else:
                orders["chosen"] = chosen
            orders["among"] = among
        layout = TableLayout(features, None, roles, orders, context)
        self._check(layout, names, source)
        return layout

    def _context(self, names: Sequence[str]) -> dict[str, str]:
        """The columns of what all items of an event share."""
        if self.context:
            return {name: name for name in self.context}
        return {_name_in(_CONTEXT, name): name for name in names if _name_in(_CONTEXT, name)}

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
        if not layout.features and layout.orders is None:
            raise InputError(f"{source} has no column of features")


def _item(
    role: str,
    pattern: str,
    names: Sequence[str],
    source: str,
    taken: Collection[str],
    context: Collection[str],
) -> dict[str, str]:
    """The columns of an item by a pattern, without those that have a role already."""
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
    twice = [name for name in context if name in found]
    if twice:
        raise InputError(f"{source}: the context {twice[0]!r} is an item's feature too")
    return found


def _name_in(pattern: str, column: str) -> str:
    """The feature that a column is of by a pattern with a star; empty if it is of none.

    >>> _name_in("home_*", "home_price")
    'price'
    """
    before, _, after = pattern.partition("*")
    fits = column.startswith(before) and column.endswith(after)
    return column[len(before) : len(column) - len(after)] if fits else ""
