"""The stages once more, slow and obvious: a dict of plain Python for everything that is known."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import cos, prod, sqrt
from typing import Any

Event = dict[Any, float]


class Scale:
    def __init__(self, width: float = 5.0) -> None:
        self.width = width
        self.known: dict[
            Any, list[float]
        ] = {}  # count, mean, sum of squares, ever more than 0 and 1

    def learn(self, x: Event, y: float) -> None:
        for name, value in x.items():
            count, mean, squares, more = self.known.get(name, [0.0, 0.0, 0.0, False])
            centre = mean + (value - mean) / (count + 1)
            squares += (value - mean) * (value - centre)
            self.known[name] = [count + 1, centre, squares, bool(more) or value not in (0.0, 1.0)]

    def transform(self, x: Event) -> Event:
        return {name: self._one(name, value) for name, value in x.items()}

    def _one(self, name: Any, value: float) -> float:
        count, mean, squares, more = self.known.get(name, [0.0, 0.0, 0.0, False])
        if value in (0.0, 1.0) and not more:
            return value
        if squares == 0:
            return 0.0
        return max(-self.width, min(self.width, (value - mean) * sqrt(count / squares)))


class Normalize:
    def __init__(self) -> None:
        self.count, self.squares = 0, 0.0

    def learn(self, x: Event, y: float) -> None:
        self.count += 1
        self.squares += sum(value * value for value in x.values())

    def transform(self, x: Event) -> Event:
        own = sum(value * value for value in x.values())
        length = sqrt(self.squares / self.count) if self.squares else sqrt(own)
        return {name: value / length if length else 0.0 for name, value in x.items()}


class Cross:
    def __init__(self, pair: str) -> None:
        self.fields = pair.split("*")
        self.known: set[str] = set()

    def learn(self, x: Event, y: float) -> None:
        self.known |= self._products(x).keys()

    def transform(self, x: Event) -> Event:
        return x | {name: value for name, value in self._products(x).items() if name in self.known}

    def _products(self, x: Event) -> Event:
        first, second = ([name for name in x if _is_of(name, field)] for field in self.fields)
        return {f"{one}*{two}": x[one] * x[two] for one in first for two in second}


def _is_of(name: str, field: str) -> bool:
    return name == field or name.startswith(f"{field}=")


class TargetMean:
    of_labels = True

    def __init__(self, by: list[str], damping: float) -> None:
        self.by, self.damping = by, damping
        self.labels: dict[str, list[float]] = {}
        self.all: list[float] = []

    def learn(self, x: Event, y: float) -> None:
        self.all.append(y)
        for name in x:
            self.labels.setdefault(name, []).append(y)

    def transform(self, x: Event) -> Event:
        overall = sum(self.all) / len(self.all) if self.all else 0.0
        found = dict(x)
        for field in self.by:
            means = []
            for name in x:
                if name.startswith(f"{field}="):
                    labels = self.labels.get(name, [])
                    means.append(
                        (sum(labels) + self.damping * overall) / (len(labels) + self.damping)
                    )
            found[f"mean({field})"] = sum(means) / len(means) if means else overall
        return found


class Neighbours:
    of_labels = True

    def __init__(self, user: str, item: str, n: int, keeps: bool) -> None:
        self.user, self.item, self.n, self.keeps = f"{user}=", f"{item}=", n, keeps
        self.given: dict[str, dict[str, float]] = {}
        self.labels: list[float] = []

    def _names(self, x: Event) -> tuple[str | None, str | None]:
        return tuple(
            next((n for n in x if n.startswith(start)), None) for start in (self.user, self.item)
        )  # type: ignore[return-value]

    def learn(self, x: Event, y: float) -> None:
        self.labels.append(y)
        user, item = self._names(x)
        if user and item and (user in self.given or len(self.given) < self.n):
            self.given.setdefault(user, {})[item] = y

    def transform(self, x: Event) -> Event:
        user, item = self._names(x)
        theirs = {n: g[item] for n, g in self.given.items() if item in g and n != user}
        middle = (min(self.labels) + max(self.labels)) / 2 if self.labels else 0.0
        length = sum((stars - middle) ** 2 for stars in theirs.values()) ** 0.5
        found = {f"by({n})": (stars - middle) / (length or 1.0) for n, stars in theirs.items()}
        return {**(x if self.keeps else {}), **found}


class Waves:
    """What it draws for a name is read off the stage."""

    def __init__(self, stage: Any, count: int) -> None:
        self.stage, self.count = stage, count
        self.lengths = Normalize()

    def learn(self, x: Event, y: float) -> None:
        self.lengths.learn(x, y)

    def transform(self, x: Event) -> Event:
        found = self.lengths.transform(x)
        angles = [0.0] * self.count
        for name, value in found.items():
            for i, share in enumerate(self._direction(name)[: self.count]):
                angles[i] += share * value
        for i, angle in enumerate(angles):
            found[f"wave_{i}"] = sqrt(2 / self.count) * cos(angle + self.stage._phases[i])
        return found

    def _direction(self, name: Any) -> list[float]:
        found: list[float] = self.stage._drawn([name])[0].tolist()
        return found


class FeatureHasher:
    """What it draws for a name is read off the stage."""

    def __init__(self, stage: Any) -> None:
        self.stage = stage

    def learn(self, x: Event, y: float) -> None:
        pass

    def transform(self, x: Event) -> Event:
        found: Event = {}
        for name in sorted(x, key=self.stage.hash_of):
            drawn = self.stage.hash_of(name)
            bucket = f"hash_{drawn >> 64 - self.stage.bits}"
            found[bucket] = found.get(bucket, 0.0) + (x[name] if drawn % 2 else -x[name])
        return found


class Polynomial:
    """`(x.z + offset) ** degree` written out: every choice of `degree` factors, one of which may be the offset's root."""

    def __init__(self, degree: int, offset: float) -> None:
        self.degree, self.offset = degree, offset

    def learn(self, x: Event, y: float) -> None:
        pass

    def transform(self, x: Event) -> Event:
        ways: dict[tuple[str, ...], int] = {}
        for factors in product([*x, None], repeat=self.degree):
            named = tuple(sorted(name for name in factors if name is not None))
            ways[named] = ways.get(named, 0) + 1
        found: Event = {}
        for names, count in ways.items():
            rest = self.offset ** (self.degree - len(names))
            if rest:
                shown = "*".join(names) or "*"
                found[shown] = sqrt(count * rest) * prod(x[name] for name in names)
        return found


def known_after(
    stages: list[Any], events: Sequence[tuple[Mapping[Any, Any], float]]
) -> list[tuple[Event, Event]]:
    """Of every event what the stages made of it when it was predicted, and when it was learned."""
    found = []
    for x, y in events:
        asked = dict(x)
        for stage in stages:
            asked = stage.transform(asked)
        learned = dict(x)
        for stage in stages:
            if not getattr(stage, "of_labels", False):
                stage.learn(learned, y)
            after = stage.transform(learned)
            if getattr(stage, "of_labels", False):
                stage.learn(learned, y)
            learned = after
        found.append((asked, learned))
    return found
