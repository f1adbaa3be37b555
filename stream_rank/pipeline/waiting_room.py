"""Events whose labels have not come yet."""

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
    """Features of many events in one piece of memory, an event a ticket; tickets are given out in order."""

    def __init__(self) -> None:
        self.base = 0
        """The first ticket that is kept."""
        self.count = 0
        self.first, self.last, self.met = (np.empty(_FIRST_ROOM, np.int64) for _ in range(3))
        self.groups = np.empty(_FIRST_ROOM, object)
        self.used = 0
        self.slots, self.values = np.empty(_FIRST_ROOM, np.int64), np.empty(_FIRST_ROOM)

    def append(self, rows: Rows, groups: Array | None) -> Array:
        """Keep the features of events; their tickets."""
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
        """Lengths, slots, values, names met and groups of events, one after the other."""
        at = tickets - self.base
        first, lengths = self.first[at], self.last[at] - self.first[at]
        where = _places(first, lengths)
        return lengths, self.slots[where], self.values[where], self.met[at], self.groups[at]


def _places(first: Array, lengths: Array) -> Array:
    """The places of runs that begin at `first` and are so long, one run after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    places: Array = np.arange(total) + np.repeat(first - (ends - lengths), lengths)
    return places


def _with_room(array: Array, used: int, more: int) -> Array:
    """An array with room for more after what is used, twice as long where it had to grow."""
    if used + more <= len(array):
        return array
    larger = np.empty(2 * (used + more), array.dtype)
    larger[:used] = array[:used]
    return larger


class WaitingRoom:
    """A stage that keeps requests with an id until their label comes, and joins the two.

    At most `most` events wait. Where there is no room, the one that waits longest is dropped; one whose id comes again
    waited in vain. A label comes out with the features, the group and the predictions of its request. A label that no
    features wait for is a reject.

    Cost: O(1) a request and a label, beside copying its features twice.
    """

    key = "waiting"

    def __init__(self, most: int, skips_unmatched_untimed: bool = False) -> None:
        """`skips_unmatched_untimed`: a filter of times left out features, and their labels need not say when."""
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
        """Give on requests with tickets, and labels with what they came for."""
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
        if self._just_dropped:  # nobody will ask what is predicted of them
            tickets[np.isin(tickets, self._just_dropped)] = _NO_TICKET
        batch = replace(batch, kinds=kinds, tickets=tickets, earlier=self, rejects=sorted(rejects))
        yield self._joined(batch)

    def _put(self, batch: Batch, first: int, last: int) -> Array:
        """Let requests wait that have an id; their tickets."""
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
        """The tickets of the events whose labels have come, which wait no longer."""
        take = self._ticket_of.pop
        return [take(name, _NO_TICKET) for name in ids]

    def _unmatched(self, batch: Batch, events: Array, kinds: Array) -> Iterator[Reject]:
        """Mark labels that no features wait for; the rejects that they are."""
        assert batch.ids is not None
        for event in events.tolist():
            if self._skips and batch.times[event] == NO_TIME:
                kinds[event] = SKIPPED  # as its features were
                continue
            kinds[event] = UNMATCHED
            reason = f"id: no features wait under {batch.ids[event]!r}"
            if self.dropped:
                reason += f"; {self.dropped:,} were dropped, since more may not wait"
            record = int(batch.records[event])
            yield Reject(record, reason, batch.chunk.raw(record), "unmatched")

    def _joined(self, batch: Batch) -> Batch:
        """The batch with the features and groups that labels came for."""
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
        """Keep what was predicted of events that wait."""
        for place in np.flatnonzero(tickets >= 0).tolist():
            self._predictions[int(tickets[place])] = predictions[:, place].copy()

    def recall(self, tickets: Array) -> Array:
        """What was predicted of events whose labels came; it is not kept any longer."""
        return np.stack([self._predictions.pop(ticket) for ticket in tickets.tolist()], axis=1)

    # What is kept ---------------------------------------------------------------------------

    def _compact(self) -> None:
        """Let go of the features of events that wait no longer, if they are most of what is kept."""
        if self._entries.count > 2 * len(self._ticket_of) + _FIRST_ROOM:
            self._keep(*self._waiting())

    def _waiting(self) -> tuple[list[Any], Array, tuple[Array, Array, Array, Array, Array]]:
        """Ids, tickets and entries of those that wait, the longest first."""
        tickets = np.fromiter(self._ticket_of.values(), np.int64, len(self._ticket_of))
        return list(self._ticket_of), tickets, self._entries.taken(tickets)

    def _keep(
        self, ids: list[Any], tickets: Array, taken: tuple[Array, Array, Array, Array, Array]
    ) -> None:
        """Let those wait and nobody else, under new tickets."""
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
        """Those that wait."""
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
        """Let those wait who waited."""
        stored, arrays = state
        self.dropped = stored["dropped"]
        tickets = list(range(len(stored["ids"])))
        self._predictions = dict(zip(tickets, arrays["predictions"], strict=True))
        groups = np.empty(len(tickets), object)
        groups[:] = stored["groups"]
        lengths, met = (np.array(stored[name], np.int64) for name in ("lengths", "met"))
        taken = lengths, arrays["slots"], arrays["values"], met, groups
        self._keep(list(stored["ids"]), np.array(tickets, np.int64), taken)
