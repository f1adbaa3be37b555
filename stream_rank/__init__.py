"""stream-rank: ranking rules, learned from a stream one event at a time."""

from stream_rank.errors import EventError, FeatureError, LabelError, SnapshotError
from stream_rank.kernels import Gaussian, Linear, Polynomial
from stream_rank.learners.averaged_prank import AveragedPRank
from stream_rank.learners.oap_bagg import OAPBagg
from stream_rank.learners.oap_bpm import OAPBPM
from stream_rank.learners.oap_vp import OAPVP
from stream_rank.learners.online_mprank import OnlineMPRank
from stream_rank.learners.pairwise_ranker import PairwiseRanker
from stream_rank.learners.prank import PRank
from stream_rank.learners.recursive_mprank import RecursiveMPRank
from stream_rank.learners.voted_prank import VotedPRank
from stream_rank.learners.widrow_hoff import WidrowHoff
from stream_rank.maps.polynomial_features import PolynomialFeatures
from stream_rank.maps.random_fourier_features import RandomFourierFeatures
from stream_rank.metrics.concordance import Concordance
from stream_rank.metrics.disagreement_error import DisagreementError
from stream_rank.metrics.discrete_ranking_loss import DiscreteRankingLoss
from stream_rank.metrics.m1d import M1D
from stream_rank.metrics.misranking import Misranking
from stream_rank.metrics.msd import MSD
from stream_rank.metrics.rank_error_rate import RankErrorRate
from stream_rank.metrics.rank_loss import RankLoss
from stream_rank.metrics.rankings import (
    discounted_error,
    kendall_distance,
    position_error,
    spearman_footrule,
)
from stream_rank.metrics.weighted_kappa import WeightedKappa
from stream_rank.stream.saving import load, save

__all__ = [
    "M1D",
    "MSD",
    "OAPBPM",
    "OAPVP",
    "AveragedPRank",
    "Concordance",
    "DisagreementError",
    "DiscreteRankingLoss",
    "EventError",
    "FeatureError",
    "Gaussian",
    "LabelError",
    "Linear",
    "Misranking",
    "OAPBagg",
    "OnlineMPRank",
    "PRank",
    "PairwiseRanker",
    "Polynomial",
    "PolynomialFeatures",
    "RandomFourierFeatures",
    "RankErrorRate",
    "RankLoss",
    "RecursiveMPRank",
    "SnapshotError",
    "VotedPRank",
    "WeightedKappa",
    "WidrowHoff",
    "discounted_error",
    "kendall_distance",
    "load",
    "position_error",
    "save",
    "spearman_footrule",
]
__version__ = "0.1.0"
