"""Records that are not JSON as they stand, as the JSON that the envelope wants: the readers know no other form."""

from dataclasses import replace

import msgspec
from pydantic_core import from_json

from stream_rank.codec.envelope import Envelope, with_attributes
from stream_rank.errors import EventError, UnreadableError
from stream_rank.ingest.chunk import MOST_BYTES, Records, as_records
from stream_rank.ingest.message import Headers

__all__ = ["Opener"]

_check = msgspec.json.Decoder(msgspec.Raw).decode


class Opener:
    """Has records of other bytes as JSON, and CloudEvents in binary mode, whose attributes are headers, in structured mode.

    Cost: a copy of records that have to be opened, and what their headers cost to read; nothing for others.
    """

    def __init__(self, envelope: Envelope | None) -> None:
        self._of_headers = envelope == "cloudevents"

    def opened(self, chunk: Records) -> tuple[Records, dict[int, EventError]]:
        """The records as JSON, and those that cannot be, which are empty there."""
        with_headers = self._of_headers and chunk.headers_of is not None
        if chunk.json_of is None and not with_headers:
            return chunk, {}
        wrong: dict[int, EventError] = {}
        found, changed = [], chunk.json_of is not None
        for record in range(len(chunk)):
            raw = text = chunk.raw(record)
            try:
                if not raw:  # a deletion has nothing to be opened
                    pass
                elif len(raw) > MOST_BYTES:
                    raise too_long()
                else:
                    if chunk.json_of is not None:
                        text = chunk.json_of(record)
                    if with_headers and chunk.headers_of is not None:
                        text = self.structured(text, chunk.headers_of(record))
                        changed = changed or text is not raw
                    if len(text) > MOST_BYTES:
                        raise too_long()
            except EventError as error:
                text = b""
                wrong[record] = error
            found.append(text)
        if not changed and not wrong:
            return chunk, {}
        opened = as_records(found)
        return replace(chunk, text=opened.text, starts=opened.starts, ends=opened.ends), wrong

    def structured(self, text: bytes, headers: Headers) -> bytes:
        """A value with what its headers say."""
        around = with_attributes(headers) if self._of_headers else None
        if around is None:
            return text
        try:
            _check(text)
        except (
            ValueError,
            RecursionError,
        ):  # it must not be what it is only by what is put around it
            try:
                from_json(text)
            except ValueError as error:
                raise UnreadableError(f"not JSON: {error}") from None
        return around[0] + text + around[1]


def too_long() -> EventError:
    """The error for a record that is not looked at."""
    return UnreadableError(f"longer than {MOST_BYTES:,} bytes")
