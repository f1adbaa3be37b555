"""The learners of the package, by name."""

from stream_rank.errors import SnapshotError
from stream_rank.learners.averaged_prank import AveragedPRank
from stream_rank.learners.base.learner import Learner
from stream_rank.learners.oap_bagg import OAPBagg
from stream_rank.learners.oap_bpm import OAPBPM
from stream_rank.learners.oap_vp import OAPVP
from stream_rank.learners.online_mprank import OnlineMPRank
from stream_rank.learners.pairwise_ranker import PairwiseRanker
from stream_rank.learners.prank import PRank
from stream_rank.learners.recursive_mprank import RecursiveMPRank
from stream_rank.learners.voted_prank import VotedPRank
from stream_rank.learners.widrow_hoff import WidrowHoff

__all__ = ["LEARNERS", "name_of"]

LEARNERS: dict[str, type[Learner]] = {
    "prank": PRank,
    "averaged-prank": AveragedPRank,
    "voted-prank": VotedPRank,
    "oap-bpm": OAPBPM,
    "oap-bagg": OAPBagg,
    "oap-vp": OAPVP,
    "widrow-hoff": WidrowHoff,
    "online-mprank": OnlineMPRank,
    "recursive-mprank": RecursiveMPRank,
    "pairwise-ranker": PairwiseRanker,
}
"""Names as the command line has them."""

_NAMES = {learner: name for name, learner in LEARNERS.items()}


def name_of(learner: type[Learner]) -> str:
    """The name of a class of learners; a `SnapshotError` for one that is not of the package."""
    if learner not in _NAMES:
        raise SnapshotError(
            f"a {learner.__name__} cannot be kept; the learners of stream-rank can: {', '.join(LEARNERS)}"
        )
    return _NAMES[learner]
