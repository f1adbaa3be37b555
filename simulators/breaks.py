"""What can be broken of `make live`, and mended again: as on-call people meet it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from simulators.broker import free_ports
from stream_rank.errors import RecoverableError
from stream_rank.ingest.kafka.clients import consumer_of, producer_of
from stream_rank.ingest.kafka.connection import Connection
from stream_rank.ingest.kafka.port import OffsetRange, Partition, ProducerRecord, Subscription

if TYPE_CHECKING:
    from simulators.live import Live

__all__ = ["BREAKS", "Break", "Timetable"]

_GROUP = "stream-rank"


class Break(NamedTuple):
    """A way to break it: broken as long as it is entered."""

    what: str
    enter: Callable[[Live], AbstractContextManager[None]]


@contextmanager
def _broker(live: Live) -> Iterator[None]:
    live.kafka.kill()
    try:
        yield
    finally:
        live.kafka.start()


@contextmanager
def _frozen(live: Live) -> Iterator[None]:
    live.kafka.freeze(True)
    try:
        yield
    finally:
        live.kafka.freeze(False)


@contextmanager
def _daemon(live: Live) -> Iterator[None]:
    live.held = True
    live.daemon.kill()
    try:
        yield
    finally:
        live.daemon.wait()
        live.daemon, live.held = live.start_daemon(), False


@contextmanager
def _producer(live: Live) -> Iterator[None]:
    live.producer.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        live.producer.send_signal(signal.SIGCONT)


@contextmanager
def _garbage(live: Live) -> Iterator[None]:
    """A third of all that comes."""
    from simulators.live import stop

    other = live.produce("garbage", live.rate // 2, "--garbage-every", "1")
    try:
        yield
    finally:
        stop(other)


@contextmanager
def _rejects(live: Live) -> Iterator[None]:
    """All that comes, until the daemon refuses to go on."""

    def send(ended: threading.Event) -> None:
        producer = producer_of("confluent", Connection((live.kafka.address,)))
        while not ended.wait(0.1):
            for _ in range(live.rate // 10):
                producer.send(ProducerRecord("ratings", b"rubbish"))
            with suppress(RecoverableError):
                producer.flush(10.0)
        producer.close()

    live.producer.send_signal(signal.SIGSTOP)
    live.held = True
    try:
        with _beside(send):
            yield
    finally:
        live.producer.send_signal(signal.SIGCONT)
        live.held = False


@contextmanager
def _beside(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Work that goes on until the event is set."""
    ended = threading.Event()
    thread = threading.Thread(target=work, args=(ended,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def _disk(live: Live) -> Iterator[None]:
    """No snapshot can be written: a file stands where their folder was."""
    folder, aside = live.out / "snapshots", live.out / "snapshots-aside"
    folder.rename(aside)
    folder.touch()
    try:
        yield
    finally:
        folder.unlink()
        aside.rename(folder)


@contextmanager
def _drift(live: Live) -> Iterator[None]:
    live.producer.send_signal(signal.SIGUSR1)
    yield


@contextmanager
def _two(live: Live) -> Iterator[None]:
    """A second daemon in the same group."""
    from simulators.live import stop

    other = live.start_daemon("second", free_ports(1)[0])
    try:
        yield
    finally:
        stop(other)


@contextmanager
def _storm(live: Live) -> Iterator[None]:
    """A member that comes and goes."""

    def begin(bounds: Mapping[Partition, OffsetRange]) -> Mapping[Partition, int]:
        return {partition: each.end for partition, each in bounds.items()}

    def come_and_go(ended: threading.Event) -> None:
        connection = Connection((live.kafka.address,))
        while not ended.is_set():
            member = consumer_of("confluent", connection, Subscription(["ratings"], _GROUP), begin)
            until = time.monotonic() + 6
            while time.monotonic() < until and not ended.is_set():
                with suppress(RecoverableError):
                    member.poll(0.1)
            member.close(5.0)

    with _beside(come_and_go):
        yield


BREAKS = {
    "daemon": Break("the daemon is killed", _daemon),
    "broker": Break("the broker is killed", _broker),
    "frozen": Break("the broker is frozen", _frozen),
    "producer": Break("the producer stops", _producer),
    "garbage": Break("a third is garbage", _garbage),
    "disk": Break("snapshots cannot be written", _disk),
    "drift": Break("the stream turns around", _drift),
    "two": Break("a second daemon joins the group", _two),
    "storm": Break("a member of the group comes and goes", _storm),
    "rejects": Break("nothing but garbage comes, until the daemon ends", _rejects),
}


class Timetable:
    """Breaks, one after the other and round again: each so many seconds after the one before, and for so many."""

    def __init__(
        self,
        names: Sequence[str],
        every: float,
        lasting: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._names, self._every, self._lasting, self._clock = names, every, lasting, clock
        self._next, self._round = clock() + every, 0
        self._broken: tuple[AbstractContextManager[None], str] | None = None

    def turn(self, live: Live) -> str | None:
        """Break or mend what is due; returns what was done."""
        now = self._clock()
        if not self._names or now < self._next:
            return None
        if self._broken is not None:
            broken, what = self._broken
            broken.__exit__(None, None, None)
            self._broken, self._next = None, now + max(1.0, self._every - self._lasting)
            return f"mended: {what}"
        chosen = BREAKS[self._names[self._round % len(self._names)]]
        self._round += 1
        broken = chosen.enter(live)
        broken.__enter__()
        self._broken, self._next = (broken, chosen.what), now + self._lasting
        return f"broken for {self._lasting:g} seconds: {chosen.what}"
