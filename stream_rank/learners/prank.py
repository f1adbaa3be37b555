"""PRank: one perceptron with thresholds."""

from stream_rank.engine.perceptron.state import VOTED
from stream_rank.kernels import Kernel
from stream_rank.learners.base.kernelized import Kernelized
from stream_rank.learners.models.family import Family

__all__ = ["PRank"]


class PRank(Kernelized):
    """Crammer and Singer's perceptron ranking.

    Scores are `w.x`; thresholds `c(1) <= ... <= c(k-1)` cut them into ranks. The rank of `x` is the
    smallest `r` with `w.x - c(r) < 0`, where `c(k)` is infinite. With `l(r) = 1` for ranks `r` below the
    label and -1 for the others, a round whose rank was wrong moves every threshold with
    `(w.x - c(r)) * l(r) <= 0` by `-l(r)`, and the weights by the sum of those `l(r)` times `x`.

    Thresholds stay in order. If some rule separates the ranks with margin `g`, and no event is
    longer than `R`, the total of mistakes (in steps) is at most `(k - 1) * (R**2 + 1) / g**2`.

    Cost: O(d + k) an event.

    Other rules mend a member wherever it falls short of the margin `(w.x - c(r)) * l(r) >= 1` for some `r`, be its rank right or wrong:

    - `update="passive-aggressive"`: the nearest weights and thresholds with that margin for every `r`, exactly. With the event's new score `u`,
      which is found by a walk over the thresholds, they are `w + x * sum(c(r) + l(r) - u)` over those on the wrong side, and
      `min(c(r), u - 1)` below the label, `max(c(r), u + 1)` above.
    - `update="romma"`, the relaxed online maximum margin: the shortest weights and thresholds that have that margin, and that are as far along the former
      ones as these were. Of every event, some slack: a margin that is missed costs its square. On noise the length grows with the square root of
      the events, no faster. It is what the OAP paper would try next.
    - `update="arow"`: as the first, where every feature counts by a variance of its own, and a margin that is missed costs its square. A variance begins at 1 and falls
      with each event that moved the weight, as that of a posterior: features that were met often move little, those that come seldom, much. All thresholds
      share one. A single member is then nearly as good as a mean of many, where features are of the same size and around zero; where they are not, or
      depend on each other much, it is the worst of the four.

    Thresholds stay in order by all of them. A preference of magnitude `m` is learned as an event with the margin `m` of the difference alone.
    They cost O(d + k) too, `"romma"` O(d) for sparse events as well, as all weights become shorter.

    Parameters
    ----------
    n_ranks
        The number of ranks, when labels are 1 to `n_ranks`. None discovers ordered labels of any
        sortable type as they come: a new one takes its place by splitting a threshold.
    kernel
        None or `Linear()` for weights of features; `Polynomial` or `Gaussian` for a support set.
    budget
        The most support vectors of a kernel learner.
    dtype
        Weights of double or single precision: "float64" or "float32".
    update
        "perceptron", "passive-aggressive", "romma" or "arow". With a kernel, "perceptron" alone.
    overflow
        What becomes of events beyond the budget: "oldest" drops the oldest vector for one; "nearest" keeps the vectors, and lets the
        nearest take over the event's coefficient, as much of it as is along that vector.

    References
    ----------
    K. Crammer and Y. Singer. Pranking with ranking. NIPS 2001.
    K. Crammer et al. Online passive-aggressive algorithms. JMLR 7, 2006.
    Y. Li and P. M. Long. The relaxed online maximum margin algorithm. Machine Learning 46, 2002.
    K. Crammer, A. Kulesza and M. Dredze. Adaptive regularization of weight vectors. NIPS 2009.

    Examples
    --------
    >>> from stream_rank import PRank, OAPStream
    >>> model, steps_off = PRank(n_ranks=5), 0
    >>> for x, y in OAPStream(seed=1, features="quadratic").take(5_000):
    ...     steps_off += abs(model.predict_one(x) - y)
    ...     model.learn_one(x, y)
    >>> steps_off / 5_000
    0.4762
    >>> X, y = OAPStream(seed=1, features="quadratic").arrays(5_000)
    >>> for update in ("passive-aggressive", "romma", "arow"):
    ...     model = PRank(n_ranks=5, update=update)
    ...     print(f"{update}: {abs(model.test_then_train(X, y) - y).mean():.4f}")
    passive-aggressive: 0.4146
    romma: 0.3856
    arow: 0.6064
    """

    def __init__(
        self,
        n_ranks: int | None = None,
        kernel: Kernel | None = None,
        budget: int = 1000,
        dtype: str = "float64",
        update: str = "perceptron",
        overflow: str = "oldest",
    ) -> None:
        super().__init__(n_ranks, kernel, budget, dtype, update, overflow)

    def _new_model(self, n_ranks: int) -> Family:
        return self._family(n_ranks, 1, VOTED)  # its only voter decides
