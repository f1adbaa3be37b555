"""A real Prometheus on loopback."""

import json
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

__all__ = ["NoPrometheusError", "Prometheus"]

_PATIENCE = 30.0


class NoPrometheusError(Exception):
    """There is no Prometheus to run."""


class Prometheus:
    """Runs with a configuration file, and keeps its data below a folder."""

    def __init__(self, folder: Path, config: Path, port: int, assets: Path | None = None) -> None:
        """`assets` are served below /user."""
        if shutil.which("prometheus") is None:
            raise NoPrometheusError("there is no prometheus; Debian's package of that name has it")
        self.url = f"http://127.0.0.1:{port}"
        self._log = folder / "prometheus.log"
        self._command = [
            "prometheus",
            f"--config.file={config}",
            f"--storage.tsdb.path={folder / 'prometheus'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ]
        if assets is not None:
            self._command.append(f"--web.user-assets={assets}")

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for us alone
            )
        until = time.monotonic() + _PATIENCE
        while not self._ready():
            if self._process.poll() is not None or time.monotonic() > until:
                self.__exit__()
                raise RuntimeError(f"Prometheus did not start: {self._log.read_text()[-2000:]}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=5):
                return True
        except OSError:
            return False

    def page(self, name: str) -> str:
        """The address of a page for people: distributions leave the newer pages out, and keep those that were there before."""
        for path in (name, f"classic/{name}"):
            with suppress(OSError), urllib.request.urlopen(f"{self.url}/{path}", timeout=5):
                return f"{self.url}/{path}"
        return f"{self.url}/api/v1/{name}"

    def ask(self, path: str, **arguments: str) -> Any:
        """What its API says; a `ValueError` with its words if it is an error."""
        query = urllib.parse.urlencode(arguments)
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            with error:
                raise ValueError(f"{arguments}: {error.read().decode()}") from None

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The series of an expression now; one without labels for a single number."""
        found = self.ask("query", query=expression)
        if found["resultType"] == "scalar":
            return [{"metric": {}, "value": found["result"]}]
        series: list[dict[str, Any]] = found["result"]
        return series

    def firing(self) -> set[tuple[str, str]]:
        """Alerts that fire, each with its instance."""
        return {
            (alert["labels"]["alertname"], alert["labels"].get("instance", ""))
            for alert in self.ask("alerts")["alerts"]
            if alert["state"] == "firing"
        }
