"""Kernels: inner products in a space of products, or of all smooth functions."""

from dataclasses import dataclass

from stream_rank.parameters import check_number, check_whole

__all__ = ["Gaussian", "Kernel", "Linear", "Polynomial", "check_kernel"]


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
        check_whole("degree", self.degree)
        check_number("offset", self.offset, 0, 1e100)

    def longest(self, largest: float) -> float:
        """The largest square of an event whose kernel value with itself is at most `largest`.

        No two such events have a larger kernel value (Cauchy and Schwarz).
        """
        square = float(largest ** (1 / self.degree)) - self.offset
        if square < 1:
            raise ValueError(f"offset {self.offset!r} to the power of {self.degree} is too large")
        return square


@dataclass(frozen=True)
class Gaussian:
    """`K(x, z) = exp(-|x - z|**2 / (2 * width**2))`: a bump around every support vector.

    >>> Gaussian(width=0.5)
    Gaussian(width=0.5)
    """

    width: float = 1.0

    def __post_init__(self) -> None:
        check_number("width", self.width, 1e-100, 1e100)

    def longest(self, largest: float) -> float:
        """The largest square of an event; the kernel's own values are at most 1."""
        return largest


Kernel = Linear | Polynomial | Gaussian


def check_kernel(kernel: Kernel | None) -> None:
    """Raise a `ValueError` unless it is a kernel, or None for the linear one."""
    if kernel is not None and not isinstance(kernel, Linear | Polynomial | Gaussian):
        raise ValueError(
            "kernel must be None, Linear(), Polynomial(degree, offset) or Gaussian(width), "
            f"not {kernel!r}"
        )
