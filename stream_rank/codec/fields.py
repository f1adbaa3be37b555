"""`Fields`: which fields of other people's events have which role."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from stream_rank.errors import ConfigError, EventError, FeatureError

__all__ = ["Fields"]

_Place = tuple[tuple[str, ...], dict[str, str]]
_MOST_KEPT = 50_000
"""Names of fields whose place is kept: most events have the same."""
_OF_RATINGS = ("y", "id", "ts", "group")
_OF_PREFERENCES = ("magnitude", "tie", "id", "ts", "group")
_MOST_NESTED = 64
"""As many objects may stand one in the other, as in `learners.base.values`."""


@dataclass(frozen=True)
class Fields:
    """The field of each role, by its dotted name; `x` and `context` may be patterns with a star, `preferred` and `other` are.

    By default the fields `y`, `id`, `ts` and `group` have the role of that name, and all others are features. If anything
    of preferences is given, every event is one: by default of `preferred.*`, `other.*` and `context.*`, with the fields
    `magnitude` and `tie`.

    >>> fields = Fields(y="stars", x=("price", "specs.*"), group="user.id")
    >>> fields.own_form({"stars": 4, "price": 9, "specs": {"hp": 70}, "user": {"id": 17}, "page": 3})
    {'y': 4, 'group': 17, 'x': {'price': 9, 'specs.hp': 70}}
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

    def __post_init__(self) -> None:
        if self.of_preferences and (self.x is not None or self.y is not None):
            raise ConfigError(
                "`fields` has x or y, which are of ratings, beside roles of preferences; give one or the other"
            )
        for role in dict.fromkeys((*_OF_RATINGS, *_OF_PREFERENCES)):
            if "*" in (getattr(self, role) or ""):
                raise ConfigError(f"`fields` {role} is one field, and a pattern was given")
        for role in ("preferred", "other"):
            if (getattr(self, role) or "*").count("*") != 1:
                raise ConfigError(
                    f"`fields` {role} is a pattern with one star, as in {role}=home_*"
                )
        for name in (*(self.x or ()), *self.context):
            if name.count("*") > 1:
                raise ConfigError(f"`fields` has {name!r}; a pattern has one star")

    @property
    def given(self) -> bool:
        """Whether anything is."""
        return self != Fields()

    @property
    def of_preferences(self) -> bool:
        """Whether every event is a preference."""
        return any((self.preferred, self.other, self.magnitude, self.tie, self.context))

    @cached_property
    def roles(self) -> dict[str, str]:
        """The field of every role that is one field."""
        known = _OF_PREFERENCES if self.of_preferences else _OF_RATINGS
        return {role: getattr(self, role) or role for role in known}

    @cached_property
    def items(self) -> dict[str, tuple[str, ...]]:
        """What the features of every item are called, or are like."""
        if not self.of_preferences:
            return {"x": ("*",) if self.x is None else self.x}
        return {
            "context": self.context or ("context.*",),
            "preferred": (self.preferred or "preferred.*",),
            "other": (self.other or "other.*",),
        }

    def place(self, path: str) -> _Place:
        """The roles of a field, and what it is called as a feature of which item.

        >>> Fields(preferred="winner.*", other="loser.*", ts="day").place("loser.elo")
        ((), {'other': 'elo'})
        """
        found = self._places.get(path)
        if found is None:
            found = self._find_place(path)
            if len(self._places) < _MOST_KEPT:
                self._places[path] = found
        return found

    @cached_property
    def _places(self) -> dict[str, _Place]:
        return {}

    def _find_place(self, path: str) -> _Place:
        roles = tuple(role for role, field in self.roles.items() if field == path)
        found: dict[str, str] = {}
        for item, names in self.items.items():
            if item != "context" and "context" in found:
                break
            for name in names:
                feature = _feature(name, path, whole=item == "x")
                if feature and not (roles and "*" in name):
                    found.setdefault(item, feature)
        return roles, found

    def below(self, path: str) -> bool:
        """Whether anything may be asked for that stands in an object at this path."""
        inside = path + "."
        named = (*self.roles.values(), *(n for names in self.items.values() for n in names))
        return self.more_below(path) or any(name.startswith(inside) for name in named)

    def more_below(self, path: str | None) -> bool:
        """Whether anything may be asked for in an object at this path (None: in the event) that is not named in full."""
        inside = "" if path is None else path + "."
        for name in (name for names in self.items.values() for name in names):
            before, star, _ = name.partition("*")
            if star and (before.startswith(inside) or inside.startswith(before)):
                return True
            if not star and inside.startswith(name + "."):
                return True
        return False

    def own_form(self, content: Any, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """An event in our own form; raises an `EventError` that names the field if it cannot be one.

        `more` are the id and the time of an event that has none. Cost: O(fields).
        """
        if not isinstance(content, dict):
            raise EventError(f"an event is a JSON object, not {content!r:.60}")
        own: dict[str, Any] = {}
        items: dict[str, dict[str, Any]] = {item: {} for item in self.items}
        for path, value in _written_out(content, self):
            roles, features = self.place(path)
            for role in roles:
                if role in own:
                    raise EventError(f"{path} ({role}): stands in the event twice")
                own[role] = value
            if isinstance(value, dict):
                continue
            for item, name in features.items():
                if name in items[item]:
                    raise FeatureError(f"{path}: feature {name!r} stands in the event twice")
                items[item][name] = value
        own |= {role: value for role, value in (more or {}).items() if own.get(role) is None}
        if not self.of_preferences:
            if items["x"] or own.get("y") is None or own.get("id") is None:
                return own | items
            own.pop("group", None)  # a label, which belongs to an event of before
            return own
        if not items["context"]:
            del items["context"]
        return own | items

    def worded(self, reason: str) -> str:
        """A reason in the words of our own form, with the field that it is about."""
        role, colon, rest = reason.partition(":")
        field = self.roles.get(role, role)
        if role in self.items:
            field = ",".join(self.items[role])
        return f"{field} ({role}){colon}{rest}" if colon and field != role else reason


def _written_out(content: dict[str, Any], fields: Fields) -> Iterator[tuple[str, Any]]:
    """All fields by their dotted names; objects as well, if they have a role as such."""
    open_ = [(iter(content.items()), "")]
    while open_:
        inner, prefix = open_[-1]
        for key, value in inner:
            path = prefix + key
            if isinstance(value, dict) and not fields.place(path)[0]:
                if not fields.below(path):
                    continue
                if len(open_) > _MOST_NESTED:
                    raise EventError(f"{path[:40]}: stands in more than {_MOST_NESTED} objects")
                if len(path) > 512:
                    raise EventError(
                        f"{path[:40]}...: the name of a field has more than 512 characters"
                    )
                open_.append((iter(value.items()), path + "."))
                break
            yield path, value
        else:
            open_.pop()


def _feature(name: str, path: str, whole: bool) -> str:
    """What a field is called as a feature by a name or a pattern; empty if it is none by that.

    >>> _feature("home_*", "home_elo", whole=False), _feature("specs", "specs.hp", whole=True)
    ('elo', 'specs.hp')
    """
    before, star, after = name.partition("*")
    if not star:
        return path if path == name or path.startswith(name + ".") else ""
    fits = len(path) > len(before) + len(after)
    if not (fits and path.startswith(before) and path.endswith(after)):
        return ""
    return path if whole else path[len(before) : len(path) - len(after)]
