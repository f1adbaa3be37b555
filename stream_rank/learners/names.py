"""The names of the learners, for whoever must not wait for the learners themselves to be imported."""

__all__ = ["LEARNER_NAMES"]

LEARNER_NAMES = (
    "prank",
    "averaged-prank",
    "voted-prank",
    "oap-bpm",
    "oap-bagg",
    "oap-vp",
    "widrow-hoff",
    "online-mprank",
    "recursive-mprank",
    "pairwise-ranker",
)
"""Those of the catalogue, in its order."""
