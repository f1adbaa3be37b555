"""The one list of learners: their names on the command line and in snapshots, and where their classes are.

The module imports neither River nor the engine, so the names alone are available at once.
"""

__all__ = ["COMMITTEE", "LEARNER_CLASSES", "LEARNER_NAMES", "PREPARATION"]

LEARNER_CLASSES = {
    "prank": "prank.PRank",
    "averaged-prank": "averaged_prank.AveragedPRank",
    "voted-prank": "voted_prank.VotedPRank",
    "oap-bpm": "oap_bpm.OAPBPM",
    "oap-bagg": "oap_bagg.OAPBagg",
    "oap-vp": "oap_vp.OAPVP",
    "widrow-hoff": "widrow_hoff.WidrowHoff",
    "online-mprank": "online_mprank.OnlineMPRank",
    "recursive-mprank": "recursive_mprank.RecursiveMPRank",
    "ordinal-logit": "ordinal_logit.OrdinalLogit",
    "ordinal-factors": "ordinal_factors.OrdinalFactors",
    "nearest-ranks": "nearest_ranks.NearestRanks",
    "pairwise-ranker": "pairwise_ranker.PairwiseRanker",
}
"""Module and class of each, within this folder."""

LEARNER_NAMES = tuple(LEARNER_CLASSES)

PREPARATION = {
    **dict.fromkeys(LEARNER_NAMES, "scale | normalize"),
    "ordinal-logit": "scale",
    "ordinal-factors": "scale",
    "nearest-ranks": "scale",
}
"""The stages that a learner gets in front of it where none are given."""

COMMITTEE = (
    "scale | ordinal-logit",
    "scale | waves | ordinal-logit:regularization=0.01",
    "scale | waves:orders=[1,2,3,0],narrowing=2 | ordinal-logit:regularization=0.01",
    "scale | polynomial:max_factors=32 | ordinal-logit:full_features=300,regularization=0.01",
    "scale | nearest-ranks:n_features=32",
)
"""The members of `hedge` where none are given. The line's prior is chosen by evidence; the rich ones have the weak one alone: a committee lives on members that differ."""
