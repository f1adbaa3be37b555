"""Work that may never end, on a thread of its own."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

__all__ = ["in_background"]

Result = TypeVar("Result")


def in_background(work: Callable[[], Result], name: str) -> Future[Result]:
    """Begin some work; its result comes, or not.

    The thread is a daemon: the interpreter exits without it, where it would wait for those of an executor.

    >>> in_background(lambda: 6 * 7, "product").result()
    42
    """
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # whoever asks for the result is told
            future.set_exception(error)

    Thread(target=run, name=name, daemon=True).start()
    return future
