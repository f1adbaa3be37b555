"""Events whose labels have not come yet."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.checkpoint.snapshot import Snapshot

__all__ = ["Waiter", "WaitingRoom"]

Array = npt.NDArray[Any]


class Waiter(NamedTuple):
    """An event's features as entries, and what every learner predicted when it came."""

    slots: Array
    values: Array
    predictions: Array
    met: int
    """How many features were known then."""
    group: Any


class WaitingRoom:
    """At most `most` events by id; where there is no room, the one that waits longest is dropped."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: dict[str | int, Waiter] = {}
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, name: str | int, waiter: Waiter) -> None:
        """Let an event wait; an earlier one of the same id waited in vain."""
        if self._waiting.pop(name, None) is not None:
            self.dropped += 1
        elif len(self._waiting) >= self._most:
            del self._waiting[next(iter(self._waiting))]
            self.dropped += 1
        self._waiting[name] = waiter

    def take(self, name: str | int) -> Waiter | None:
        """The event whose label has come; None if it does not wait."""
        return self._waiting.pop(name, None)

    def content(self) -> Snapshot:
        """Who waits."""
        waiters = list(self._waiting.values())
        lengths = [len(waiter.slots) for waiter in waiters]
        said = {
            "dropped": self.dropped,
            "ids": list(self._waiting),
            "groups": [waiter.group for waiter in waiters],
            "met": [waiter.met for waiter in waiters],
            "lengths": lengths,
        }
        joined: dict[str, Array] = {"slots": np.empty(0, np.int64), "values": np.empty(0)}
        if waiters:
            joined["slots"] = np.concatenate([waiter.slots for waiter in waiters])
            joined["values"] = np.concatenate([waiter.values for waiter in waiters])
        joined["predictions"] = np.array([waiter.predictions for waiter in waiters], np.float64)
        return Snapshot({"waiting": said}, {f"waiting/{key}": joined[key] for key in joined})

    def restore(self, snapshot: Snapshot) -> None:
        """Let those wait who waited."""
        said, arrays = snapshot.said["waiting"], snapshot.arrays
        self.dropped = said["dropped"]
        ends = np.cumsum(np.array(said["lengths"], np.int64))[:-1]
        slots = np.split(arrays["waiting/slots"], ends)
        values = np.split(arrays["waiting/values"], ends)
        for place, name in enumerate(said["ids"]):
            self._waiting[name] = Waiter(
                slots[place],
                values[place],
                arrays["waiting/predictions"][place],
                said["met"][place],
                said["groups"][place],
            )
