"""Learners from specifications such as `scale | cross:user*item | oap-bpm:n_members=50,sampling=0.6`."""

import ast
import importlib
import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any

from river import base

from stream_rank.committees.hedge import Hedge
from stream_rank.contestants.committee import Committee
from stream_rank.contestants.contestant import Contestant
from stream_rank.contestants.member import Member
from stream_rank.contestants.native_learner import NativeLearner
from stream_rank.contestants.peers import WABBIT
from stream_rank.contestants.preparations import Chain, Preparations, specs_of
from stream_rank.contestants.prepared_learner import PreparedLearner
from stream_rank.contestants.river_learner import RiverLearner
from stream_rank.contestants.spec_parts import members_of, separate, steps_of
from stream_rank.contestants.vowpal_wabbit import wabbit_of
from stream_rank.errors import ConfigError, UnknownLabelsError, unknown_name
from stream_rank.features.catalogue import STAGES
from stream_rank.features.feature_stage import FeatureStage
from stream_rank.features.prepared import Prepared
from stream_rank.kernels import Gaussian, Kernel, Linear, Polynomial
from stream_rank.learners.base.learner import Learner
from stream_rank.learners.catalogue import LEARNERS
from stream_rank.learners.names import PREPARATION

__all__ = [
    *("chain_of", "contestant_of", "contestant_of_model", "contestants_of"),
    *("make", "make_stage", "names_read"),
]

_KERNELS: dict[str, type[Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "gaussian": Gaussian,
}
_CALL = re.compile(r"([A-Za-z]+)\((.*)\)")


def _value(text: str) -> Any:
    """A number, True, False, None, a kernel as in gaussian(0.5), or else text."""
    call = _CALL.fullmatch(text)
    if call and call[1].lower() in _KERNELS:
        try:
            return _KERNELS[call[1].lower()](
                *(ast.literal_eval(part) for part in separate(call[2]))
            )
        except (ValueError, TypeError, SyntaxError) as error:
            raise ConfigError(
                f"kernel {text!r}: its parameters are numbers without names, as in gaussian(0.5) or polynomial(2, 1.0)"
            ) from error
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _class_of(name: str, allow_imports: Sequence[str] = ()) -> type[Any]:
    """A learner of the package by its name, or an estimator of River's by its path, or of other modules that are allowed."""
    for known, learner in LEARNERS.items():
        if name.lower() in (known, learner.__name__.lower()):
            return learner
    if "." not in name:
        raise ConfigError(unknown_name("learner", name, LEARNERS))
    module, _, attribute = name.rpartition(".")
    if not module or module.startswith("."):
        raise ConfigError(f"there is no estimator {name!r}")
    # importing runs a module, whatever is in it
    if not any(f"{module}.".startswith(f"{each}.") for each in ("river", *allow_imports)):
        raise ConfigError(
            f"learner {name!r} is not of River; to import it, name its module in `allow_imports`"
        )
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise ConfigError(f"there is no estimator {name!r}: {error}") from None
    if not (isinstance(found, type) and issubclass(found, base.Classifier | base.Regressor)):
        raise ConfigError(f"{name} is neither a classifier nor a regressor of River's kind")
    return found


def names_read(spec: str) -> list[str]:
    """The features whose numbers are names to a learner, or to a member of a committee.

    >>> names_read("raw | ordinal-factors:item=film"), names_read("hedge")
    (['user', 'film'], [])
    """
    found = []
    for each in members_of(spec) or [spec]:
        name, _, rest = steps_of(each)[-1].partition(":")
        for known, learner in LEARNERS.items():
            if name.strip().lower() in (known, learner.__name__.lower()) and learner.takes_names:
                given = _arguments(f"learner {spec!r}", learner, rest)[1]
                usual = inspect.signature(learner.__init__).parameters
                found += [str(given.get(key, usual[key].default)) for key in learner.takes_names]
    return found


def _arguments(
    what: str, thing: type[Any], rest: str, listed: str | None = None
) -> tuple[list[str], dict[str, Any]]:
    """The parameters that a class has, and those that are given; a `ConfigError` for one that it does not have.

    What is given without a name is a part of the list `listed`.
    """
    known = [each for each in inspect.signature(thing.__init__).parameters if each != "self"]
    arguments: dict[str, Any] = {}
    for part in separate(rest):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals and listed is not None:
            arguments.setdefault(listed, []).append(key)
            continue
        if not equals:
            raise ConfigError(f"{what}: {part!r} is not of the form parameter=value")
        if key not in known:
            raise ConfigError(f"{what}: {unknown_name('parameter', key, known)}")
        arguments[key] = _value(value)
    return known, arguments


def make_stage(spec: str, seed: int | None = None) -> FeatureStage:
    """The stage that a specification means; the seed is given to stages that take one and were not told otherwise.

    >>> make_stage("cross:user*item").pairs
    ['user*item']
    """
    name, _, rest = spec.partition(":")
    if name.strip() not in STAGES:
        raise ConfigError(
            f"stage {spec!r}: {unknown_name('stage', name.strip(), STAGES)}; what stands before a | prepares features"
        )
    stage = STAGES[name.strip()]
    known, arguments = _arguments(f"stage {spec!r}", stage, rest, stage.listed)
    if "seed" in known and seed is not None:
        arguments.setdefault("seed", seed)
    try:
        return stage(**arguments)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"stage {spec!r}: {error}") from None


