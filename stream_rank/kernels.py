"""Kernels: inner products in a space of products, or of all smooth functions."""

from dataclasses import dataclass

from stream_rank.parameters import check_number, check_whole

__all__ = ["Gaussian", "Kernel", "Linear", "Polynomial", "check_kernel", "check_width"]


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

    Without a width, PRank and the OAP learners let it follow the stream: the root of half the mean `|x|**2` of the events learned so far. Of d
    standardised features that is sqrt(d / 2); two typical events are a width of 2 apart then, whatever the scale and the number of features.

    >>> Gaussian(width=0.5)
    Gaussian(width=0.5)
    """

    width: float | None = None

    def __post_init__(self) -> None:
        if self.width is not None:
            check_number("width", self.width, 1e-100, 1e100)

    def longest(self, largest: float) -> float:
        """The largest square of an event; the kernel's own values are at most 1."""
        return largest


Kernel = Linear | Polynomial | Gaussian


def check_kernel(kernel: Kernel | None, follows: bool = True) -> None:
    """Raise a `ValueError` unless it is a kernel, or None for the linear one; of one whose width follows the stream only if that `follows`."""
    if kernel is not None and not isinstance(kernel, Linear | Polynomial | Gaussian):
        raise ValueError(
            "kernel must be None, Linear(), Polynomial(degree, offset) or Gaussian(width), "
            f"not {kernel!r}"
        )
    if not follows:
        check_width(kernel)


def check_width(kernel: object) -> None:
    """Raise a `ValueError` if it is a Gaussian kernel without a width, where kernel values are kept, which a width that follows would change."""
    if isinstance(kernel, Gaussian) and kernel.width is None:
        raise ValueError(
            "Gaussian() needs a width here, such as Gaussian(1.0): kernel values are kept"
        )
