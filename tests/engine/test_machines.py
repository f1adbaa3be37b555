"""Another processor, another run: the same bits."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import hashlib, numpy as np
from stream_rank import (
    OAPBPM, OAPVP, M1D, OnlineMPRank, PairwiseRanker, Polynomial, RecursiveMPRank, WidrowHoff
)
digest = hashlib.sha256()
generator = np.random.default_rng(0)
for n_features in (6, 45):
    X = generator.normal(size=(400, n_features))
    y = generator.integers(1, 6, 400)
    for model in (OAPBPM(5, 30, seed=1), OAPVP(5, 30, seed=1, dtype="float32"), WidrowHoff(5)):
        digest.update(np.asarray(model.test_then_train(X, y)).tobytes())
        digest.update(model._model.memory["weights"].tobytes())
    for model in (
        RecursiveMPRank(forgetting=0.99), OnlineMPRank(budget=90, revisits=2),
        OnlineMPRank(budget=90, revisits=2, kernel=Polynomial(2, 1.0)), PairwiseRanker(seed=1),
    ):
        scores = model.test_then_train(X, y, group=y % 2)
        digest.update(np.asarray(scores).tobytes())
        metric = M1D()
        for label, score in zip(y, scores):
            metric.update(label, score)
        digest.update(np.float64(metric.get()).tobytes())
print(digest.hexdigest())
"""


def run(**environment: str) -> str:
    """The digest that a machine prints. What is compiled for it is kept under its name, beside that for others."""
    variables = {**os.environ, **environment}
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=variables,
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    return result.stdout.strip()


@pytest.fixture(scope="module")
def here() -> str:
    return run()


@pytest.mark.long(60)
@pytest.mark.parametrize(
    "machine",
    [
        {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+sse2"},
        {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma"},
    ],
    ids=["x86-64", "AVX2"],
)
def test_narrower_machines_give_the_same_bits(here: str, machine: dict[str, str]) -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("these are processors of another kind than this one")
    assert run(**machine) == here
    assert len(here) == hashlib.sha256().digest_size * 2
