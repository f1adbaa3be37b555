"""What is deployed, as far as it can be judged without an engine of containers: by the tools that read it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from dashboards.__main__ import IN_KUBERNETES, PAGE, RULES, in_kubernetes, runbook_page
from dashboards.links import LEADS, RUNBOOK
from simulators.live import Ports
from stream_rank.config.daemon import DaemonConfig
from stream_rank.config.gather import from_environment, gather
from stream_rank.config.spark import SparkConfig

DEPLOY = Path("deploy")
TOOLS = Path("build/tools")
"""Where `.ci/run` puts what it installs."""


def tool(name: str, *arguments: Any, given: str = "", **variables: str) -> str:
    """What a tool says; it must be content."""
    path = shutil.which(name, path=f"{os.environ['PATH']}:{TOOLS.resolve()}")
    if path is None:
        pytest.skip(f"there is no {name}")
    done = subprocess.run(
        [path, *map(str, arguments)],
        input=given,
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def composed() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return content


def test_compose_can_read_its_file() -> None:
    text = tool("docker-compose", "--file", DEPLOY / "compose.yaml", "config")
    assert yaml.safe_load(text)["services"].keys() == composed()["services"].keys()


def test_what_compose_mounts_is_there() -> None:
    named = composed()["volumes"].keys()
    for name, service in composed()["services"].items():
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert source in named or (DEPLOY / source).exists(), (name, volume)
        for each in service.get("depends_on", ()):
            assert each in composed()["services"]


def test_compose_confines_what_is_ours_and_opens_nothing_to_others() -> None:
    for name, service in composed()["services"].items():
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:"), (name, port)
        if service["image"] == "stream-rank":
            assert service["read_only"]
            assert service["cap_drop"] == ["ALL"]
        assert not service["image"].endswith(":latest")


def test_all_files_agree_on_where_everything_listens() -> None:
    ports = Ports()
    config = gather(DaemonConfig, {}, DEPLOY / "stream-rank.toml", {})
    assert config.bootstrap_servers == [f"127.0.0.1:{ports.kafka}"]
    assert config.port == ports.daemon
    assert f'"127.0.0.1:{ports.daemon}"' in (DEPLOY / "prometheus/prometheus.yml").read_text()
    source = yaml.safe_load(Path("dashboards/grafana/datasources/prometheus.yaml").read_text())
    assert source["datasources"][0]["url"] == f"http://127.0.0.1:{ports.prometheus}"
    collector = yaml.safe_load((DEPLOY / "opentelemetry.yaml").read_text())
    (job,) = collector["receivers"]["prometheus"]["config"]["scrape_configs"]
    assert job["static_configs"] == [{"targets": [f"127.0.0.1:{ports.daemon}"]}]
    (piped,) = collector["service"]["pipelines"].values()
    for kind, names in piped.items():
        assert set(names) == collector[kind].keys()
    scrape = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())["global"]
    assert source["datasources"][0]["jsonData"]["timeInterval"] == scrape["scrape_interval"]
    kafka = composed()["services"]["kafka"]["environment"]
    assert kafka["KAFKA_ADVERTISED_LISTENERS"].endswith(f"127.0.0.1:{ports.kafka}")


@pytest.mark.parametrize("file", ["stream-rank.toml", "kubernetes/stream-rank.toml"])
def test_settings_can_be_and_are_said_as_the_daemon_reads_them(file: str) -> None:
    config = gather(DaemonConfig, {}, DEPLOY / file, {})
    assert config.out.is_relative_to("/var/lib/stream-rank")


def test_the_unit_can_be_started(tmp_path: Path) -> None:
    unit = (DEPLOY / "stream-rank.service").read_text()
    there = unit.replace("/opt/stream-rank/bin/stream-rank", shutil.which("true") or "/bin/true")
    assert there != unit
    path = tmp_path / "stream-rank.service"
    path.write_text(there)
    assert tool("systemd-analyze", "verify", path).strip() == ""
    said = tool("systemd-analyze", "security", "--offline=true", path)
    (exposure,) = re.findall(r"Overall exposure level.*: ([\d.]+)", said)
    assert float(exposure) < 2.0, said


def test_the_manifests_can_be_built_and_score_well() -> None:
    built = tool("kustomize", "build", DEPLOY / "kubernetes")
    said = tool("kube-score", "score", "--output-format", "ci", "-", given=built)
    assert "[CRITICAL]" not in said
    assert "[WARNING]" not in said
    kinds = {each["kind"]: each for each in yaml.safe_load_all(built)}
    pod = kinds["StatefulSet"]["spec"]["template"]["spec"]
    (daemon,) = pod["containers"]
    config = gather(DaemonConfig, {}, DEPLOY / "kubernetes/stream-rank.toml", {})
    assert daemon["ports"] == [{"name": "metrics", "containerPort": config.port}]
    assert pod["terminationGracePeriodSeconds"] > config.stop_seconds
    chosen = kinds["PodMonitor"]["spec"]["selector"]["matchLabels"].items()
    assert chosen <= kinds["StatefulSet"]["spec"]["template"]["metadata"]["labels"].items()
    from_environment({each["name"]: each["value"] for each in daemon.get("env", ())}, DaemonConfig)


def test_the_image_has_all_that_it_copies() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    kept = [
        line[1:]
        for line in Path("deploy/Dockerfile.dockerignore").read_text().splitlines()
        if line[:1] == "!"
    ]
    for line in re.findall(r"^COPY (?!--from)(.*)$", text, re.MULTILINE):
        *sources, _ = line.split()
        for source in sources:
            assert Path(source).exists(), source
            assert source in kept, f"{source} is not let into the build"
    assert "USER 10001" in text
    pins, all_pins = (
        set(re.findall(r"^\S+==\S+", Path(file).read_text(), re.MULTILINE))
        for file in ("deploy/requirements.lock", "requirements.lock")
    )
    assert pins
    assert pins <= all_pins, "run `make lock`"
    assert "stream-rank warm" in text


def _compiled(command: list[Any], given: bytes = b"") -> set[bytes]:
    """The compiled code that a command takes from the cache, or puts there."""
    done = subprocess.run(
        command,
        input=given,
        env={**os.environ, "NUMBA_DEBUG_CACHE": "1"},
        check=True,
        stdout=subprocess.PIPE,
    )
    return set(re.findall(rb"^\[cache\] data (?:loaded from|saved to) (.*)$", done.stdout, re.M))


@pytest.mark.long(90)
def test_what_is_warmed_is_all_that_the_demonstration_compiles(tmp_path: Path) -> None:
    """A daemon of the same settings needs nothing beside it. The cache is everyone's: others need what is compiled here."""
    python, line = sys.executable, b'{"x": {"a": 1.5, "b": -0.5}, "y": 2}\n'
    warmed = _compiled([python, "-m", "stream_rank", "warm"])
    learners = gather(DaemonConfig, {}, DEPLOY / "stream-rank.toml", {}).learners
    flags = [flag for learner in learners for flag in ("--learner", learner)]
    replay = [python, "-m", "stream_rank", "replay", "-", "--n-ranks", "5", *flags]
    needed = _compiled([*replay, "--out", tmp_path / "run"], line * 3_000)
    assert needed
    assert needed <= warmed


