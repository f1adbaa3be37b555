"""A patch of kafka-python, which drops a response that arrives together with the end of the connection."""

from collections.abc import Callable
from typing import Any

from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport

__all__ = ["listen_to_the_end"]

_Receive = Callable[[Any], tuple[bytes, Exception | None]]


_ABORT_DELAY_SECONDS = 0.1
"""Seconds for the client to process the response; then the connection is aborted, if it is still open."""


def listen_to_the_end() -> None:
    """Patch kafka-python to return received data before it reports that the connection is closed.

    A broker that refuses a login sends the reason and closes the connection. The client reads until nothing is left, and if that
    is the end of the connection, it drops the data: a wrong password is then reported as "socket disconnected", the same as a
    broker that is shutting down.
    """
    for transport in (KafkaTCPTransport, KafkaSSLTransport):
        receive = vars(transport).get("_sock_recv")  # a later version may have none
        if receive is not None and not hasattr(receive, "__wrapped__"):
            transport._sock_recv = _with_final_response(receive)  # noqa: SLF001 - the patched function is internal


def _with_final_response(receive: _Receive) -> _Receive:
    def received(transport: Any) -> tuple[bytes, Exception | None]:
        data, error = receive(transport)
        if data and error is not None:
            loop = transport._net  # noqa: SLF001 - the client's event loop has no public name
            loop.call_later(_ABORT_DELAY_SECONDS, lambda: transport.abort(error))
            return data, None
        return data, error

    received.__wrapped__ = receive  # type: ignore[attr-defined]
    return received
