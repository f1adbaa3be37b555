"""OAP-BPM: an on-line approximation of the Bayes point."""

from stream_rank.engine.perceptron.state import AVERAGED
from stream_rank.learners.base.oap import OAP

__all__ = ["OAPBPM"]


class OAPBPM(OAP):
    """PRank members on random samples of the stream; their mean is the rule.

    Of all rules that rank a sequence correctly, the one in the middle errs least on what comes: the
    Bayes point. It is approximated by the mean of `n_members` PRank members. They differ because each
    learns an event only if its own coin, with probability `sampling`, comes up. The
    rank of `x` is the smallest `r` with `w.x - c(r) < 0` for the mean weights `w` and thresholds `c`.

    Coins depend on seed, event and member alone, so a run can be repeated and resumed.

    Cost: O(sampling * n_members * d) to learn an event, O(d) to predict one.

    Parameters
    ----------
    n_ranks
        The number of ranks, when labels are 1 to `n_ranks`. None discovers ordered labels of any
        sortable type as they come: a new one takes its place by splitting a threshold.
    n_members
        The number of members.
    sampling
        The rate at which a member learns: the smaller, the more the members differ, and the
        longer they take.
    seed
        Any whole number makes the coins repeatable.
    kernel
        None or `Linear()` for weights of features; `Polynomial` or `Gaussian` for a support set that
        all members share.
    budget
        The most support vectors of a kernel learner.
    dtype
        Weights of double or single precision: "float64" or "float32". The mean is in double precision.
    update
        How members move: "perceptron", or "passive-aggressive", "romma" or "arow", which `PRank` explains; with a kernel, "perceptron" alone.
    overflow
        What becomes of events beyond the budget: "oldest" drops the oldest vector for one; "nearest" keeps the vectors, and lets the
        nearest take over the event's coefficient, as much of it as is along that vector.

    References
    ----------
    E. F. Harrington. Online ranking/collaborative filtering using the perceptron algorithm. ICML 2003.

    Examples
    --------
    >>> from stream_rank import OAPBPM, OAPStream
    >>> X, y = OAPStream(seed=1, features="quadratic").arrays(50_000)
    >>> model = OAPBPM(n_ranks=5, seed=1)
    >>> steps_off = abs(model.test_then_train(X, y) - y)
    >>> for first in (0, 5_000, 45_000):
    ...     print(f"{steps_off[first:first + 5_000].mean():.3f}")
    0.384
    0.213
    0.173
    """

    _rule = AVERAGED
    _exact = True  # `vote_one` asks the members, but the mean rule decides
