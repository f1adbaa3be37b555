"""What a broker says before it hangs up: kafka-python throws it away where both arrive at once."""

from collections.abc import Callable
from typing import Any

from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport

__all__ = ["listen_to_the_end"]

_Receive = Callable[[Any], tuple[bytes, Exception | None]]


_A_MOMENT = 0.1
"""Seconds for the client to take an answer in; the connection is closed then, if it did not notice by itself."""


def listen_to_the_end() -> None:
    """Have kafka-python give out what was received before it says that the connection is lost.

    A broker that does not know who asks says why, and hangs up. The client reads on until there is nothing more to read, and
    where that is the end of the connection, the answer is forgotten: of a wrong password there is then a "socket disconnected",
    which is what comes of a broker that is just stopping.
    """
    for transport in (KafkaTCPTransport, KafkaSSLTransport):
        receive = vars(transport).get("_sock_recv")  # a later version may have none
        if receive is not None and not hasattr(receive, "__wrapped__"):
            transport._sock_recv = _to_the_end(receive)  # noqa: SLF001 - what is mended is inside the client


def _to_the_end(receive: _Receive) -> _Receive:
    def received(transport: Any) -> tuple[bytes, Exception | None]:
        data, error = receive(transport)
        if data and error is not None:
            loop = transport._net  # noqa: SLF001 - the client's own loop, which nothing public leads to
            loop.call_later(_A_MOMENT, lambda: transport.abort(error))
            return data, None
        return data, error

    received.__wrapped__ = receive  # type: ignore[attr-defined]
    return received
