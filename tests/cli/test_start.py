"""What the command line imports before it knows what is wanted, and what it says of settings."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stream_rank import errors
from stream_rank.cli.exit_codes import MEANINGS, ExitCode, code_of
from stream_rank.learners.catalogue import LEARNERS
from stream_rank.learners.names import LEARNER_NAMES
from tests.cli.conftest import in_process

HEAVY = ("river", "numba", "numpy", "pyarrow", "kafka", "confluent_kafka", "prometheus_client", "rich")  # fmt: skip
PROGRAM = """
import sys
from stream_rank.cli.main import main
try:
    main(sys.argv[2:])
except SystemExit as ended:
    assert not ended.code, ended.code
print("imported:", [name for name in sys.argv[1].split() if name in sys.modules])
"""


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["--version"], [*HEAVY, "pydantic"]),
        (["--help"], [*HEAVY, "pydantic"]),
        (["snapshot", "--help"], [*HEAVY, "pydantic"]),
        (["schema", "--help"], [*HEAVY, "pydantic"]),
        (["replay", "--help"], HEAVY),
        (["run", "--help"], HEAVY),
        (["dead-letters", "list", "--help"], HEAVY),
        (["predict", "--help"], HEAVY),
        (["run", "--topic=t", "--out=o", "--print-config"], HEAVY),
    ],
    ids=" ".join,
)
def test_help_waits_for_nothing_heavy(arguments: list[str], unwanted: list[str]) -> None:
    """Modules are counted, and no time is measured: the first takes 0.05 s, and River and Numba take a second."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, " ".join(unwanted), *arguments],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "imported: []"


def test_a_replay_needs_little_of_what_is_installed(tmp_path: Path) -> None:
    """All of River's metrics or datasets bring in half of SciPy, pandas and scikit-learn: a second at every start."""
    unwanted = ["river.metrics", "river.stream", "scipy.stats", "pandas", "sklearn", "pyarrow"]
    learners = ["--learner=prank", "--learner=online-mprank:budget=20"]
    program = "import stream_rank.runtime.daemon\n" + PROGRAM
    flags = ["synthetic:20", "--n-ranks=5", *learners, f"--out={tmp_path / 'out'}"]
    done = subprocess.run(
        [sys.executable, "-c", program, " ".join(unwanted), "replay", *flags],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "imported: []"


def test_the_names_of_learners_are_those_of_the_catalogue() -> None:
    assert tuple(LEARNERS) == LEARNER_NAMES


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        (["rply"], "'replay'"),
        (["dead-leters", "list"], "'dead-letters'"),
        (["replay", "--leaner", "prank"], "'--learner'"),
        (["dead-letters", "list", "--grup-id", "g"], "'--group-id'"),
        (["run", "--brokers", "a:1"], "'--bootstrap-servers'"),
        (["run", "--tls"], "'--security-protocol'"),
        (["run", "--sasl", "PLAIN"], "'--sasl-mechanism'"),
        (["run", "--lost", "earliest"], "'--on-lost-offsets'"),
        (["replay", "--damaged", "older"], "'--on-corrupt-snapshot'"),
        (["replay", "--keep", "3"], "'--snapshots-kept'"),
        (["run", "--session-seconds", "6"], "'--session-timeout-seconds'"),
        (["run", "--username", "ann"], "'--sasl-username'"),
        (["run", "--token-file", "x"], "'--sasl-oauth-token-file'"),
    ],
)
def test_the_nearest_name_is_told(
    arguments: list[str], nearest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, error = in_process(capsys, *arguments)
    assert (code, f"did you mean {nearest}?" in error) == (2, True), error


def test_help_lists_commands_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = in_process(capsys, "--help")
    assert code == 0
    for name in ("replay", "run", "produce", "dead-letters", "predict", "snapshot", "schema"):
        assert f"\n    {name}" in out
    for number, meaning in MEANINGS.items():
        assert f"{number.value:3}  {meaning}" in out


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("run", "--on-lost-offsets {fail,earliest,latest}"),
        ("run", "--start {earliest,latest}"),
        ("run", "--on-corrupt-snapshot {refuse,older}"),
        ("run", "--security-protocol {PLAINTEXT,SSL,SASL_PLAINTEXT,SASL_SSL}"),
        ("run", "--log {json,text}"),
        ("replay", "--on-corrupt-snapshot {refuse,older}"),
        ("replay", "--format {jsonl,csv,parquet,arrow,avro}"),
    ],
)
def test_help_shows_what_there_is_to_choose(
    command: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"\n  {shown}" in in_process(capsys, command, "--help")[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["replay", "--out", "o"], "FILE is needed"),
        (["replay", "f", "--out", "o", "--n-ranks", "1"], "--n-ranks: "),
        (["replay", "f", "--out", "o", "--fields", "y"], "--fields: "),
        (["replay", "f", "--out", "o", "--window", "0"], "--window: "),
        (["run", "--topic", "a", "--topic", "a", "--out", "o"], "--topic, --dead-letters and "),
        (["run", "--topic", "a", "--out", "o", "--start", "no"], "--start: "),
        (["run", "--topic", "a", "--out", "o", "--sasl-mechanism", "PLAIN"], "needs --security-protocol"),
        (["run", "--topic", "a", "--out", "o", "--kafka", "fetch_max_byte=1"], "'fetch_max_bytes'"),
        (["run", "--topic", "a", "--out", "o", "--kafka", "group_id=1"], "use --group-id"),
        (["run", "--topic", "a", "--out", "o", "--kafka", "ssl_password=1"], "others can see flags"),
        (["dead-letters", "list"], "--dead-letters"),
    ],
)  # fmt: skip
def test_errors_speak_of_flags(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, error = in_process(capsys, *arguments)
    assert code == 2
    assert said in error
    assert len(error.splitlines()) == 1


def test_what_is_passed_on_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["run", "--topic=t", "--out=o", "--kafka", "fetch_max_bytes=1000000", "--print-config"]
    code, out, _ = in_process(capsys, *flags, "--kafka", "client_id=me")
    assert code == 0
    assert json.loads(out)["kafka"] == {"fetch_max_bytes": 1_000_000, "client_id": "me"}


def test_a_config_that_cannot_be_opened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (tmp_path / "none.toml", tmp_path, f"{tmp_path}/nul\0.toml"):
        code, _, error = in_process(capsys, "replay", "--config", path)
        assert (code, "cannot be read" in error, len(error.splitlines())) == (2, True, 1)


def _errors(kind: type[errors.StreamRankError]) -> list[type[errors.StreamRankError]]:
    return [kind, *(each for child in kind.__subclasses__() for each in _errors(child))]


def test_every_error_has_an_exit_code() -> None:
    known = [each for each in _errors(errors.StreamRankError) if each.__module__ == errors.__name__]
    for kind in known:
        if kind not in (errors.StreamRankError, errors.RecoverableError):
            code = code_of(kind.__new__(kind))
            assert code not in (None, ExitCode.DONE, ExitCode.BUG), kind
    assert code_of(errors.LostOffsetsError("gone")) == ExitCode.KAFKA
    assert code_of(errors.SnapshotWriteError("full")) == ExitCode.OUTPUT
    assert code_of(errors.SnapshotReadError("away")) == ExitCode.OUTPUT
    assert code_of(errors.SnapshotError("damaged")) == ExitCode.SNAPSHOT
    assert code_of(KeyError("x")) is None
