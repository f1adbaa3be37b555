"""Any amount of input, in the same memory. `make soak` pipes 10 GB; CI does the same with one."""

import os
import subprocess
from pathlib import Path

import pytest

from stream_rank.datasets.oap_stream import OAPStream
from stream_rank.ingest.files.json_rows import as_json
from tests.cli.conftest import command, summary_of

BYTES = 10_000_000_000 if os.environ.get("SOAK") else 1_000_000_000


def resident(process: int) -> int:
    """Bytes of memory that a process has in use."""
    status = Path(f"/proc/{process}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def test_memory_does_not_grow(tmp_path: Path) -> None:
    X, y = OAPStream(seed=1, features="quadratic").arrays(10_000)
    names = [f"x{i}" for i in range(6)]
    rows = zip(X.tolist(), y.tolist(), strict=True)
    block = b"".join(as_json(names, row, rank) + b"\n" for row, rank in rows)
    flags = ("--n-ranks", 5, "--learner", "oap-bpm", "--snapshot-seconds", 1, "--out", tmp_path)
    with subprocess.Popen(
        command("replay", "-", *flags), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:  # fmt: skip
        assert process.stdin is not None
        blocks, measured = BYTES // len(block), []
        for number in range(blocks):
            process.stdin.write(block)
            if number % max(1, blocks // 20) == 0:
                measured.append(resident(process.pid))
        process.stdin.close()
        assert process.wait() == 0
    early, late = max(measured[3:8]), max(measured[-5:])
    assert late < early + 16e6, [f"{size / 1e6:.0f} MB" for size in measured]
    assert summary_of(tmp_path)["learned"] == blocks * 10_000


def test_proc_is_there() -> None:
    """Where it is not, the test above could not fail."""
    if not Path("/proc/self/status").exists():
        pytest.skip("no /proc on this system")
    assert resident(os.getpid()) > 10e6
