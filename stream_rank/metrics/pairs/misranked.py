"""Pairs that are not predicted in order."""

from stream_rank.metrics.pairs.orders import Orders

__all__ = ["Misranked"]


class Misranked(Orders):
    """The pairs of different labels; those that are misordered or tied are misranked."""

    def fraction(self) -> tuple[float, float]:
        """The misranked pairs, and all of them."""
        return self.misordered + self.tied, self.different
