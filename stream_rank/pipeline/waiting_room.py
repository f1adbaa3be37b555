"""A stage that joins labels with the features that came earlier under the same id."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.codec.batch import SKIPPED, UNMATCHED, Batch, Reject
from stream_rank.codec.event import Kind
from stream_rank.ingest.timestamps import NO_TIME
from stream_rank.learners.base.serialization import count_in, entries
from stream_rank.learners.base.state import State
from stream_rank.learners.tables.rows import Rows

__all__ = ["WaitingRoom"]

Array = npt.NDArray[Any]

_FIRST_ROOM = 1_024
_NO_TICKET = -1


class _Entries:
    """The features of many events in growing arrays. An event is found by its ticket; tickets are ascending numbers."""

    def __init__(self) -> None:
        self.base = 0
        """The first ticket that is kept."""
        self.count = 0
        self.first, self.last, self.met = (np.empty(_FIRST_ROOM, np.int64) for _ in range(3))
        self.groups = np.empty(_FIRST_ROOM, object)
        self.predictions = np.empty((_FIRST_ROOM, 0))
        """A row for each event, a column for each learner."""
        self.used = 0
        self.slots, self.values = np.empty(_FIRST_ROOM, np.int64), np.empty(_FIRST_ROOM)

    def append(self, rows: Rows, groups: Array | None) -> Array:
        """Append the features of events; return their tickets."""
        count, begin = len(rows), self.count
        lengths = rows.last - rows.first
        ends = self.used + np.cumsum(lengths)
        self.first, self.last, self.met = (
            _with_room(each, begin, count) for each in (self.first, self.last, self.met)
        )
        self.groups = _with_room(self.groups, begin, count)
        self.predictions = _with_room(self.predictions, begin, count)
        some = slice(begin, begin + count)
        self.first[some], self.last[some], self.met[some] = ends - lengths, ends, rows.met
        self.groups[some] = None if groups is None else groups
        total = int(lengths.sum())
        self.slots = _with_room(self.slots, self.used, total)
        self.values = _with_room(self.values, self.used, total)
        where = _places(rows.first, lengths)
        self.slots[self.used : self.used + total] = rows.slots[where]
        self.values[self.used : self.used + total] = rows.values[where]
        self.used += total
        self.count += count
        return np.arange(begin, begin + count) + self.base

    def taken(self, tickets: Array) -> tuple[Array, Array, Array, Array, Array]:
        """The lengths, slots, values, names met and groups of events, concatenated in the order of the tickets."""
        at = tickets - self.base
        first, lengths = self.first[at], self.last[at] - self.first[at]
        where = _places(first, lengths)
        return lengths, self.slots[where], self.values[where], self.met[at], self.groups[at]


def _places(first: Array, lengths: Array) -> Array:
    """The indices of runs that begin at `first` and have these lengths, concatenated."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    places: Array = np.arange(total) + np.repeat(first - (ends - lengths), lengths)
    return places


def _with_room(array: Array, used: int, more: int) -> Array:
    """The array, or a copy of twice the needed length, with room for `more` entries after the `used` ones."""
    if used + more <= len(array):
        return array
    larger = np.empty((2 * (used + more), *array.shape[1:]), array.dtype)
    larger[:used] = array[:used]
    return larger


