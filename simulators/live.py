"""`make live`: everything at once, without containers: Kafka, a daemon, a producer, Prometheus, and Grafana if present.

The same topology as `deploy/compose.yaml`, by the very files that it mounts. A daemon that ends is started again, so that an outage
can be watched; `breaks.py` makes some.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple, Self

from simulators.breaks import Timetable
from simulators.broker import Kafka, NoKafkaError, free_ports
from simulators.prometheus import NoPrometheusError, Prometheus

__all__ = ["Live", "Ports", "free", "serve", "stop"]

_ROOT = Path(__file__).parent.parent
_DEPLOY, _DASHBOARDS = _ROOT / "deploy", _ROOT / "dashboards"
_STOP_SECONDS = 30.0
_PARTITIONS = 4
_PAUSE_SECONDS = 20.0
"""Until a daemon that ended is started again: long enough to be seen on a dashboard."""


class Ports(NamedTuple):
    """Where everything listens; the files have the defaults."""

    kafka: int = 9092
    daemon: int = 9464
    prometheus: int = 9090
    grafana: int = 3000


class Live:
    """All of it, as long as it is entered. Data and logs are below a folder."""

    def __init__(
        self,
        folder: Path,
        ports: Ports,
        rate: int,
        drift_seconds: float,
        grafana: str | None = None,
        flags: Sequence[str] = (),
    ) -> None:
        """`flags` are more of the daemon's."""
        self.folder, self.ports = folder, ports
        self.rate, self._drift_seconds = rate, drift_seconds
        self._grafana, self._flags = grafana, flags
        self._stack = ExitStack()
        self._ended: float | None = None
        self.held = False
        """Whether a daemon that ended stays so."""

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _start(self) -> None:
        enter, ports = self._stack.enter_context, self.ports
        config = self._placed(_DEPLOY / "prometheus/prometheus.yml")
        assets = _DEPLOY / "prometheus/assets"
        prometheus = Prometheus(self.folder, config, ports.prometheus, assets)  # or there is none
        properties = {"auto.create.topics.enable": True, "num.partitions": _PARTITIONS}
        self.kafka = enter(Kafka(self.folder / "kafka", 1, properties, ports=[ports.kafka]))
        _make(
            self.kafka.address, "ratings"
        )  # a daemon that is there before its topic is in trouble
        self.producer = self.produce("producer", self.rate)
        self.daemon = self.start_daemon()
        self.prometheus = enter(prometheus)
        if self._grafana is not None:
            self._run_grafana(Path(self._grafana))

    def produce(self, name: str, rate: int, *flags: str) -> "subprocess.Popen[bytes]":
        """Begin to send events."""
        load = ["-m", "simulators", "load", "--bootstrap-servers", self.kafka.address]
        load += ["--topic", "ratings", "--rate", str(rate)]
        load += ["--drift-seconds", f"{self._drift_seconds:.0f}", *flags]
        return self._run(name, [sys.executable, *load])

    def start_daemon(
        self, name: str = "daemon", port: int | None = None
    ) -> "subprocess.Popen[bytes]":
        """Start a daemon; one of another name has its own folder and port, and the same group."""
        settings = ["--config", str(self._placed(_DEPLOY / "stream-rank.toml"))]
        settings += ["--out", str(self.out if name == "daemon" else self.folder / name)]
        settings += ["--port", str(port or self.ports.daemon), *self._flags]
        return self._run(name, [sys.executable, "-m", "stream_rank", "run", *settings])

    @property
    def out(self) -> Path:
        """The daemon's folder."""
        return self.folder / "out"

    def tend(self) -> str | None:
        """Start a daemon again that ended some time ago; returns what happened."""
        code = self.daemon.poll()
        if code is None or self.held:
            self._ended = None
            return None
        now = time.monotonic()
        if self._ended is None:
            self._ended = now
            return f"the daemon ended with {code}, and is started again in {_PAUSE_SECONDS:g} seconds; see {self.log('daemon')}"
        if now - self._ended < _PAUSE_SECONDS:
            return None
        self._ended, self.daemon = None, self.start_daemon()
        return "the daemon is started again"

    def _placed(self, file: Path) -> Path:
        """A configuration file; a copy of it where others than the default ports are wanted."""
        text = self._text(file)
        if text == file.read_text():
            return file
        copy = self.folder / file.relative_to(_ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
        rules = self.folder / "dashboards/rules"  # which are found beside the folder `deploy`
        if not rules.exists():
            rules.mkdir(parents=True)
            for each in (_DASHBOARDS / "rules").glob("*.yml"):
                (rules / each.name).write_text(self._text(each))
        return copy

    def _text(self, file: Path) -> str:
        """A configuration, with our ports."""
        text = file.read_text()
        for ours, usual in zip(self.ports, Ports(), strict=True):
            text = text.replace(f"127.0.0.1:{usual}", f"127.0.0.1:{ours}")
        return text

    def _run_grafana(self, binary: Path) -> None:
        home = binary.resolve().parent.parent
        if not (home / "conf/defaults.ini").exists():
            home = Path("/usr/share/grafana")  # where packages put it
        data = self.folder / "grafana"
        provisioning = _DASHBOARDS / "grafana"
        if self.ports.prometheus != Ports().prometheus:
            source = provisioning / "datasources/prometheus.yaml"
            copied = shutil.copytree(provisioning, self.folder / "provisioning")
            (copied / source.relative_to(provisioning)).write_text(self._text(source))
            provisioning = copied
        variables = {
            "GF_PATHS_PROVISIONING": str(provisioning),
            "GF_PATHS_DATA": str(data),
            "GF_PATHS_LOGS": str(data / "log"),
            "GF_PATHS_PLUGINS": str(data / "plugins"),
            "GF_SERVER_HTTP_ADDR": "127.0.0.1",
            "GF_SERVER_HTTP_PORT": str(self.ports.grafana),
        }
        config = _DEPLOY / "grafana/grafana.ini"
        command = [str(binary), "server", "--homepath", str(home), "--config", str(config)]
        self._run("grafana", command, variables)

    def _run(
        self, name: str, command: Sequence[str], variables: dict[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        with self.log(name).open("ab") as log:
            process = subprocess.Popen(
                command,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=_ROOT,
                env={**os.environ, **(variables or {})},
                start_new_session=True,  # Ctrl-C is for us alone
            )
        self._stack.callback(stop, process)
        return process

    def log(self, name: str) -> Path:
        """What a process says."""
        return self.folder / f"{name}.log"


def _make(brokers: str, topic: str) -> None:
    """Make a topic."""
    from kafka.admin import KafkaAdminClient, NewTopic

    with closing(KafkaAdminClient(bootstrap_servers=brokers)) as boss:
        boss.create_topics([NewTopic(topic, _PARTITIONS, 1)])


def stop(process: "subprocess.Popen[bytes]") -> None:
    """End a process, in good order if it is able to."""
    process.send_signal(signal.SIGCONT)
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _taken(ports: Ports) -> list[int]:
    """The ports that somebody listens at."""
    found = []
    for port in ports:
        with socket.socket() as each:
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                each.bind(("127.0.0.1", port))
            except OSError:
                found.append(port)
    return found


def free(ports: Ports) -> Ports:
    """The usual ports, or others in the place of those that are taken."""
    taken = _taken(ports)
    return Ports(*(free_ports(1)[0] if port in taken else port for port in ports))


def serve(rate: int, drift_seconds: float, any_ports: bool, timetable: Timetable) -> int:
    """Run all of it until Ctrl-C; the exit code. Its data goes with it."""
    for number in (
        signal.SIGINT,
        signal.SIGTERM,
    ):  # the first is ignored in what a script began in the background
        signal.signal(number, signal.default_int_handler)
    ports, grafana = free(Ports()), shutil.which("grafana")
    if any_ports:
        ports = Ports(*free_ports(len(ports)))
    print(
        "starting Kafka (which Maven fetches first), a daemon, a producer and Prometheus ...",
        flush=True,
    )
    try:
        with (
            tempfile.TemporaryDirectory(prefix="stream-rank-live-") as folder,
            Live(Path(folder), ports, rate, drift_seconds, grafana) as live,
        ):
            seen = (
                f"http://127.0.0.1:{ports.grafana}"
                if grafana
                else "not started: no grafana on the PATH"
            )
            print(
                f"  Kafka       127.0.0.1:{ports.kafka}, topic ratings: {rate:,} events/s, a drift every {drift_seconds:g} s\n"
                f"  daemon      http://127.0.0.1:{ports.daemon}/status\n"
                f"  Prometheus  {live.prometheus.page('alerts')}\n"
                f"  Grafana     {seen}\n"
                f"Logs are in {folder}. Ctrl-C stops all of it.",
                flush=True,
            )
            while True:
                for said in (live.tend(), timetable.turn(live)):
                    if said:
                        print(time.strftime("%H:%M:%S"), said, flush=True)
                time.sleep(1)
    except KeyboardInterrupt:
        print("stopped")
        return 0
    except (NoKafkaError, NoPrometheusError, RuntimeError) as error:
        print(error)
        return 1
