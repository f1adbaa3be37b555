"""The schema registry, over HTTP: Confluent's own, or whatever has its interface (Karapace, Apicurio's ccompat, Redpanda's)."""

import base64
import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from concurrent import futures
from typing import Any
from urllib.parse import quote

from stream_rank.background import in_background
from stream_rank.errors import EventError, InputError, RegistryError, RetriableRegistryError
from stream_rank.ingest.avro.schema import AvroSchema

__all__ = ["SchemaRegistry"]

_SILENT_SECONDS = 5.0
"""As long may the registry say nothing."""
_ANSWER_SECONDS = 10.0
"""For an answer from the first to the last, however it dribbles. A daemon does nothing else meanwhile, and says that it lives when it comes back."""
_FETCH_SECONDS = 20.0
"""For the answers of one chunk; what is left is asked for when the daemon has said that it lives."""
_MOST_NOT_THERE = 100
"""Of the ids in a chunk, as many are asked for that the registry does not know: random bytes hold thousands. The others are taken as
unknown, until a later chunk asks for them."""
_MOST_BYTES = 4_000_000
"""Of an answer."""
_ASK_AGAIN_SECONDS = 30.0
"""An id that the registry did not know is asked for again after so long, be it that somebody brings it back."""
_MOST_UNKNOWN = 10_000
"""As many of them are remembered: anybody can make some up."""
_MOST_REFERENCES = 100
"""As many other schemas may one need."""
_UNKNOWN = range(40_400, 40_500)
"""Codes of the registry's own errors that say that it has nothing of that name. A 404 without one comes from something else."""
_ACCEPT = "application/vnd.schemaregistry.v1+json, application/json"


