"""One decomposition, from which every regularisation and every hold-out of the squared costs follows."""

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from stream_rank.batch.graph import Graph

__all__ = ["Spectrum"]

Array = npt.NDArray[Any]


class Spectrum:
    """The minimisers of `f.L f - 2 f.pull + regularization * |w|**2` over `f = features @ w`, for every regularization.

    With `features' L features = V diag(values) V'` and `rows = features @ V` the minimiser is
    `w = V diag(1 / (values + regularization)) rows' pull`. Features may be those of events (the primal form), the root of a kernel
    matrix (the dual form: the paper's `(L K + regularization I)**-1` is not symmetric, this is, and it does not mind a
    singular kernel), or a map made of some events (the sparse form).

    O(m r**2 + r**3) for r features, then O(m r + r**2) for every regularization and output.
    """

    def __init__(self, features: Array, graph: Graph) -> None:
        gram = features.T @ graph.laplacian(features)
        values, self.rotation = eigh((gram + gram.T) / 2, driver="evd")
        self.values: Array = np.maximum(values, 0.0)  # a Laplacian has no negative eigenvalue
        self.graph = graph
        self._features = features
        self._pulled = self.rotation.T @ (features.T @ graph.pull)

    @cached_property
    def rows(self) -> Array:
        """Events by eigenvectors, made when something is held out: a product as costly as a quarter of the decomposition."""
        rows: Array = self._features @ self.rotation
        return rows

    def weights(self, regularization: float) -> Array:
        """Weights of the features."""
        weights: Array = self.rotation @ self.rotated(regularization)
        return weights

    def rotated(self, regularization: float) -> Array:
        """Weights of the eigenvectors."""
        rotated: Array = self._pulled / (self.values + regularization)[:, None]
        return rotated

    def scores(self, regularization: float) -> Array:
        """The scores of the events learned."""
        scores: Array = self._features @ self.weights(regularization)
        return scores

    def duals(self, regularization: float) -> Array:
        """Coefficients `A` of the events' kernels (eq. 17): `(L K + regularization I) A = pull` and `K A = f`."""
        graph = self.graph
        duals: Array = (graph.pull - graph.laplacian(self.scores(regularization))) / regularization
        return duals
