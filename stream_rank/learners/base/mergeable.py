"""Learners that learned apart, in one."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from stream_rank.errors import FeatureError, MergeError
from stream_rank.learners.base.alike import check_alike
from stream_rank.learners.base.pairs import merged_odds
from stream_rank.learners.models.model import Model
from stream_rank.learners.models.part import Part
from stream_rank.learners.tables.vocabulary import Vocabulary

__all__ = ["Mergeable"]


class Mergeable:
    """The part of a learner that makes one out of several. `Learner` implements the abstract methods.

    Names, labels and groups are agreed on here; how states add up is for the model to say.
    """

    _model: Model
    _vocabulary: Vocabulary
    _odds: npt.NDArray[Any]

    def _grow(self, before: int) -> None:
        raise NotImplementedError

    def merged(self, others: Sequence[Self]) -> Self:
        """One learner out of this and others that learned apart, as `stream_rank.average` says. None of them changes."""
        check_alike([self, *others], "learner")
        whole = deepcopy(self)
        if others:
            try:
                whole._join([deepcopy(each) for each in others])  # noqa: SLF001 - of its own class
            except MergeError as error:
                raise MergeError(f"there is no average of {type(self).__name__}: {error}") from None
        return whole

    def _join(self, others: Sequence[Self]) -> None:
        """Know all that others know, and let the model be what all models are together; the others may change."""
        self._model.merge(self._parts(others))
        self._odds = merged_odds([self._odds, *(each._odds for each in others)])  # noqa: SLF001

    def _parts(self, others: Sequence[Self]) -> list[Part]:
        """The models, this one's first, after room was made for the features of all."""
        before = len(self._vocabulary)
        theirs = [(each._model, each._vocabulary.names) for each in others]  # noqa: SLF001
        for _, names in theirs:
            self._vocabulary.add(names)
        try:
            self._grow(before)
        except FeatureError as error:
            raise MergeError(str(error)) from None
        own = Part(self._model, np.arange(before))
        return [own, *(Part(model, self._vocabulary.slots(names)) for model, names in theirs)]
