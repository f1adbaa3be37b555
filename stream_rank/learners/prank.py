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

    Parameters
    ----------
    n_ranks
        The number of ranks, when labels are 1 to `n_ranks`. None discovers ordered labels of any
        sortable type as they come: a new one takes its place by splitting a threshold.
    kernel
        None or `Linear()` for weights of features; `Polynomial` or `Gaussian` for a support set.
    budget
        The most support vectors of a kernel learner; beyond it the oldest is dropped.
    dtype
        Weights of double or single precision: "float64" or "float32".

    References
    ----------
    K. Crammer and Y. Singer. Pranking with ranking. NIPS 2001.

    Examples
    --------
    >>> from stream_rank import PRank, OAPStream
    >>> model, steps_off = PRank(n_ranks=5), 0
    >>> for x, y in OAPStream(seed=1, features="quadratic").take(5_000):
    ...     steps_off += abs(model.predict_one(x) - y)
    ...     model.learn_one(x, y)
    >>> steps_off / 5_000
    0.4762
    """

    def __init__(
        self,
        n_ranks: int | None = None,
        kernel: Kernel | None = None,
        budget: int = 1000,
        dtype: str = "float64",
    ) -> None:
        super().__init__(n_ranks, kernel, budget, dtype)

    def _new_model(self, n_ranks: int) -> Family:
        return self._family(n_ranks, 1, VOTED)  # its only voter decides
