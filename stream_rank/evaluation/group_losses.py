"""The rank loss of groups: of users, where each event's group is its user."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_rank.engine.products import product
from stream_rank.engine.scoring.by_group import GROUPS, NUMBER, SUM, count_by_group
from stream_rank.evaluation.group_numbers import MOST_GROUPS

__all__ = ["GroupLosses"]

Array = npt.NDArray[Any]


class GroupLosses:
    """The mean over groups of each group's mean rank loss, so that a user who rates a thousand items counts as one who rates ten.

    Where more than 65,536 groups come, one that comes again after it was forgotten counts once more. Of labels that come late nothing else is
    counted than of others.

    >>> losses = GroupLosses()
    >>> losses.count(np.array([3.0, 3.0, 5.0, 1.0]), np.array([3.0, 3.0, 5.0, 4.0]), np.array([1, 1, 1, 2]), 3)
    >>> losses.mean  # of 0 and 3
    1.5
    """

    def __init__(self) -> None:
        self._groups: Array = np.zeros((3, 1))
        self._gone = np.zeros(2)

    def count(self, labels: Array, predictions: Array, numbers: Array, n_groups: int) -> None:
        """Count predictions in the order in which they were made; `numbers` are their groups, below `n_groups`, and 0 is none."""
        self._make_room(n_groups)
        if self._groups.shape[1] > 1:
            count_by_group(labels, predictions, numbers, self._groups, self._gone)

    def _make_room(self, n_groups: int) -> None:
        """Make columns for groups; their number depends on the groups alone, not on when they come."""
        wanted = min(1 << (n_groups - 1).bit_length(), MOST_GROUPS)
        if wanted > self._groups.shape[1]:
            larger = np.zeros((3, wanted))
            larger[:, : self._groups.shape[1]] = self._groups
            self._groups = larger

    @property
    def mean(self) -> float | None:
        """The mean over groups; None without any."""
        _, counts, steps = self._groups
        there = counts > 0
        means = steps[there] / counts[there]
        groups = float(self._gone[GROUPS]) + len(means)
        return (
            (float(self._gone[SUM]) + product(means, np.ones(len(means)))) / groups
            if groups
            else None
        )

    def arrays(self) -> dict[str, Array]:
        """The arrays of its state."""
        return {"by_group": self._groups, "groups_gone": self._gone}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Continue from another's state; a `ValueError` if it is none. Snapshots of before have none, and then it begins anew."""
        if "by_group" not in arrays:
            return
        groups, gone = arrays["by_group"], arrays["groups_gone"]
        width = groups.shape[1] if groups.ndim == 2 else 0
        fits = groups.shape == (3, width) and 1 <= width <= MOST_GROUPS and gone.shape == (2,)
        sound = fits and all(np.isfinite(a).all() and (a >= 0).all() for a in (groups, gone))
        if (
            not sound
            or width & (width - 1)
            or not (groups[NUMBER] == np.floor(groups[NUMBER])).all()
        ):
            raise ValueError("the scoreboard's losses by group do not fit")
        self._groups, self._gone = np.array(groups, np.float64), np.array(gone, np.float64)
