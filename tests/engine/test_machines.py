"""Another processor, another run: the same bits."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LEARNERS = """
import hashlib, json, numpy as np
from stream_rank import OAPBPM, OAPVP, M1D, MSD, OnlineMPRank, PairwiseRanker, Polynomial, PolynomialFeatures, RecursiveMPRank, VotedPRank, WidrowHoff, average

digests = {}
def note(name, *numbers):
    known = digests.setdefault(name, hashlib.sha256())
    for each in numbers:
        known.update(np.asarray(each, np.float64).tobytes())

generator = np.random.default_rng(0)
for n_features in (6, 45):
    X = generator.normal(size=(400, n_features))
    y = generator.integers(1, 6, 400)
    for model in (
        OAPBPM(5, 30, seed=1), OAPVP(5, 30, seed=1, dtype="float32"), VotedPRank(5), WidrowHoff(5)
    ):
        name = type(model).__name__
        note(name, model.test_then_train(X, y), [*model.weights.values()])
        digests[name].update(model._model.memory["weights"].tobytes())
        if hasattr(model, "vote_many"):
            note(name, model.vote_many(X), model.vote_one(dict(enumerate(X[0]))), model.thresholds)
    groups = y % 2
    for model in (
        RecursiveMPRank(forgetting=0.99), RecursiveMPRank(C=3.0, forgetting=0.99),
        OnlineMPRank(budget=90, revisits=2),
        OnlineMPRank(budget=90, revisits=2, kernel=Polynomial(2, 1.0)), PairwiseRanker(seed=1),
    ):
        name = type(model).__name__
        scores = model.test_then_train(X, y, group=groups)
        note(name, scores)
        for memory in model._model.memories().values():
            for section in memory.kept().values():
                digests[name].update(section.tobytes())
        if name == "RecursiveMPRank":
            note(name, model.bias)
        for metric in (M1D(), MSD()):
            for label, score in zip(y, scores):
                metric.update(label, score)
            note("metrics", metric.get())

# what learned apart, in one
for model in (OAPBPM(5, 30, seed=1), RecursiveMPRank(), RecursiveMPRank(C=3.0)):
    parts = [model.clone() for _ in range(3)]
    for number, part in enumerate(parts):
        part.learn_many(X[number::3], y[number::3])
    for memory in average(parts)._model.memories().values():
        for section in memory.kept().values():
            note("averages", section)

# features that are equal, and features that depend on others
for C in (1.0, 1e8, 1e12):
    X = generator.normal(size=(200, 12))
    X = np.column_stack([X, X[:, :3], X[:, 0] + X[:, 1] - X[:, 2], 1e3 * X[:, 5]])
    model = RecursiveMPRank(C=C)
    model.learn_many(X, X[:, 0] + generator.normal(size=200))
    note("dependent features", [*model.weights.values()], model.bias, model.predict_many(X))

note("maps", PolynomialFeatures(3).matrix(X[:, :4]))

"""
SAY = "print(json.dumps({name: digest.hexdigest() for name, digest in digests.items()}))"
EVALUATION = """
from stream_rank.evaluation.probe import probe
from tests.pipeline.conftest import ALL, feed, loop_of, mixed

# what a replay prints and keeps
loop = loop_of([*ALL, "oap-vp", "recursive-mprank:C=2.5"], n_ranks=5)
feed(loop, mixed(1500), [400])
rows, labels = loop.last_ratings
for each in loop.contestants:
    seen = probe(each, rows, labels)
    text = repr((seen, sorted(map(str, each.insight().weights.items()))))
    digests.setdefault("probes", hashlib.sha256()).update(text.encode())
for board in loop.scoreboard.boards.values():
    text = json.dumps([board.summary(), board.loss_sum, board.described()], sort_keys=True)
    digests.setdefault("evaluation", hashlib.sha256()).update(text.encode())
"""


REPOSITORY = Path(__file__).parents[2]

_FLAGS = {"Prescott": "sse2", "Sandybridge": "avx", "Haswell": "avx2", "Zen": "avx2", "SkylakeX": "avx512f"}  # fmt: skip
_CPU = Path("/proc/cpuinfo")
CORES = [
    core
    for core, flag in _FLAGS.items()
    if _CPU.exists() and f" {flag} " in _CPU.read_text().replace("\n", " ")
]
"""Those whose instructions this processor has."""


def run(program: str, **environment: str) -> dict[str, str]:
    """The digests that a machine prints, by what they are of.

    What is compiled for a machine is kept under its name, beside that for others.
    """
    variables = {**os.environ, "PYTHONPATH": str(REPOSITORY), **environment}
    result = subprocess.run(
        [sys.executable, "-c", program + SAY],
        env=variables,
        capture_output=True,
        text=True,
        check=True,
        cwd=REPOSITORY,
    )
    digests: dict[str, str] = json.loads(result.stdout)
    return digests


@pytest.fixture(scope="module")
def here() -> dict[str, str]:
    if os.uname().machine != "x86_64":
        pytest.skip("these are processors of another kind than this one")
    return run(LEARNERS + EVALUATION)


@pytest.mark.long(60)
@pytest.mark.parametrize(
    "machine",
    [
        {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+sse2"},
        {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma"},
    ],
    ids=["x86-64", "AVX2"],
)
def test_narrower_machines_give_the_same_bits(
    here: dict[str, str], machine: dict[str, str]
) -> None:
    found = run(LEARNERS, **machine)
    assert found == {name: here[name] for name in found}


@pytest.mark.parametrize("core", CORES)
def test_no_library_of_linear_algebra_has_a_part_in_them(here: dict[str, str], core: str) -> None:
    """NumPy's library has loops for each of these processors, which round in other places."""
    assert run(LEARNERS + EVALUATION, OPENBLAS_CORETYPE=core) == here


def test_numpy_without_its_faster_loops_gives_the_same_bits(
    here: dict[str, str],
) -> None:
    umath = importlib.import_module("numpy._core._multiarray_umath")
    features: list[str] = umath.__cpu_dispatch__
    assert run(LEARNERS + EVALUATION, NPY_DISABLE_CPU_FEATURES=" ".join(features)) == here
