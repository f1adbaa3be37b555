"""What the package offers, and what it costs to import it."""

import subprocess
import sys

import pytest
import river

import stream_rank
from stream_rank import batch, bounds

NAMES = {
    *("PRank", "AveragedPRank", "VotedPRank", "OAPBPM", "OAPBagg", "OAPVP", "WidrowHoff"),
    *(
        "Hedge",
        "PredictionSets",
        "NearestRanks",
        "OnlineMPRank",
        "OrdinalFactors",
        "OrdinalLogit",
        "RecursiveMPRank",
        "PairwiseRanker",
    ),
    *("MSD", "M1D", "Misranking", "DiscreteRankingLoss", "DisagreementError", "Concordance"),
    *("kendall_distance", "spearman_footrule", "position_error", "discounted_error"),
    *("Linear", "Polynomial", "Gaussian", "PolynomialFeatures", "RandomFourierFeatures"),
    *("Scale", "Normalize", "Cross", "Neighbours", "TargetMean", "FeatureHasher"),
    *("RankLoss", "RankErrorRate", "WeightedKappa", "PreferenceError", "PreferenceLogLoss"),
    *(
        "EventError",
        "FeatureError",
        "LabelError",
        "MergeError",
        "SnapshotError",
        "StreamRankError",
        "OAPStream",
    ),
    *("average", "load", "save"),
}
BATCH = {
    "RankRLS",
    "MPRank",
    "SVRank",
    "RankSVM",
    "RankBoost",
    "Ordering",
    "greedy_order",
    "preferences_of",
}


def test_all_is_exactly_the_public_names() -> None:
    assert set(stream_rank.__all__) == NAMES
    assert len(stream_rank.__all__) == len(NAMES)
    for name in NAMES:
        assert getattr(stream_rank, name).__doc__


@pytest.mark.parametrize("name", sorted(NAMES))
def test_estimators_have_examples(name: str) -> None:
    """They are run as doctests; here they must exist."""
    thing = getattr(stream_rank, name)
    if not isinstance(thing, type) or issubclass(thing, river.base.Base):
        assert ">>>" in (thing.__doc__ or "")


def test_batch_methods_are_public_by_their_own_room() -> None:
    assert set(batch.__all__) == BATCH
    assert len(batch.__all__) == len(BATCH)
    for name in BATCH:
        assert ">>>" in getattr(batch, name).__doc__


def test_bounds_are_public_by_their_own_room() -> None:
    for name in bounds.__all__:
        thing = getattr(bounds, name)
        assert thing.__doc__, name
        assert thing.__module__.startswith("stream_rank.bounds."), name


def test_import_brings_no_server_client() -> None:
    program = (
        "import sys, stream_rank, stream_rank.batch;"
        "print([m for m in ('kafka', 'prometheus_client', 'pandas', 'sklearn', 'scipy', 'simulators', 'pyarrow', 'pydantic', 'rich') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