class WaitingRoom:
    """A stage that keeps requests with an id until their label comes, and joins the two.

    At most `most` requests wait. If there is no room, the one that waits longest is dropped; if its id comes again, the
    earlier request is dropped. A label leaves the stage with the features, the group and the predictions of its request.
    A label without a waiting request becomes a reject.

    Cost: O(1) a request and a label, besides copying the features twice.
    """

    key = "waiting"

    def __init__(self, most: int, skips_unmatched_untimed: bool = False) -> None:
        """`skips_unmatched_untimed`: skip labels without a time and a waiting request, which a time filter skipped."""
        self._most, self._skips = most, skips_unmatched_untimed
        self._ticket_of: dict[Any, int] = {}
        self._entries = _Entries()
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._ticket_of)

    # As a stage -----------------------------------------------------------------------------

    def apply(self, batch: Batch) -> Iterator[Batch]:
        """Yield the batch with tickets for requests, and with the features of their requests for labels."""
        self._compact()
        kinds, rejects = batch.kinds, batch.rejects
        tickets, missing = self._tickets(batch)
        if missing:
            kinds = kinds.copy()
            rejects = sorted([*rejects, *self._unmatched(batch, missing, kinds)])
        batch = replace(batch, kinds=kinds, tickets=tickets, earlier=self, rejects=rejects)
        yield self._joined(batch)

    def _tickets(self, batch: Batch) -> tuple[Array, dict[int, int]]:
        """Keep the requests that have an id, and release those whose label came, in the order of the events.

        Returns their tickets, and the labels without a request, each with how many had been dropped before it.
        """
        missing: dict[int, int] = {}
        kinds, tickets = batch.kinds, np.full(len(batch), _NO_TICKET)
        if batch.ids is None:
            return tickets, missing
        named = (kinds == Kind.REQUEST) | (kinds == Kind.LABEL)
        named &= np.array([name is not None for name in batch.ids.tolist()], np.bool_)
        events = np.flatnonzero(named)
        asked = np.flatnonzero(named & (kinds == Kind.REQUEST))
        groups = None if batch.groups is None else batch.groups[asked]
        tickets[asked] = self._entries.append(batch.rows.chosen(asked), groups)
        waiting = self._ticket_of
        found: list[int] = []
        dropped: list[int] = []
        for name, ticket, event in zip(
            *(batch.ids[events].tolist(), tickets[events].tolist(), events.tolist()), strict=True
        ):
            if ticket == _NO_TICKET:  # a label
                found.append(waiting.pop(name, _NO_TICKET))
                if found[-1] == _NO_TICKET:
                    missing[event] = self.dropped + len(dropped)
                continue
            found.append(ticket)
            earlier = waiting.pop(name, None)
            if earlier is None and len(waiting) >= self._most:
                earlier = waiting.pop(next(iter(waiting)))
            if earlier is not None:
                dropped.append(earlier)
            waiting[name] = ticket
        tickets[events] = found
        self.dropped += len(dropped)
        if dropped:  # the predictions of those that came in this batch will not be needed
            tickets[np.isin(tickets, dropped) & (kinds == Kind.REQUEST)] = _NO_TICKET
        return tickets, missing

    def _unmatched(self, batch: Batch, missing: dict[int, int], kinds: Array) -> Iterator[Reject]:
        """Mark labels without a waiting request, and yield a reject for each."""
        assert batch.ids is not None
        for event, dropped in missing.items():
            if self._skips and batch.times[event] == NO_TIME:
                kinds[event] = SKIPPED  # as its request was
                continue
            kinds[event] = UNMATCHED
            reason = f"id: no features wait under {batch.ids[event]!r}"
            if dropped:
                reason += f"; {dropped:,} were dropped, since more may not wait"
            record = int(batch.records[event])
            yield Reject(record, reason, batch.chunk.raw(record), "unmatched")

    def _joined(self, batch: Batch) -> Batch:
        """The batch, its labels with the features and groups of their requests."""
        assert batch.tickets is not None
        events = np.flatnonzero((batch.kinds == Kind.LABEL) & (batch.tickets >= 0))
        if not len(events):
            return batch
        lengths, slots, values, met, group = self._entries.taken(batch.tickets[events])
        rows = batch.rows
        first, last, names_met = rows.first.copy(), rows.last.copy(), rows.met.copy()
        ends = len(rows.slots) + np.cumsum(lengths)
        first[events], last[events], names_met[events] = ends - lengths, ends, met
        groups = batch.groups
        if groups is not None or any(each is not None for each in group):
            groups = np.full(len(batch), None, object) if groups is None else groups.copy()
            groups[events] = group
        return replace(
            batch,
            rows=Rows(
                rows.names,
                first,
                last,
                np.concatenate([rows.slots, slots]),
                np.concatenate([rows.values, values]),
                names_met,
            ),
            groups=groups,
        )

    # What was predicted ---------------------------------------------------------------------

    def note(self, tickets: Array, predictions: Array) -> None:
        """Store the predictions (a row a learner) of waiting requests."""
        entries, waiting = self._entries, tickets >= 0
        if not entries.predictions.shape[1]:  # the first ones say how many learners there are
            entries.predictions = np.empty((len(entries.predictions), len(predictions)))
        entries.predictions[tickets[waiting] - entries.base] = predictions[:, waiting].T

    def recall(self, tickets: Array) -> Array:
        """Return the predictions of requests whose labels came."""
        found: Array = self._entries.predictions[tickets - self._entries.base].T
        return found

    def seat(self, before: Sequence[str], now: Sequence[str]) -> None:
        """Reorder the predictions for other learners: those that joined had predicted nothing."""
        predictions = self._entries.predictions
        if predictions.shape[1]:
            moved = np.full((len(predictions), len(now)), np.nan)
            for place, name in enumerate(now):
                if name in before:
                    moved[:, place] = predictions[:, before.index(name)]
            self._entries.predictions = moved

    def forget(self, slots: Array) -> None:
        """Leave the features in slots out of all that waits: others get the slots."""
        ids, tickets, (lengths, found, values, met, groups) = self._waiting()
        kept = ~np.isin(found, slots)
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
        lengths = np.diff(before[np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])])
        self._keep(ids, tickets, (lengths, found[kept], values[kept], met, groups))

    # What is kept ---------------------------------------------------------------------------

    def _compact(self) -> None:
        """Free the features of requests that no longer wait, if they are most of what is stored."""
        if self._entries.count > 2 * len(self._ticket_of) + _FIRST_ROOM:
            self._keep(*self._waiting())

    def _waiting(self) -> tuple[list[Any], Array, tuple[Array, Array, Array, Array, Array]]:
        """The ids, tickets and entries of the waiting requests, the oldest first."""
        tickets = np.fromiter(self._ticket_of.values(), np.int64, len(self._ticket_of))
        return list(self._ticket_of), tickets, self._entries.taken(tickets)

    def _keep(
        self, ids: list[Any], tickets: Array, taken: tuple[Array, Array, Array, Array, Array]
    ) -> None:
        """Replace all waiting requests by these, under new tickets."""
        lengths, slots, values, met, groups = taken
        ends = np.cumsum(lengths)
        entries = _Entries()
        entries.base = self._entries.base + self._entries.count
        fresh = entries.append(Rows([], ends - lengths, ends, slots, values, met), groups)
        predictions = self._entries.predictions[tickets - self._entries.base]
        entries.predictions = _with_room(predictions, len(predictions), len(entries.groups))
        self._ticket_of = dict(zip(ids, fresh.tolist(), strict=True))
        self._entries = entries

    def dump(self) -> State:
        """The waiting requests, with their predictions."""
        ids, tickets, (lengths, slots, values, met, groups) = self._waiting()
        metadata = {
            "dropped": self.dropped,
            "ids": ids,
            "groups": groups.tolist(),
        }
        predictions = self._entries.predictions[tickets - self._entries.base]
        arrays = {"slots": slots, "values": values, "predictions": predictions}
        arrays |= {"met": met, "lengths": lengths}
        return State(metadata, arrays)

    def load(self, state: State) -> None:
        """Restore the waiting requests of another waiting room."""
        stored, arrays = state
        ids, named = entries(stored, "ids"), entries(stored, "groups")
        _check(ids, named, arrays)
        self.dropped = count_in(stored, "dropped")
        tickets = np.arange(len(ids))
        self._entries = _Entries()
        self._entries.predictions = arrays["predictions"]
        groups = np.empty(len(tickets), object)
        groups[:] = named
        taken = arrays["lengths"], arrays["slots"], arrays["values"], arrays["met"], groups
        self._keep(list(ids), tickets, taken)

    def check(self, n_features: int, n_learners: int) -> None:
        """Raise a `ValueError` if what was restored is of more features or of other learners: compiled code would not notice."""
        entries = self._entries
        slots, met = entries.slots[: entries.used], entries.met[: entries.count]
        if ((slots < 0) | (slots >= n_features)).any() or ((met < 0) | (met > n_features)).any():
            raise ValueError("features wait that are not known")
        if entries.predictions.shape[1] not in (0, n_learners):
            raise ValueError("predictions wait of other learners")


def _check(ids: list[Any], groups: list[Any], arrays: Mapping[str, Array]) -> None:
    """Raise a `ValueError` if these are not the requests of a waiting room."""
    lengths, slots, values = arrays["lengths"], arrays["slots"], arrays["values"]
    whole = (lengths, slots, arrays["met"])
    if any(array.ndim != 1 or array.dtype != np.int64 for array in (*whole,)):
        raise ValueError("requests have other arrays")
    if values.shape != slots.shape or values.dtype != np.float64 or not np.isfinite(values).all():
        raise ValueError("requests have other values")
    predictions = arrays["predictions"]
    if predictions.ndim != 2 or predictions.dtype != np.float64:
        raise ValueError("requests have other predictions")
    counts = {len(ids), len(groups), len(lengths), len(arrays["met"]), len(predictions)}
    names = (type(each) in (str, int) for each in ids)
    if len(counts) > 1 or not all(names) or len(set(ids)) < len(ids):
        raise ValueError("ids and requests")
    if not all(each is None or type(each) in (str, int) for each in groups):
        raise ValueError("groups of requests")
    if (lengths < 0).any() or int(lengths.sum()) != len(slots):
        raise ValueError("lengths of requests")
