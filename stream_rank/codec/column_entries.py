"""The features of columns as entries: the names and the numbers of each record together."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.ingest.chunk import Categories, Columns

__all__ = ["ColumnEntries", "Entries"]

Array = npt.NDArray[Any]


class Entries(NamedTuple):
    """The features of records, without those that are missing."""

    names: list[str]
    """Of the features, each once."""
    entries: Array
    others: Array
    """The first entry and the end of each record, and those of the other item."""
    features: Array
    """The feature of each entry, as a place in `names`."""
    values: Array
    twice: dict[int, str]
    """Records that have a feature twice, and which."""


class ColumnEntries:
    """Makes entries of columns. Its memory is used again for the next chunk: allocating costs more than writing.

    Cost: O(entries) in compiled code, and O(distinct names).
    """

    def __init__(self) -> None:
        self._matrix, self._repeated = np.empty((0, 0)), np.empty(0, np.int64)
        self._places = np.empty((0, 2), np.int64)
        self._features: list[int] = []

    def of(self, chunk: Columns) -> Entries:
        """The entries of a chunk."""
        place_of: dict[str, int] = {}
        numbers = [
            (name, column, chunk.missing.get(name)) for name, column in chunk.features.items()
        ]
        for name, column in (chunk.others or {}).items():
            numbers.append((name, column, chunk.others_missing.get(name)))
        places = [place_of.setdefault(name, len(place_of)) for name, _, _ in numbers]
        columns = [(column, missing) for _, column, missing in numbers]
        first = len(chunk.features)
        entries, others, slots, values = self._of_numbers(len(chunk), columns, places, first)
        if not (chunk.categories or chunk.others_categories):
            return Entries(list(place_of), entries, others, slots, values, {})
        before = len(place_of)
        coded = [
            [
                (each, np.array([place_of.setdefault(name, len(place_of)) for name in each.names], np.int64))
                for each in side
            ]
            for side in (chunk.categories, chunk.others_categories)
        ]  # fmt: skip
        n_names = before + sum(len(each.texts) for each in chunk.categories)
        merged = _merged((entries, others, slots, values), coded)
        twice = {}
        if chunk.others is not None or len(place_of) < n_names:
            roles = ("x", "x") if chunk.others is None else ("preferred", "other")
            twice = _twice(list(place_of), merged, roles)
        return Entries(list(place_of), *merged, twice)

    def _of_numbers(
        self,
        n_records: int,
        columns: list[tuple[Array, Array | None]],
        features: list[int],
        first: int,
    ) -> tuple[Array, Array, Array, Array]:
        """The entries of columns of numbers of these features, of which those from `first` on are the other item's."""
        width = len(columns)
        if self._matrix.shape != (n_records, width) or self._features != features:
            self._matrix, self._features = np.empty((n_records, width)), features
            self._repeated = np.tile(np.array(features, np.int64), n_records)
            ends = np.arange(1, n_records + 1) * width
            self._places = np.stack([ends - width, ends], axis=1)
        for place, (column, _) in enumerate(columns):
            np.add(column, 0.0, out=self._matrix[:, place])  # -0.0 becomes 0.0
        values = self._matrix.reshape(-1)
        if all(missing is None for _, missing in columns):
            begins, ends = self._places.T
            middles = begins + first
            slots = self._repeated
        else:
            here = np.ones((n_records, width), np.bool_)
            for place, (_, missing) in enumerate(columns):
                if missing is not None:
                    here[:, place] = ~missing
            lengths = here.sum(axis=1)
            ends = np.cumsum(lengths)
            begins = ends - lengths
            middles = begins + here[:, :first].sum(axis=1)
            flat = here.reshape(-1)
            slots, values = self._repeated[flat], values[flat]
        return np.stack([begins, middles], axis=1), np.stack([middles, ends], axis=1), slots, values


def _merged(
    numbers: tuple[Array, Array, Array, Array], coded: list[list[tuple[Categories, Array]]]
) -> tuple[Array, Array, Array, Array]:
    """The entries of numbers and of names together: of each item first the numbers, then the names by column."""
    sides, (slots, values) = numbers[:2], numbers[2:]
    n_records = len(sides[0])
    counts = []
    for bounds, side in zip(sides, coded, strict=True):
        count = bounds[:, 1] - bounds[:, 0]
        for each, _ in side:
            count = count + np.bincount(each.rows, minlength=n_records)
        counts.append(count)
    ends = np.cumsum(counts[0] + counts[1])
    middles, begins = ends - counts[1], ends - counts[1] - counts[0]
    total = int(ends[-1]) if n_records else 0
    all_slots, all_values = np.empty(total, np.int64), np.ones(total)
    for bounds, side, begin in zip(sides, coded, (begins, middles), strict=True):
        lengths = bounds[:, 1] - bounds[:, 0]
        ranks = _ranks(lengths)
        there, here = np.repeat(begin, lengths) + ranks, np.repeat(bounds[:, 0], lengths) + ranks
        all_slots[there], all_values[there] = slots[here], values[here]
        at = begin + lengths
        for each, names in side:
            of_row = np.bincount(each.rows, minlength=n_records)
            all_slots[np.repeat(at, of_row) + _ranks(of_row)] = names[each.codes]
            at = at + of_row
    return (
        np.stack([begins, middles], axis=1),
        np.stack([middles, ends], axis=1),
        *(all_slots, all_values),
    )


def _ranks(counts: Array) -> Array:
    """0 to n - 1 for each count n.

    >>> _ranks(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    ends = np.cumsum(counts)
    return np.asarray(np.arange(counts.sum()) - np.repeat(ends - counts, counts), np.int64)


def _twice(
    names: list[str], merged: tuple[Array, Array, Array, Array], roles: tuple[str, str]
) -> dict[int, str]:
    """The records that have a name twice in one item, as of the column `a=b` and of the text `b` in the column `a`."""
    entries, others, slots, _ = merged
    found: dict[int, str] = {}
    items = np.concatenate([entries, others], axis=1).reshape(-1, 2)
    item = np.repeat(np.arange(len(items)), items[:, 1] - items[:, 0])
    keys = np.sort(item * max(1, len(names)) + slots)
    for key in np.unique(keys[1:][keys[1:] == keys[:-1]]).tolist():
        item, name = divmod(key, len(names))
        reason = f"{roles[item % 2]}: feature {names[name]!r} stands in the event twice"
        found.setdefault(item // 2, reason)
    return found
