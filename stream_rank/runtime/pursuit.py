"""One attempt to bring learners to where a run is, on a thread of its own."""

import threading
import time
from collections import deque
from collections.abc import Callable

from stream_rank.background import in_background
from stream_rank.ingest.chunk import Records
from stream_rank.ingest.kafka.offsets import Offsets
from stream_rank.runtime.study import Study

__all__ = ["Pursuit"]

_MOST_BYTES = 32 << 20
"""Of chunks that the run has learned and the study has not. Beyond that it reads from Kafka what it misses."""
_CHUNK_BYTES = 4096
"""Of memory that a chunk takes however little is in it."""
_FEW_BYTES = 1 << 20
"""As much is learned within some hundredths of a second: as long the run may wait."""


class _Tail:
    """The chunks that a run learns from a position on, in their order."""

    def __init__(self, begin: Offsets) -> None:
        self.begin = begin
        self.chunks: deque[Records] = deque()
        self.n_bytes = 0
        self.lost = False
        """Whether there were too many: then there are none any more."""

    def put(self, chunk: Records) -> None:
        """Append a chunk, or give all of them up."""
        self.n_bytes += _CHUNK_BYTES + len(chunk.text)
        if self.n_bytes > _MOST_BYTES:
            self.lost = True
            self.chunks.clear()
        if not self.lost:
            self.chunks.append(chunk)

    def done(self, chunk: Records) -> None:
        """A chunk that was taken out was learned."""
        self.n_bytes -= _CHUNK_BYTES + len(chunk.text)


class Pursuit:
    """Brings a study to where the run is.

    The run gives it a target, which is its position between two chunks, and from there on every chunk that it learns. The study
    reads up to the target from Kafka, and then learns those chunks, in the order in which the run learned them. If there are more
    than fit into some memory before it has come that far, they are given up, and it is given another target. So it needs no
    message twice, never reads beyond the run, and is exactly where the run is whenever no chunk is left.

    `take`, `turn`, `wait` and `stop` are called by the thread of the run, and take no longer than a lock, but for `wait`.
    """

    def __init__(self, begin: Callable[[], Study], position: Offsets, share: float) -> None:
        """`begin` makes the study, on its thread; `share` of the time it may learn."""
        self.share = share
        self._begin = begin
        self._changed = threading.Condition()
        self._tail = _Tail(position)
        self._reading, self._learning = True, False
        self._stopped = self._hurried = False
        self._began = 0.0
        self.study: Study | None = None
        self._end = in_background(self._run, "catching up")

    # Called by the thread of the run ----------------------------------------------------------

    def take(self, chunk: Records) -> None:
        """Learn this too, which the run learns now. It is read after the run has released it, for chunks of topics share no memory."""
        with self._changed:
            self._tail.put(chunk)
            self._changed.notify_all()

    def turn(self, position: Offsets, share: float) -> BaseException | None:
        """The run is between two chunks, at this position; why the attempt failed, if it did."""
        if self._end.done():
            return self._end.exception() or RuntimeError("it ended")
        with self._changed:
            self.share = share
            begun = self._tail.begin
            ids = position.topic_ids
            made_anew = any(ids.get(at, name) != name for at, name in begun.topic_ids.items())
            if made_anew or any(position.get(at, 0) < offset for at, offset in begun.items()):
                return RuntimeError("the run has begun a partition again, or another of its name")
            if self._tail.lost and not self._reading and not self._learning:
                self._tail, self._reading = _Tail(position), True
                self._changed.notify_all()
        return None

    @property
    def is_near(self) -> bool:
        """Whether the run may wait for the little that is left."""
        tail = self._tail
        return not self._reading and not tail.lost and tail.n_bytes <= _FEW_BYTES

    def wait(self, seconds: float) -> bool:
        """Whether everything is learned that the run has learned, now or within so many seconds."""
        with self._changed:
            self._hurried = seconds > 0
            self._changed.notify_all()
            level = self._changed.wait_for(lambda: self._is_level or self._end.done(), seconds)
            self._hurried = False
            return level and not self._end.done()

    def stop(self, seconds: float) -> None:
        """Have the thread end, and wait for it for some seconds."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        try:
            self._end.exception(seconds)
        except TimeoutError:
            return  # it is a daemon thread, and does nothing any more once it comes back

    # The thread ---------------------------------------------------------------------------------

    @property
    def _is_level(self) -> bool:
        tail = self._tail
        return not (self._reading or self._learning or tail.lost or tail.chunks)

    def _run(self) -> None:
        self.study = study = self._begin()
        while not self._stopped:
            self._began = time.monotonic()
            for found in study.read(self._tail.begin):
                if found:
                    self._rest()
                else:  # it waited
                    self._began = time.monotonic()
                if self._stopped:
                    return
            with self._changed:
                self._reading = False
            while (chunk := self._next()) is not None:
                study.learn(chunk)
                with self._changed:
                    self._learning = False
                    self._tail.done(chunk)
                    self._changed.notify_all()
                self._rest()

    def _next(self) -> Records | None:
        """The next chunk that the run has learned; None if the thread is to end, or to read again."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._reading or self._tail.chunks)
            self._began = time.monotonic()
            if self._stopped or self._reading:
                return None
            self._learning = True
            return self._tail.chunks.popleft()

    def _rest(self) -> None:
        """Leave the rest of the time to the run."""
        with self._changed:
            seconds = (time.monotonic() - self._began) * (1 / self.share - 1)
            self._changed.wait_for(lambda: self._stopped or self._hurried, seconds)
            self._began = time.monotonic()
