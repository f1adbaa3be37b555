"""A real Kafka on loopback: nodes that can be started, stopped, killed and frozen."""

import argparse
import base64
import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from simulators.arguments import whole
from simulators.maven import NoJarsError, alone, fetched

__all__ = ["STEADY", "Kafka", "NoKafkaError", "add", "free_ports", "jars", "run", "serve"]

_READY = "Kafka Server started"
_PATIENCE = 60.0
"""Seconds for a node to start on a busy machine."""
_SOON_THERE = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""A node is there in half the time with little compiling, and has one processor or two as a rule."""
_FIRST_PORT, _SOME_PORTS = 20_000, 12_000
"""Below those that the system gives to whoever wants any."""
_PORTS = (_FIRST_PORT + (os.getpid() * 1_009 + i) % _SOME_PORTS for i in itertools.count())
"""Each process begins elsewhere, and takes the next one: what is given out may be bound much later."""


class NoKafkaError(Exception):
    """There is no Java, or no Maven, to run Kafka by."""


def jars() -> Path:
    """The folder with Kafka's jars, fetched by Maven when they are not there yet."""
    try:
        return fetched("kafka")
    except NoJarsError as error:
        raise NoKafkaError(str(error)) from None


def classes() -> list[str]:
    """Java's flag for Kafka's classes as they were loaded once, which spares every node half of its work to start.

    None where they could not be kept. The first node that is ever started here is one that says which they are.
    """
    java = Path(shutil.which("java") or "java").resolve()
    if not java.exists():
        return []
    # those of another Java are of no use to it
    archive = jars().with_name(f"classes-{java.stat().st_ino}-{java.stat().st_mtime_ns}.jsa")
    if not archive.exists():
        with alone(archive):
            if not archive.exists():
                _keep_classes(archive)
    # without a word, and without them, where it cannot use them
    return [f"-XX:SharedArchiveFile={archive}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]


def _keep_classes(archive: Path) -> None:
    partly = archive.with_name(f"{archive.name}-{os.getpid()}")
    with tempfile.TemporaryDirectory(prefix="stream-rank-kafka-") as folder:
        kafka = Kafka(Path(folder), java=())
        kafka._java.append(f"-XX:ArchiveClassesAtExit={partly}")  # of the node alone
        with kafka:
            kafka.end()
    if partly.exists():
        partly.rename(archive)


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens at, and that nobody is given who asks for any; none comes twice."""
    found: list[int] = []
    while len(found) < count:
        port = next(_PORTS)
        with socket.socket() as each, suppress(OSError):
            each.bind(("127.0.0.1", port))
            found.append(port)
    return found


STEADY = {"broker.session.timeout.ms": 60_000}
"""Of a node that nobody kills: on a busy machine it may say nothing for some seconds, and need not be taken for dead."""


class Kafka:
    """Nodes that are brokers and controllers both, with their data below a folder."""

    def __init__(
        self,
        folder: Path,
        nodes: int = 1,
        properties: Mapping[str, object] | None = None,
        ports: Sequence[int] = (),
        listener: str = "PLAINTEXT",
        users: Mapping[str, str] | None = None,
        memory: int = 512,
        lasting: bool = False,
        java: Sequence[str] | None = None,
    ) -> None:
        """`listener` is the protocol that clients speak; `users` have passwords for SCRAM-SHA-256.

        A `lasting` one takes longer to start, and has more throughput some minutes later; for all others, `java` are
        flags in the place of Kafka's classes that are kept.
        """
        self._folder, self._memory, self._listener = folder, memory, listener
        self._users = users or {}
        self._java = ["java"]
        if not lasting:
            self._java += [*_SOON_THERE, *(classes() if java is None else java)]
        free = free_ports(3 * nodes)  # at once, so that no two are the same
        self.ports = list(ports) or free[:nodes]
        self._inner, self._controllers = free[nodes : 2 * nodes], free[2 * nodes :]
        self._more = properties or {}
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._classpath = f"{jars()}/*"
        self._format()

    @property
    def address(self) -> str:
        """For clients."""
        return ",".join(f"127.0.0.1:{port}" for port in self.ports)

    def _properties(self, node: int) -> dict[str, object]:
        count = len(self.ports)
        voters = ",".join(f"{i + 1}@127.0.0.1:{port}" for i, port in enumerate(self._controllers))
        quorum = (
            {"controller.quorum.voters": voters}
            if count > 1
            else {"controller.quorum.bootstrap.servers": f"127.0.0.1:{self._controllers[0]}"}
        )
        inner, outer = f"127.0.0.1:{self._inner[node]}", f"127.0.0.1:{self.ports[node]}"
        return {
            "process.roles": "broker,controller",
            "node.id": node + 1,
            **quorum,
            "listeners": f"INNER://{inner},CLIENTS://{outer},CONTROLLER://127.0.0.1:{self._controllers[node]}",
            "advertised.listeners": f"INNER://{inner},CLIENTS://{outer}",
            "listener.security.protocol.map": f"INNER:PLAINTEXT,CONTROLLER:PLAINTEXT,CLIENTS:{self._listener}",
            "inter.broker.listener.name": "INNER",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": self._data(node),
            "offsets.topic.num.partitions": 4,
            "offsets.topic.replication.factor": count,
            "transaction.state.log.replication.factor": count,
            "transaction.state.log.min.isr": 1,
            "default.replication.factor": count,
            "min.insync.replicas": min(2, count),
            # a node that was killed may come again, and another lead for it, only when its session is over
            "broker.session.timeout.ms": 4_000,
            "broker.heartbeat.interval.ms": 500,
            # an idle node would write something every half second, which is half of its work
            "metadata.max.idle.interval.ms": 0,
            "group.initial.rebalance.delay.ms": 0,
            "group.min.session.timeout.ms": 1000,
            "auto.create.topics.enable": False,
            "message.max.bytes": 20_000_000,
            "replica.fetch.max.bytes": 20_000_000,
            **self._more,
        }

    def _data(self, node: int) -> Path:
        return self._folder / f"node-{node + 1}"

    def _file(self, node: int) -> Path:
        return self._folder / f"node-{node + 1}.properties"

    def _format(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        some = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        made = f"K{some[1:]}"  # with a - before it, it would be a flag
        for node in range(len(self.ports)):
            lines = (f"{name}={value}\n" for name, value in self._properties(node).items())
            self._file(node).write_text("".join(lines))
            flags = ["--standalone"] if len(self.ports) == 1 else []
            for user, password in self._users.items():
                flags += ["--add-scram", f"SCRAM-SHA-256=[name={user},password={password}]"]
            self._tool("format", *flags, "-t", made, "-c", str(self._file(node)))

    def _tool(self, *arguments: str) -> None:
        tool = [*self._java, "-cp", self._classpath, "kafka.tools.StorageTool", *arguments]
        done = subprocess.run(tool, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"Kafka's storage: {done.stdout[-1000:]}{done.stderr[-1000:]}")

    # Life -----------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, *nodes: int) -> None:
        """Start some nodes, or all of them; return when they answer."""
        which = nodes or tuple(range(len(self.ports)))
        try:
            logs = {node: self._launch(node) for node in which}
            until = time.monotonic() + _PATIENCE
            for node, log in logs.items():
                while _READY not in log.read_text(errors="replace"):
                    if self._processes[node].poll() is not None or time.monotonic() > until:
                        raise RuntimeError(f"Kafka did not start: {log.read_text()[-2000:]}")
                    time.sleep(0.1)
        except BaseException:
            self.stop()
            raise

    def _launch(self, node: int) -> Path:
        """Start a node; the file of what it says."""
        log_file = self._folder / f"node-{node + 1}-{time.monotonic_ns()}.log"
        java = [*self._java, f"-Xmx{self._memory}m", "-cp", self._classpath]
        with log_file.open("wb") as log:
            self._processes[node] = subprocess.Popen(
                [*java, "kafka.Kafka", str(self._file(node))],
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for us alone
            )
        return log_file

    def kill(self, node: int = 0) -> None:
        """As when the power fails."""
        process = self._processes.pop(node)
        process.kill()
        process.wait()

    def freeze(self, frozen: bool, node: int = 0) -> None:
        """Stop a node from doing anything, or let it go on."""
        self._processes[node].send_signal(signal.SIGSTOP if frozen else signal.SIGCONT)

    def heal(self) -> None:
        """Have all nodes run that were killed or frozen."""
        for process in self._processes.values():
            process.send_signal(signal.SIGCONT)
        killed = [node for node in range(len(self.ports)) if node not in self._processes]
        if killed:
            self.start(*killed)

    def end(self) -> None:
        """Have all nodes stop by themselves."""
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.wait()

    def stop(self) -> None:
        """Stop all nodes; their data is of no use any more."""
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait()
        self._processes.clear()


def serve(port: int) -> int:
    """Run one node for trying things, until Ctrl-C; its data goes with it."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with tempfile.TemporaryDirectory(prefix="stream-rank-kafka-") as folder:
            print(
                "starting Kafka; Maven fetches it first where it is not there yet ...", flush=True
            )
            with Kafka(Path(folder), 1, {"auto.create.topics.enable": True}, ports=[port]) as kafka:
                print(
                    f"Kafka is at {kafka.address}, for stream-rank produce and run; Ctrl-C stops it",
                    flush=True,
                )
                signal.pause()
    except KeyboardInterrupt:
        print("stopped")
    except (NoKafkaError, RuntimeError) as error:
        print(error)
        return 1
    return 0


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("--port", type=whole, default=9092, help="(%(default)s)")


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    return serve(given.port)
