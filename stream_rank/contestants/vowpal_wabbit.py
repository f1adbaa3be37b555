"""Vowpal Wabbit as an estimator, with its own defaults: one model of squared loss, whose number is rounded where ranks are wanted."""

from collections.abc import Mapping
from typing import Any

from river import base

from stream_rank.errors import ConfigError

__all__ = ["VowpalWabbitRanks", "VowpalWabbitScores", "wabbit_of"]

_SEPARATORS = str.maketrans(" :|\t\r\n", "______")


def _line(x: Mapping[Any, float]) -> str:
    """An event as Vowpal Wabbit reads it.

    >>> _line({"brand=New Ash": 1.0, "price": 9.5})
    '| brand=New_Ash:1.0 price:9.5'
    """
    return "| " + " ".join(
        f"{str(name).translate(_SEPARATORS)}:{value!r}" for name, value in x.items()
    )


class _Wabbit:
    """What both share."""

    def __init__(self, options: str) -> None:
        try:
            from vowpalwabbit import pyvw
        except ImportError:
            raise ConfigError(
                "vowpal-wabbit is not installed: pip install vowpalwabbit, or leave it away"
            ) from None
        self._workspace: Any = pyvw.Workspace(f"--quiet {options}".strip())

    def predict(self, x: Mapping[Any, float]) -> float:
        """A number."""
        return float(self._workspace.predict(_line(x)))

    def learn(self, x: Mapping[Any, float], y: float) -> None:
        """Learn an event."""
        self._workspace.learn(f"{y!r} {_line(x)}")


class VowpalWabbitScores(base.Regressor):
    """Scores."""

    def __init__(self, options: str = "") -> None:
        self.options = options
        self._wabbit = _Wabbit(options)

    def predict_one(self, x: dict[Any, Any]) -> float:
        """A score."""
        return self._wabbit.predict(x)

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learn an event."""
        self._wabbit.learn(x, float(y))


class VowpalWabbitRanks(base.Classifier):
    """Ranks: the nearest one."""

    def __init__(self, n_ranks: int, options: str = "") -> None:
        self.n_ranks, self.options = n_ranks, options
        self._wabbit = _Wabbit(options)

    @property
    def _multiclass(self) -> bool:
        return True

    def predict_one(self, x: dict[Any, Any], **_: Any) -> int:
        """A rank."""
        number = self._wabbit.predict(x)
        return min(max(round(number), 1), self.n_ranks) if number == number else 1

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learn an event."""
        self._wabbit.learn(x, float(y))


def wabbit_of(options: str, n_ranks: int | None) -> VowpalWabbitRanks | VowpalWabbitScores:
    """The estimator for ranks, or for scores where there are none; `options` are its own, as in `-l 0.3`."""
    if n_ranks is None:
        return VowpalWabbitScores(options)
    return VowpalWabbitRanks(n_ranks, options)
