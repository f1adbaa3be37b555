"""OAP-VP: PRank members that vote by merit."""

from stream_rank.engine.perceptron.state import WEIGHTED
from stream_rank.learners.base.oap import OAP

__all__ = ["OAPVP"]


class OAPVP(OAP):
    """PRank members on random samples of the stream; they vote, each by its number of correct ranks.

    The members are those of `OAPBPM`. `vote_one` gives the mean of their ranks, weighted by how many of the
    events they learned from they had ranked correctly; as long as no member ever had, all weigh the same.
    The predicted rank is the mean rounded (halves go up).

    Cost: O(n_members * (d + k)) to predict an event, and O(sampling * n_members * d) to learn it.

    Parameters
    ----------
    n_ranks
        The number of ranks, when labels are 1 to `n_ranks`; None discovers them.
    n_members
        The number of members.
    sampling
        The rate at which a member learns.
    seed
        Any whole number makes the coins repeatable.
    kernel
        None or `Linear()` for weights of features; `Polynomial` or `Gaussian` for a support set.
    budget
        The most support vectors of a kernel learner.
    dtype
        "float64" or "float32".
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
    >>> from stream_rank import OAPVP
    >>> model = OAPVP(n_ranks=3, n_members=10, sampling=0.5, seed=7)
    >>> for _ in range(20):
    ...     for rank, place in ((1, -1.0), (2, 0.0), (3, 1.0)):
    ...         model.learn_one({"place": place, "one": 1.0}, rank)
    >>> model.predict_one({"place": -0.9, "one": 1.0})
    1
    """

    _rule = WEIGHTED
