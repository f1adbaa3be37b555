"""A real schema registry: Apicurio's, in memory, with Confluent's interface."""

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Self

from simulators.broker import free_ports
from tests.fetched import fetched
from tests.ingest.kafka.conftest import wait_for

__all__ = ["Apicurio"]

_VERSION = "3.0.9"
_FETCH = (
    f"mvn -B -q dependency:copy -Dartifact=io.apicurio:apicurio-registry-app:{_VERSION}:tar.gz:all -DoutputDirectory=. "
    "&& tar -xzf *.tar.gz && rm *.tar.gz"
)
_MEMORY = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m")


class Apicurio:
    """A registry in a process of its own."""

    def __init__(self, folder: Path) -> None:
        found = fetched(f"apicurio-{_VERSION}", ["sh", "-ec", f"command -v java mvn && {_FETCH}"])
        (port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{port}/apis/ccompat/v7"
        (program,) = found.glob("*-runner.jar")
        with (folder / "apicurio.log").open("wb") as log:
            self._process = subprocess.Popen(
                ["java", *_MEMORY, "-jar", program],
                cwd=folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={
                    **os.environ,
                    "QUARKUS_HTTP_PORT": str(port),
                    "QUARKUS_HTTP_HOST": "127.0.0.1",
                },
                start_new_session=True,
            )
        self._log = folder / "apicurio.log"

    def __enter__(self) -> Self:
        try:
            wait_for(self._answers, 180, lambda: self._log.read_text(errors="replace")[-2000:])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def _answers(self) -> bool:
        assert self._process.poll() is None, self._log.read_text(errors="replace")[-2000:]
        try:
            self._ask("subjects")
        except OSError:
            return False
        return True

    def _ask(self, path: str, content: Any = None) -> Any:
        request = urllib.request.Request(
            f"{self.url}/{path}",
            None if content is None else json.dumps(content).encode(),
            {"Content-Type": "application/vnd.schemaregistry.v1+json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())

    def register(self, subject: str, schema: Any, *references: str) -> int:
        """Have a schema of a subject, which may refer to the first version of others; its id."""
        named = [{"name": each, "subject": each, "version": 1} for each in references]
        content = {"schema": json.dumps(schema), "schemaType": "AVRO", "references": named}
        return int(self._ask(f"subjects/{subject}/versions", content)["id"])

    def freeze(self, frozen: bool) -> None:
        """Have it answer nothing, or go on."""
        self._process.send_signal(signal.SIGSTOP if frozen else signal.SIGCONT)