class SchemaRegistry:
    """Schemas by their id. What was fetched is kept: what an id stands for never changes.

    `fetch` asks the registry, `schema_of` never does: so the thread that decodes need not wait.
    """

    def __init__(
        self, url: str, login: str | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`login` is USER:PASSWORD."""
        self.url = url.rstrip("/")
        self._clock = clock
        self._login = None if login is None else base64.b64encode(login.encode()).decode()
        self._schemas: dict[int, AvroSchema] = {}
        self._unknown: dict[int, tuple[float, str]] = {}
        self._answered = False
        """Whether it was ever seen to be a registry."""
        self._since: float | None = None
        """When the schemas of a chunk were first asked for, until all are here, or not there."""
        self._not_there = 0
        """Of them."""

    def fetch(self, ids: Iterable[int]) -> None:
        """Ask for the schemas that are not known yet; raises a `RegistryError`, which may be a `RetriableRegistryError`."""
        if self._since is None:
            self._since, self._not_there = self._clock(), 0
        end, asked = time.monotonic() + _FETCH_SECONDS, 0
        for number in ids:
            if number in self._schemas or self._asked(number):
                continue
            if asked and time.monotonic() > end:
                raise RetriableRegistryError(f"{self.url} is slow: not all schemas are here yet")
            self._fetch(number)
            asked += 1
            self._not_there += number not in self._schemas
            if self._not_there >= _MOST_NOT_THERE:
                break
        self._since = None

    def schema_of(self, number: int) -> AvroSchema:
        """The schema with an id that was fetched; raises an `EventError` if there is none that can be used."""
        found = self._schemas.get(number)
        if found is None:
            _, reason = self._unknown.get(number, (0.0, "is not known"))
            raise EventError(f"schema {number} of the registry {reason}")
        return found

    def _asked(self, number: int) -> bool:
        moment, _ = self._unknown.get(number, (None, ""))
        if moment is None:
            return False
        # of a registry that is slow, what was asked for first is not asked for again before the last is
        of_this_chunk = self._since is not None and moment >= self._since
        return of_this_chunk or self._clock() - moment < _ASK_AGAIN_SECONDS

    def _fetch(self, number: int) -> None:
        answer, reason = self._get(f"schemas/ids/{number}"), "is not there"
        if answer is not None and answer.get("schemaType", "AVRO") != "AVRO":
            reason = f"is of {answer['schemaType']!r:.40}; AVRO is needed"
        elif answer is not None:
            try:
                references = self._references(answer, {})
                self._schemas[number] = AvroSchema(str(answer.get("schema")), references)
                return
            except RegistryError:
                raise
            except (InputError, KeyError, TypeError, ValueError, AttributeError) as error:
                reason = f"cannot be used: {error}"
        if len(self._unknown) >= _MOST_UNKNOWN:
            self._unknown.clear()
        self._unknown[number] = self._clock(), reason

    def _references(self, answer: dict[str, Any], found: dict[str, str]) -> list[str]:
        """The schemas that one names, those that they name first; `found` are those that there are."""
        for each in answer.get("references") or ():
            path = (
                f"subjects/{quote(str(each['subject']), safe='')}/versions/{int(each['version'])}"
            )
            if path in found:
                continue
            if len(found) >= _MOST_REFERENCES:
                raise InputError(f"it needs more than {_MOST_REFERENCES} others")
            found[path] = ""  # begun: of schemas that name each other, one comes first
            other = self._get(path)
            if other is None:
                raise InputError(f"it names {each['subject']!r:.60}, which is not there")
            self._references(other, found)
            del found[path]
            found[path] = str(other.get("schema"))
        return list(found.values())

    def _get(self, path: str) -> dict[str, Any] | None:
        """What the registry answers; None if it has nothing of that name."""
        answer = in_background(lambda: self._ask(path), "schema registry")
        done, _ = futures.wait([answer], _ANSWER_SECONDS)
        if not done:
            raise RetriableRegistryError(
                f"{self.url} cannot be reached: no answer within {_ANSWER_SECONDS:g} seconds"
            )
        found = answer.result()
        self._answered = True
        return found

    def _ask(self, path: str) -> dict[str, Any] | None:
        end = time.monotonic() + _ANSWER_SECONDS
        request = urllib.request.Request(f"{self.url}/{path}", headers={"Accept": _ACCEPT})
        if self._login is not None:  # not for whoever it may send us to
            request.add_unredirected_header("Authorization", f"Basic {self._login}")
        try:
            with urllib.request.urlopen(request, timeout=_SILENT_SECONDS) as answer:
                return self._content(_text(answer, end))
        except urllib.error.HTTPError as error:
            with error:
                self._check(error)
            return None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise RetriableRegistryError(f"{self.url} cannot be reached: {reason}") from None

    def _content(self, text: bytes) -> dict[str, Any]:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise self._none("it answers something else than a JSON object")
        return found

    def _check(self, error: urllib.error.HTTPError) -> None:
        """Raise, unless the registry says that it has nothing of that name."""
        if error.code == 401 or (error.code == 403 and not self._answered):
            raise RegistryError(
                f"{self.url} refuses us ({error.code}): is `schema_registry_login` right?"
            )
        if error.code in (408, 429) or error.code >= 500:
            raise RetriableRegistryError(f"{self.url} cannot answer now: {error.code}")
        try:
            code = json.loads(error.read(_MOST_BYTES))["error_code"]
        except (ValueError, KeyError, TypeError, OSError, RecursionError):
            code = None
        if error.code != 404 or code not in _UNKNOWN:
            raise self._none(f"it answers {error.code}")

    def _none(self, what: str) -> RegistryError:
        """The error for what no registry answers. Where one has answered before, what stands in front of it does, and will stop."""
        if self._answered:
            return RetriableRegistryError(
                f"{self.url} does not answer as a schema registry now: {what}"
            )
        return RegistryError(
            f"{self.url} is no schema registry, {what}; `schema_registry` is the address below which it has /schemas/ids, "
            "as in http://registry:8081, or http://apicurio:8080/apis/ccompat/v7"
        )


def _text(answer: Any, end: float) -> bytes:
    """What an answer says, as far as it is looked at; a `TimeoutError` if it is still being said at `end`."""
    parts, size = [], 0
    while size <= _MOST_BYTES and (part := answer.read1(_MOST_BYTES + 1 - size)):
        if time.monotonic() > end:
            raise TimeoutError("its answer does not end")
        parts.append(part)
        size += len(part)
    return b"".join(parts)
