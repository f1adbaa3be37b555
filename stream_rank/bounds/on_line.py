"""Bounds on what perceptrons lose on any stream, in whatever order it comes."""

from math import sqrt

from stream_rank.parameters import check_number

__all__ = ["oap_rank_loss", "prank_mistakes", "prank_rank_loss"]


def prank_mistakes(n_ranks: int, radius: float, margin: float) -> float:
    """The most mistakes of PRank where some rule makes none: `(k - 1) (R**2 + 1) / gamma**2` (Crammer and Singer 2002; OAP, property 2).

    `radius` is the length of the longest event, `margin` the least distance of a score from a threshold, by a rule whose weights and thresholds
    together have length 1. Its rank loss, summed, is bounded by the same.

    >>> prank_mistakes(n_ranks=5, radius=1.0, margin=0.5)
    32.0
    """
    check_number("margin", margin, 1e-300, 1e300)
    return (n_ranks - 1) * (radius**2 + 1) / margin**2


def prank_rank_loss(n_ranks: int, radius: float, norm: float, hinge: float) -> float:
    """The most that PRank's rank loss can sum up to, beside any fixed rule u: `(b / 2 + sqrt(b**2 / 4 + L))**2`.

    `hinge` is u's own loss L, the sum over events and thresholds r of `max(0, 1 - l(r) * (w.x - c(r)))`; `norm` is the length of u's weights and
    thresholds together, and `b = norm * sqrt((k - 1) (R**2 + 1))`. So the regret `loss - L` is at most `b**2 / 2 + b sqrt(b**2 / 4 + L)`: of
    the order of the root of L. (With U thresholds moved, weights and thresholds v have `|v|**2 <= (k - 1) (R**2 + 1) U` and `u.v >= U - L`.)

    >>> round(prank_rank_loss(n_ranks=5, radius=1.0, norm=2.0, hinge=0.0), 9)  # a margin of 1, of length 2
    32.0
    >>> round(prank_rank_loss(n_ranks=5, radius=1.0, norm=2.0, hinge=100.0), 1)
    174.8
    """
    check_number("hinge", hinge, 0, 1e300)
    b = norm * sqrt((n_ranks - 1) * (radius**2 + 1))
    return (b / 2 + sqrt(b**2 / 4 + hinge)) ** 2


def oap_rank_loss(n_ranks: int, radius: float, norm: float, hinge: float, sampling: float) -> float:
    """The most that the rank loss of the mean of OAP's members' ranks can sum up to in expectation over their coins.

    The distance of a mean from the label is at most the mean distance, and a member's loss on the events that it learns is `sampling` times its
    loss on all, since its coin knows nothing of the event: so it is `prank_rank_loss` of `sampling * hinge`, divided by `sampling`. The regret
    grows by `1 / sampling` where u makes no error, and by `1 / sqrt(sampling)` where it makes many: that is what sampling costs, beside what
    it gains by members that differ. Of the mean rule of OAP-BPM the paper says that its mistake bound is driven by that
    of its worst member (section 3), and proves none.

    >>> round(oap_rank_loss(n_ranks=5, radius=1.0, norm=2.0, hinge=0.0, sampling=0.5), 9)
    64.0
    """
    check_number("sampling", sampling, 1e-12, 1)
    return prank_rank_loss(n_ranks, radius, norm, sampling * hinge) / sampling
