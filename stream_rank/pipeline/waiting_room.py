"""A stage that joins labels with the features that came earlier under the same id."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.codec.batch import SKIPPED, UNMATCHED, Batch, Reject
from stream_rank.codec.schema import Kind
from stream_rank.ingest.timestamps import NO_TIME
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
    larger = np.empty(2 * (used + more), array.dtype)
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
        self._predictions: dict[int, Array] = {}
        self._just_dropped: list[int] = []
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._ticket_of)

    # As a stage -----------------------------------------------------------------------------

    def apply(self, batch: Batch) -> Iterator[Batch]:
        """Yield the batch with tickets for requests, and with the features of their requests for labels."""
        self._compact()
        tickets = np.full(len(batch), _NO_TICKET)
        kinds, rejects = batch.kinds, list(batch.rejects)
        self._just_dropped.clear()
        for kind, first, last in batch.runs():
            if kind == Kind.REQUEST and batch.ids is not None:
                tickets[first:last] = self._put(batch, first, last)
            elif kind == Kind.LABEL:
                assert batch.ids is not None  # a label without an id is a reject
                tickets[first:last] = self._take(batch.ids[first:last].tolist())
                missing = np.flatnonzero(tickets[first:last] == _NO_TICKET) + first
                if len(missing):
                    kinds = kinds.copy() if kinds is batch.kinds else kinds
                    rejects += self._unmatched(batch, missing, kinds)
        if self._just_dropped:  # their predictions will not be needed
            tickets[np.isin(tickets, self._just_dropped)] = _NO_TICKET
        batch = replace(batch, kinds=kinds, tickets=tickets, earlier=self, rejects=sorted(rejects))
        yield self._joined(batch)

    def _put(self, batch: Batch, first: int, last: int) -> Array:
        """Keep the requests that have an id; return their tickets."""
        assert batch.ids is not None
        ids = batch.ids[first:last].tolist()
        named = [place for place, name in enumerate(ids, first) if name is not None]
        tickets = np.full(last - first, _NO_TICKET)
        if not named:
            return tickets
        rows = batch.rows
        chosen = Rows(
            *(rows.names, rows.first[named], rows.last[named], rows.slots, rows.values),
            rows.met[named],
        )
        groups = None if batch.groups is None else batch.groups[named]
        given = self._entries.append(chosen, groups)
        tickets[np.array(named) - first] = given
        waiting = self._ticket_of
        for name, ticket in zip(
            (ids[place - first] for place in named), given.tolist(), strict=True
        ):
            if (earlier := waiting.pop(name, None)) is not None:
                self._drop(earlier)
            elif len(waiting) >= self._most:
                self._drop(waiting.pop(next(iter(waiting))))
            waiting[name] = ticket
        return tickets

    def _drop(self, ticket: int) -> None:
        self.dropped += 1
        if self._predictions.pop(ticket, None) is None:
            self._just_dropped.append(ticket)

    def _take(self, ids: list[Any]) -> list[int]:
        """Release the requests of these ids; return their tickets."""
        take = self._ticket_of.pop
        return [take(name, _NO_TICKET) for name in ids]

    def _unmatched(self, batch: Batch, events: Array, kinds: Array) -> Iterator[Reject]:
        """Mark labels without a waiting request, and yield a reject for each."""
        assert batch.ids is not None
        for event in events.tolist():
            if self._skips and batch.times[event] == NO_TIME:
                kinds[event] = SKIPPED  # as its request was
                continue
            kinds[event] = UNMATCHED
            reason = f"id: no features wait under {batch.ids[event]!r}"
            if self.dropped:
                reason += f"; {self.dropped:,} were dropped, since more may not wait"
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
        for place in np.flatnonzero(tickets >= 0).tolist():
            self._predictions[int(tickets[place])] = predictions[:, place].copy()

    def recall(self, tickets: Array) -> Array:
        """Remove and return the predictions of requests whose labels came."""
        return np.stack([self._predictions.pop(ticket) for ticket in tickets.tolist()], axis=1)

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
        told = zip(tickets.tolist(), fresh.tolist(), strict=True)
        self._predictions = {new: self._predictions[old] for old, new in told}
        self._ticket_of = dict(zip(ids, fresh.tolist(), strict=True))
        self._entries = entries

    def dump(self) -> State:
        """The waiting requests, with their predictions."""
        ids, tickets, (lengths, slots, values, met, groups) = self._waiting()
        metadata = {
            "dropped": self.dropped,
            "ids": ids,
            "groups": groups.tolist(),
            "met": met.tolist(),
            "lengths": lengths.tolist(),
        }
        predictions = [self._predictions[ticket] for ticket in tickets.tolist()]
        arrays = {
            "slots": slots,
            "values": values,
            "predictions": np.array(predictions, np.float64),
        }
        return State(metadata, arrays)

    def load(self, state: State) -> None:
        """Restore the waiting requests of another waiting room."""
        stored, arrays = state
        self.dropped = stored["dropped"]
        tickets = list(range(len(stored["ids"])))
        self._predictions = dict(zip(tickets, arrays["predictions"], strict=True))
        groups = np.empty(len(tickets), object)
        groups[:] = stored["groups"]
        lengths, met = (np.array(stored[name], np.int64) for name in ("lengths", "met"))
        taken = lengths, arrays["slots"], arrays["values"], met, groups
        self._keep(list(stored["ids"]), np.array(tickets, np.int64), taken)
