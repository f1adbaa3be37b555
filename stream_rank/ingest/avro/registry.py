"""The schema registry, over HTTP: Confluent's own, or whatever has its interface (Karapace, Apicurio's ccompat, Redpanda's)."""

import base64
import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote

from stream_rank.errors import EventError, InputError, RegistryError, RetriableRegistryError
from stream_rank.ingest.avro.schema import AvroSchema

__all__ = ["SchemaRegistry"]

_TIMEOUT_SECONDS = 5.0
"""For an answer. A daemon does nothing else meanwhile, and says that it lives when it comes back."""
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

    def fetch(self, ids: Iterable[int]) -> None:
        """Ask for the schemas that are not known yet; raises a `RegistryError`, which may be a `RetriableRegistryError`."""
        for number in ids:
            if number not in self._schemas and not self._asked(number):
                self._fetch(number)

    def schema_of(self, number: int) -> AvroSchema:
        """The schema with an id that was fetched; raises an `EventError` if there is none that can be used."""
        found = self._schemas.get(number)
        if found is None:
            _, reason = self._unknown.get(number, (0.0, "is not known"))
            raise EventError(f"schema {number} of the registry {reason}")
        return found

    def _asked(self, number: int) -> bool:
        asked = self._unknown.get(number)
        return asked is not None and self._clock() - asked[0] < _ASK_AGAIN_SECONDS

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
        request = urllib.request.Request(f"{self.url}/{path}", headers={"Accept": _ACCEPT})
        if self._login is not None:  # not for whoever it may send us to
            request.add_unredirected_header("Authorization", f"Basic {self._login}")
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:
                return self._content(answer.read(_MOST_BYTES + 1))
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
            raise RegistryError(self._none("it answers something else than a JSON object"))
        return found

    def _check(self, error: urllib.error.HTTPError) -> None:
        """Raise, unless the registry says that it has nothing of that name."""
        if error.code in (401, 403):
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
            raise RegistryError(self._none(f"it answers {error.code}"))

    def _none(self, what: str) -> str:
        return (
            f"{self.url} is no schema registry, {what}; `schema_registry` is the address below which it has /schemas/ids, "
            "as in http://registry:8081, or http://apicurio:8080/apis/ccompat/v7"
        )