def test_the_runbook_is_served_where_alerts_lead() -> None:
    assert PAGE.read_text() == runbook_page(), "run `make dashboards`"
    address, _, path = RUNBOOK.partition("/user/")
    assert address == f"http://127.0.0.1:{Ports().prometheus}"
    assert path == PAGE.name
    command = composed()["services"]["prometheus"]["command"]
    assert f"--web.user-assets=/stream-rank/{PAGE.parent.relative_to(Path.cwd())}" in command
    anchors = set(re.findall(r'id="([^"]*)"', PAGE.read_text()))
    assert {alert.lower() for alert in LEADS} <= anchors
    assert set(re.findall(r'href="#([^"]*)"', PAGE.read_text())) <= anchors


def test_consequences_are_inhibited() -> None:
    """By Alertmanager's rules, as it reads them: of what may fire at once, what is told."""
    told = {
        ("StreamRankDown", "StreamRankStuck", "StreamRankRejects"): {"StreamRankDown"},
        (
            "StreamRankKafkaUnreachable",
            "StreamRankNotReady",
            "StreamRankSnapshotOld",
            "StreamRankRejects",
        ): {
            "StreamRankKafkaUnreachable",
            "StreamRankRejects",
        },
        ("StreamRankSnapshotsFail", "StreamRankSnapshotOld"): {"StreamRankSnapshotsFail"},
        ("StreamRankDiverged", "StreamRankLossHigh"): {"StreamRankDiverged"},
        ("StreamRankLagging", "StreamRankLossHigh"): {"StreamRankLagging", "StreamRankLossHigh"},
    }
    rules = yaml.safe_load((DEPLOY / "prometheus/alertmanager.yml").read_text())["inhibit_rules"]
    for firing, wanted in told.items():
        assert set(firing) <= LEADS.keys()
        inhibited = {
            target
            for rule in rules
            if any(_matches(source, rule["source_matchers"]) for source in firing)
            for target in firing
            if _matches(target, rule["target_matchers"])
        }
        assert set(firing) - inhibited == wanted
        assert all(rule["equal"] == ["job", "instance"] for rule in rules)


