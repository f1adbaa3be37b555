"""Learners from specifications such as `oap-bpm:n_members=50,sampling=0.6`."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

from river import base

from stream_rank.contestants.contestant import Contestant
from stream_rank.contestants.native_learner import NativeLearner
from stream_rank.contestants.river_learner import RiverLearner
from stream_rank.errors import ConfigError, unknown_name
from stream_rank.kernels import Gaussian, Kernel, Linear, Polynomial
from stream_rank.learners.base.learner import Learner
from stream_rank.learners.catalogue import LEARNERS

__all__ = ["contestant_of", "contestants_of", "make"]

_KERNELS: dict[str, type[Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "gaussian": Gaussian,
}
_CALL = re.compile(r"([A-Za-z]+)\((.*)\)")


def _separate(text: str) -> Iterator[str]:
    """Split at commas that are not inside brackets."""
    depth, begin = 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            yield text[begin:place]
            begin = place + 1
    if text[begin:].strip():
        yield text[begin:]


def _value(text: str) -> Any:
    """A number, True, False, None, a kernel as in gaussian(0.5), or else text."""
    call = _CALL.fullmatch(text)
    if call and call[1].lower() in _KERNELS:
        try:
            return _KERNELS[call[1].lower()](
                *(ast.literal_eval(part) for part in _separate(call[2]))
            )
        except (ValueError, TypeError, SyntaxError) as error:
            raise ConfigError(f"kernel {text}: {error}") from None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _class_of(name: str) -> type[Any]:
    """A learner of the package by its name, or an estimator of River's by its path."""
    for known, learner in LEARNERS.items():
        if name.lower() in (known, learner.__name__.lower()):
            return learner
    if "." not in name:
        raise ConfigError(unknown_name("learner", name, LEARNERS))
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        hint = "; a pipeline cannot be given: scale features before" if "|" in name else ""
        raise ConfigError(f"there is no estimator {name!r}: {error}{hint}") from None
    if not (isinstance(found, type) and issubclass(found, base.Classifier | base.Regressor)):
        raise ConfigError(f"{name} is neither a classifier nor a regressor of River's kind")
    return found


def make(spec: str, n_ranks: int | None, seed: int | None) -> Any:
    """The learner that a specification means.

    The number of ranks and the seed are given to learners that take them and were not told otherwise.

    >>> make("oap-bpm:n_members=50", n_ranks=5, seed=1).n_members
    50
    """
    name, _, rest = spec.partition(":")
    learner = _class_of(name.strip())
    known = [each for each in inspect.signature(learner.__init__).parameters if each != "self"]
    arguments: dict[str, Any] = {}
    for part in _separate(rest):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise ConfigError(f"learner {spec!r}: {part!r} is not of the form parameter=value")
        if key not in known:
            raise ConfigError(f"learner {spec!r}: {unknown_name('parameter', key, known)}")
        arguments[key] = _value(value)
    own = learner in LEARNERS.values()
    if own and n_ranks is None and arguments.get("n_ranks") is not None:
        raise ConfigError(
            f"learner {spec!r}: give the number of ranks with `n_ranks`, so that labels are checked"
        )
    for key, default in (("n_ranks", n_ranks if own else None), ("seed", seed)):
        if key in known and default is not None:
            arguments.setdefault(key, default)
    try:
        model = learner(**arguments)
    except Exception as error:  # third-party code may raise anything
        raise ConfigError(f"learner {spec!r}: {type(error).__name__}: {error}") from None
    if own and model.predicts == "ranks" and model.n_ranks is None:
        raise ConfigError(f"learner {name!r} learns ranks: how many are there? `n_ranks`")
    told = getattr(model, "n_ranks", None)
    if own and told is not None and n_ranks is not None and told != n_ranks:
        raise ConfigError(f"learner {spec!r} has {told} ranks, and `n_ranks` is {n_ranks}")
    return model


def contestant_of(name: str, model: Any, n_ranks: int | None) -> Contestant:
    """A learner as a contestant; a `ConfigError` if it cannot learn such a stream."""
    if isinstance(model, Learner):  # the only check of a learner's class
        return NativeLearner(name, model, n_ranks)
    return RiverLearner(name, model, n_ranks)


def contestants_of(specs: list[str], n_ranks: int | None, seed: int | None) -> list[Contestant]:
    """The learners of a run, each under the name that it was asked for by."""
    if len(set(specs)) < len(specs):
        twice = next(spec for spec in specs if specs.count(spec) > 1)
        raise ConfigError(f"learner {twice!r} is given twice; give them different parameters")
    return [contestant_of(spec, make(spec, n_ranks, seed), n_ranks) for spec in specs]
