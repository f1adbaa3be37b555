"""Kernels: inner products in a space of products, or of all smooth functions."""

import math
from dataclasses import dataclass

__all__ = ["Gaussian", "Kernel", "Linear", "Polynomial"]


@dataclass(frozen=True)
class Linear:
    """`K(x, z) = x.z`: no support set, the same as no kernel."""


@dataclass(frozen=True)
class Polynomial:
    """`K(x, z) = (x.z + offset) ** degree`: all products of up to `degree` features.

    >>> Polynomial(degree=2, offset=1.0)
    Polynomial(degree=2, offset=1.0)
    """

    degree: int = 2
    offset: float = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.degree, bool) or not isinstance(self.degree, int) or self.degree < 1:
            raise ValueError(f"degree must be a whole number of at least 1, not {self.degree!r}")
        if not (math.isfinite(self.offset) and self.offset >= 0):
            raise ValueError(f"offset must be a number of at least 0, not {self.offset!r}")

    def bound(self, largest: float, n_features: int) -> float:
        """The largest of `n_features` features whose kernel value with itself is at most `largest`.

        No two events of such features have a larger kernel value (Cauchy and Schwarz).
        """
        product = largest ** (1 / self.degree) - self.offset
        if product < n_features:
            raise ValueError(f"offset {self.offset!r} to the power of {self.degree} is too large")
        return math.sqrt(product / n_features)


@dataclass(frozen=True)
class Gaussian:
    """`K(x, z) = exp(-|x - z|**2 / (2 * width**2))`: a bump around every support vector.

    >>> Gaussian(width=0.5)
    Gaussian(width=0.5)
    """

    width: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.width) and self.width > 0):
            raise ValueError(f"width must be a number above 0, not {self.width!r}")

    def bound(self, largest: float, n_features: int) -> float:
        """The largest of `n_features` features whose sum of squares is at most `largest`."""
        return math.sqrt(largest / n_features)


Kernel = Linear | Polynomial | Gaussian
