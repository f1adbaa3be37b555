"""The learners, and streams whose sums are exact."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stream_rank import (
    OAPBPM,
    OAPVP,
    AveragedPRank,
    Gaussian,
    NearestRanks,
    OAPBagg,
    OnlineMPRank,
    OrdinalFactors,
    OrdinalLogit,
    PairwiseRanker,
    Polynomial,
    PRank,
    RecursiveMPRank,
    VotedPRank,
    WidrowHoff,
)
from stream_rank.datasets.oap_stream import OAPStream

Make = Callable[..., Any]


def _with(make: Make, **fixed: Any) -> Make:
    return lambda n_ranks=None, **more: make(n_ranks=n_ranks, **{**fixed, **more})


RANK_LEARNERS: dict[str, Make] = {
    "PRank": _with(PRank),
    "PRank-float32": _with(PRank, dtype="float32"),
    "PRank-polynomial": _with(PRank, kernel=Polynomial(2, 1.0), budget=40),
    "PRank-passive-aggressive": _with(PRank, update="passive-aggressive"),
    "AveragedPRank": _with(AveragedPRank),
    "AveragedPRank-romma": _with(AveragedPRank, update="romma"),
    "AveragedPRank-gaussian": _with(AveragedPRank, kernel=Gaussian(), budget=40),
    "AveragedPRank-plain": _with(AveragedPRank, plain=True),
    "AveragedPRank-float32": _with(AveragedPRank, dtype="float32"),
    "VotedPRank": _with(VotedPRank, max_hypotheses=12),
    "VotedPRank-polynomial": _with(
        VotedPRank, max_hypotheses=12, kernel=Polynomial(2, 1.0), budget=40
    ),
    "OrdinalLogit": _with(OrdinalLogit),
    "OrdinalLogit-forgetting": _with(OrdinalLogit, forgetting=0.99, decision="mode"),
    "OrdinalLogit-part": _with(OrdinalLogit, full_features=3),
    "OrdinalLogit-diagonal": _with(OrdinalLogit, precision="diagonal"),
    "OrdinalLogit-diagonal-forgetting": _with(OrdinalLogit, precision="diagonal", forgetting=0.99),
    "OrdinalFactors": _with(OrdinalFactors, traits=3),
    "OrdinalFactors-float32": _with(OrdinalFactors, traits=2, item_features=["d"], dtype="float32"),
    "NearestRanks": _with(NearestRanks, n_neighbors=5, window=50, n_features=8),
    "OAPBPM": _with(OAPBPM, n_members=70, seed=3),
    "OAPBPM-few": _with(OAPBPM, n_members=3, sampling=0.7, seed=3),
    "OAPBPM-arow": _with(OAPBPM, n_members=9, seed=3, update="arow"),
    "OAPBPM-float32": _with(OAPBPM, n_members=20, seed=3, dtype="float32"),
    "OAPBPM-gaussian": _with(OAPBPM, n_members=9, seed=3, kernel=Gaussian(0.5), budget=40),
    "OAPBagg": _with(OAPBagg, n_members=70, seed=3),
    "OAPVP": _with(OAPVP, n_members=70, seed=3),
}


def _scores(make: Make, **fixed: Any) -> Make:
    return lambda n_ranks=None, **more: make(**{**fixed, **more})


GROUPED_LEARNERS: dict[str, Make] = {
    "RecursiveMPRank": _scores(RecursiveMPRank),
    "RecursiveMPRank-forgetting": _scores(RecursiveMPRank, forgetting=0.9),
    "RecursiveMPRank-C": _scores(RecursiveMPRank, C=2.0),
    "OnlineMPRank": _scores(OnlineMPRank, budget=50),
    "OnlineMPRank-C": _scores(OnlineMPRank, C=1.0, budget=50),
    "OnlineMPRank-revisits": _scores(OnlineMPRank, C=10.0, budget=33, revisits=2),
    "OnlineMPRank-gaussian": _scores(OnlineMPRank, kernel=Gaussian(2.0), budget=40, revisits=1),
    "OnlineMPRank-polynomial": _scores(OnlineMPRank, kernel=Polynomial(2, 1.0), budget=40),
    "PairwiseRanker": _scores(PairwiseRanker, window=30, seed=3),
    "PairwiseRanker-hr-1": _scores(PairwiseRanker, loss="hr-1", window=30, seed=3),
    "PairwiseRanker-last": _scores(PairwiseRanker, loss="mp-1", averaging=False, seed=3),
    "PairwiseRanker-mp-2": _scores(PairwiseRanker, loss="mp-2", regularization=0.1, seed=3),
}
FIXED_LEARNERS: dict[str, Make] = {**RANK_LEARNERS, "WidrowHoff": _with(WidrowHoff)}
LEARNERS: dict[str, Make] = {**FIXED_LEARNERS, **GROUPED_LEARNERS}


@pytest.fixture(params=RANK_LEARNERS)
def rank_learner(request: pytest.FixtureRequest) -> Make:
    """How to make one of the learners of ranks."""
    return RANK_LEARNERS[request.param]


@pytest.fixture(params=FIXED_LEARNERS)
def fixed_learner(request: pytest.FixtureRequest) -> Make:
    """How to make one of the learners that may be told the number of ranks."""
    return FIXED_LEARNERS[request.param]


@pytest.fixture(params=GROUPED_LEARNERS)
def grouped_learner(request: pytest.FixtureRequest) -> Make:
    """How to make one of the learners whose events may come in groups."""
    return GROUPED_LEARNERS[request.param]


@pytest.fixture(params=LEARNERS)
def learner(request: pytest.FixtureRequest) -> Make:
    """How to make one of all the learners."""
    return LEARNERS[request.param]


def events(
    n_events: int, n_features: int = 6, n_ranks: int = 5, seed: int = 0
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Random events with a rule and noise. Features are multiples of 1/16, so sums of products are exact."""
    generator = np.random.default_rng(seed)
    X = np.round(generator.normal(size=(n_events, n_features)) * 16) / 16
    score = X @ generator.normal(size=n_features) + generator.normal(0, 0.3, n_events)
    edges = np.quantile(score, np.linspace(0, 1, n_ranks + 1)[1:-1])
    return X, np.searchsorted(edges, score) + 1


def dicts(X: np.ndarray[Any, Any]) -> list[dict[Any, float]]:
    """Rows as events, named by column."""
    return [dict(enumerate(row)) for row in X.tolist()]


def paper_events(n_events: int, seed: int = 1) -> list[tuple[dict[str, float], int]]:
    """The OAP paper's stream, features rounded to multiples of 1/64."""
    stream = OAPStream(seed=seed, features="quadratic").take(n_events)
    return [({name: round(v * 64) / 64 for name, v in x.items()}, y) for x, y in stream]