def _matches(alert: str, matchers: list[str]) -> bool:
    for each in matchers:
        found = re.fullmatch(r'alertname(=~|!=|=)"(.*)"', each)
        assert found, each
        same = re.fullmatch(found[2], alert) is not None
        if same == (found[1] == "!="):
            return False
    return True


def test_grafana_finds_the_folders_that_it_looks_for() -> None:
    """Of those that are not there it complains at every start."""
    there = {each.name for each in Path("dashboards/grafana").iterdir() if each.is_dir()}
    assert there == {"alerting", "dashboards", "datasources", "plugins"}


def test_kubernetes_has_the_rules() -> None:
    assert IN_KUBERNETES.read_text() == in_kubernetes(), "run `make dashboards`"
    there = yaml.safe_load(IN_KUBERNETES.read_text())["spec"]
    assert there == yaml.safe_load(RULES.read_text())


def test_the_manifest_for_spark_can_be_built_and_scores_well() -> None:
    built = tool("kustomize", "build", DEPLOY / "spark")
    said = tool("kube-score", "score", "--output-format", "ci", "-", given=built)
    assert "[CRITICAL]" not in said
    assert "[WARNING]" not in said
    kinds = {each["kind"]: each for each in yaml.safe_load_all(built)}
    job = kinds["SparkApplication"]["spec"]
    config = gather(SparkConfig, {}, DEPLOY / "spark/stream-rank-spark.toml", {})
    assert [each["containerPort"] for each in job["driver"]["ports"]] == [config.port]
    cores = job["executor"]["instances"] * job["executor"]["cores"]
    assert job["sparkConf"]["spark.sql.shuffle.partitions"] == str(cores)
    for pod in (job["driver"], job["executor"]):
        assert pod["securityContext"]["readOnlyRootFilesystem"]
        assert pod["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    pom = Path("simulators/spark/pom.xml").read_text()
    for jar in config.spark["spark.jars"].split(","):
        name, version = re.fullmatch(r".*/(.+)-([\d.]+)\.jar", jar).groups()  # type: ignore[union-attr]
        assert f"<artifactId>{name}</artifactId>\n      <version>{version}</version>" in pom
    assert f"pyspark=={job['sparkVersion']} " in (DEPLOY / "spark.lock").read_text()
