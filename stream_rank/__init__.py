"""stream-rank: ranking rules, learned from a stream one event at a time."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stream_rank.checkpoint.model_file import load, save
    from stream_rank.committees.hedge import Hedge
    from stream_rank.committees.prediction_sets import PredictionSets
    from stream_rank.datasets.oap_stream import OAPStream
    from stream_rank.errors import (
        EventError,
        FeatureError,
        LabelError,
        MergeError,
        SnapshotError,
        StreamRankError,
    )
    from stream_rank.features.average import average
    from stream_rank.features.cross import Cross
    from stream_rank.features.feature_hasher import FeatureHasher
    from stream_rank.features.neighbours import Neighbours
    from stream_rank.features.normalize import Normalize
    from stream_rank.features.polynomial_features import PolynomialFeatures
    from stream_rank.features.random_fourier_features import RandomFourierFeatures
    from stream_rank.features.scale import Scale
    from stream_rank.features.target_mean import TargetMean
    from stream_rank.kernels import Gaussian, Linear, Polynomial
    from stream_rank.learners.averaged_prank import AveragedPRank
    from stream_rank.learners.nearest_ranks import NearestRanks
    from stream_rank.learners.oap_bagg import OAPBagg
    from stream_rank.learners.oap_bpm import OAPBPM
    from stream_rank.learners.oap_vp import OAPVP
    from stream_rank.learners.online_mprank import OnlineMPRank
    from stream_rank.learners.ordinal_factors import OrdinalFactors
    from stream_rank.learners.ordinal_logit import OrdinalLogit
    from stream_rank.learners.pairwise_ranker import PairwiseRanker
    from stream_rank.learners.prank import PRank
    from stream_rank.learners.recursive_mprank import RecursiveMPRank
    from stream_rank.learners.voted_prank import VotedPRank
    from stream_rank.learners.widrow_hoff import WidrowHoff
    from stream_rank.metrics.concordance import Concordance
    from stream_rank.metrics.disagreement_error import DisagreementError
    from stream_rank.metrics.discrete_ranking_loss import DiscreteRankingLoss
    from stream_rank.metrics.m1d import M1D
    from stream_rank.metrics.misranking import Misranking
    from stream_rank.metrics.msd import MSD
    from stream_rank.metrics.preference_error import PreferenceError
    from stream_rank.metrics.preference_log_loss import PreferenceLogLoss
    from stream_rank.metrics.rank_error_rate import RankErrorRate
    from stream_rank.metrics.rank_loss import RankLoss
    from stream_rank.metrics.rankings import (
        discounted_error,
        kendall_distance,
        position_error,
        spearman_footrule,
    )
    from stream_rank.metrics.weighted_kappa import WeightedKappa

__all__ = [
    "M1D",
    "MSD",
    "OAPBPM",
    "OAPVP",
    "AveragedPRank",
    "Concordance",
    "Cross",
    "DisagreementError",
    "DiscreteRankingLoss",
    "EventError",
    "FeatureError",
    "FeatureHasher",
    "Gaussian",
    "Hedge",
    "LabelError",
    "Linear",
    "MergeError",
    "Misranking",
    "NearestRanks",
    "Neighbours",
    "Normalize",
    "OAPBagg",
    "OAPStream",
    "OnlineMPRank",
    "OrdinalFactors",
    "OrdinalLogit",
    "PRank",
    "PairwiseRanker",
    "Polynomial",
    "PolynomialFeatures",
    "PredictionSets",
    "PreferenceError",
    "PreferenceLogLoss",
    "RandomFourierFeatures",
    "RankErrorRate",
    "RankLoss",
    "RecursiveMPRank",
    "Scale",
    "SnapshotError",
    "StreamRankError",
    "TargetMean",
    "VotedPRank",
    "WeightedKappa",
    "WidrowHoff",
    "average",
    "discounted_error",
    "kendall_distance",
    "load",
    "position_error",
    "save",
    "spearman_footrule",
]
__version__ = "0.1.0"

_MODULES = {
    "stream_rank.checkpoint.model_file": ("load", "save"),
    "stream_rank.committees.hedge": ("Hedge",),
    "stream_rank.committees.prediction_sets": ("PredictionSets",),
    "stream_rank.datasets.oap_stream": ("OAPStream",),
    "stream_rank.errors": (
        "EventError",
        "FeatureError",
        "LabelError",
        "MergeError",
        "SnapshotError",
        "StreamRankError",
    ),
    "stream_rank.features.average": ("average",),
    "stream_rank.features.cross": ("Cross",),
    "stream_rank.features.feature_hasher": ("FeatureHasher",),
    "stream_rank.features.neighbours": ("Neighbours",),
    "stream_rank.features.normalize": ("Normalize",),
    "stream_rank.features.scale": ("Scale",),
    "stream_rank.features.target_mean": ("TargetMean",),
    "stream_rank.features.polynomial_features": ("PolynomialFeatures",),
    "stream_rank.features.random_fourier_features": ("RandomFourierFeatures",),
    "stream_rank.kernels": ("Gaussian", "Linear", "Polynomial"),
    "stream_rank.learners.averaged_prank": ("AveragedPRank",),
    "stream_rank.learners.nearest_ranks": ("NearestRanks",),
    "stream_rank.learners.oap_bagg": ("OAPBagg",),
    "stream_rank.learners.oap_bpm": ("OAPBPM",),
    "stream_rank.learners.oap_vp": ("OAPVP",),
    "stream_rank.learners.online_mprank": ("OnlineMPRank",),
    "stream_rank.learners.ordinal_factors": ("OrdinalFactors",),
    "stream_rank.learners.ordinal_logit": ("OrdinalLogit",),
    "stream_rank.learners.pairwise_ranker": ("PairwiseRanker",),
    "stream_rank.learners.prank": ("PRank",),
    "stream_rank.learners.recursive_mprank": ("RecursiveMPRank",),
    "stream_rank.learners.voted_prank": ("VotedPRank",),
    "stream_rank.learners.widrow_hoff": ("WidrowHoff",),
    "stream_rank.metrics.concordance": ("Concordance",),
    "stream_rank.metrics.disagreement_error": ("DisagreementError",),
    "stream_rank.metrics.discrete_ranking_loss": ("DiscreteRankingLoss",),
    "stream_rank.metrics.m1d": ("M1D",),
    "stream_rank.metrics.misranking": ("Misranking",),
    "stream_rank.metrics.msd": ("MSD",),
    "stream_rank.metrics.preference_error": ("PreferenceError",),
    "stream_rank.metrics.preference_log_loss": ("PreferenceLogLoss",),
    "stream_rank.metrics.rank_error_rate": ("RankErrorRate",),
    "stream_rank.metrics.rank_loss": ("RankLoss",),
    "stream_rank.metrics.rankings": (
        "discounted_error",
        "kendall_distance",
        "position_error",
        "spearman_footrule",
    ),
    "stream_rank.metrics.weighted_kappa": ("WeightedKappa",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: the command line answers `--help` without River and Numba (PEP 562)."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