def chain_of(spec: str, preparation: str = "auto") -> tuple[list[str], str]:
    """The specifications of a learner's stages, and its own.

    A learner without stages gets those of `preparation`: the ones that suit it ("auto"), none ("raw"), or a chain.

    >>> chain_of("scale | prank"), chain_of("raw | prank"), chain_of("prank:dtype=float32")
    ((['scale'], 'prank'), ([], 'prank'), (['scale', 'normalize'], 'prank:dtype=float32'))
    """
    *stages, learner = steps_of(spec)
    if not stages:
        name = learner.partition(":")[0].strip()
        chain = PREPARATION.get(name, "raw") if preparation == "auto" else preparation
        stages = steps_of(chain)
    return ([] if stages == ["raw"] else stages), learner


def make(
    spec: str, n_ranks: int | None, seed: int | None, allow_imports: Sequence[str] = ()
) -> Any:
    """The learner that a specification means.

    The number of ranks and the seed are given to learners that take them and were not told otherwise. Estimators are imported from
    `river` and the modules of `allow_imports`, and those below them.

    >>> make("oap-bpm:n_members=50", n_ranks=5, seed=1).n_members
    50
    """
    name, _, rest = spec.partition(":")
    if name.strip() == WABBIT:
        return wabbit_of(rest.strip(), n_ranks)
    learner = _class_of(name.strip(), allow_imports)
    known, arguments = _arguments(f"learner {spec!r}", learner, rest)
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
        raise UnknownLabelsError(
            f"learner {name!r} learns ranks: how many are there? `n_ranks`, or `labels`; for labels that are any numbers, and for preferences alone, "
            "name a learner of scores with `learners`, such as recursive-mprank or pairwise-ranker"
        )
    told = getattr(model, "n_ranks", None)
    if own and told is not None and n_ranks is not None and told != n_ranks:
        raise ConfigError(f"learner {spec!r} has {told} ranks, and `n_ranks` is {n_ranks}")
    return model


def contestant_of(name: str, model: Any, n_ranks: int | None) -> Contestant:
    """A learner as a contestant; a `ConfigError` if it cannot learn such a stream."""
    if isinstance(model, Learner):  # the only check of a learner's class
        return NativeLearner(name, model, n_ranks)
    return RiverLearner(name, model, n_ranks)


def contestant_of_model(model: Learner | Prepared | Hedge) -> Contestant:
    """A learner, stages and a learner, or a committee of such, that was loaded from a file."""
    preparations = Preparations()
    if isinstance(model, Hedge):
        members = [
            _behind(str(i), each, preparations, Member) for i, each in enumerate(model.learners)
        ]
        return Committee("model", members, model.votes)
    if isinstance(model, Prepared):
        found: Contestant = _behind("model", model, preparations, PreparedLearner)
        return found
    return contestant_of("model", model, getattr(model, "n_ranks", None))


def _behind(
    name: str, model: Learner | Prepared, preparations: Preparations, kind: type[Any]
) -> Any:
    """A learner behind its stages, which it shares with none."""
    stages, learner = (model.stages, model.learner) if isinstance(model, Prepared) else ([], model)
    chain = preparations.add([f"{name}.{i}" for i in range(len(stages))], stages)
    inner = contestant_of(name, learner, getattr(learner, "n_ranks", None))
    return kind(name, chain, preparations, inner)


def contestants_of(
    specs: list[str],
    n_ranks: int | None,
    seed: int | None,
    preparation: str = "raw",
    preparations: Preparations | None = None,
    allow_imports: Sequence[str] = (),
    chains: Mapping[str, Chain] | None = None,
    members: Mapping[str, Sequence[str]] | None = None,
) -> list[Contestant]:
    """The learners of a run, each under the name that it was asked for by; their stages are added to `preparations`.

    Behind a committee come its members, unless they were asked for themselves. `chains` are what the chains are called of those
    learners that have numbered ones, and `members` those of committees that learned before: what a committee has by default may have changed.
    """
    if len(set(specs)) < len(specs):
        twice = next(spec for spec in specs if specs.count(spec) > 1)
        raise ConfigError(f"learner {twice!r} is given twice; give them different parameters")
    shared = Preparations() if preparations is None else preparations
    before = members or {}
    committees = {spec: its for spec in specs if (its := before.get(spec) or members_of(spec))}
    voting = {name for its in committees.values() for name in its}
    shared.asks_all = bool(voting)
    names = [
        name
        for spec in specs
        for name in (spec, *(each for each in committees.get(spec, ()) if each not in specs))
    ]
    found: dict[str, Contestant] = {}
    for spec in dict.fromkeys(names):
        if spec in committees:
            continue
        stages, learner = chain_of(spec, preparation)
        contestant = contestant_of(spec, make(learner, n_ranks, seed, allow_imports), n_ranks)
        called = (chains or {}).get(spec, ())
        made = [make_stage(stage, seed) for stage in stages]
        chain = shared.add(called if specs_of(called) == stages else stages, made)
        if spec in voting:
            _check_voter(spec, contestant)
            contestant = Member(spec, chain, shared, contestant)
        elif stages:
            contestant = PreparedLearner(spec, chain, shared, contestant)
        found[spec] = contestant
    for spec, its in committees.items():
        voters: list[Any] = [found[name] for name in its]
        found[spec] = Committee(spec, voters)
    return [found[name] for name in dict.fromkeys(names)]


def _check_voter(spec: str, contestant: Contestant) -> None:
    if contestant.state is None or contestant.predicts != "ranks":
        raise ConfigError(
            f"{spec!r} cannot vote in a committee: its members are learners of ranks of stream-rank"
        )
