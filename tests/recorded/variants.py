"""The learners that the table has rows of: all of the package, and the variants that take other ways through the engine."""

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

import stream_rank
from stream_rank import Gaussian, Polynomial

__all__ = ["CLASSES", "RANKS", "SCORES", "VARIANTS", "Variant", "few"]

CLASSES: dict[str, Any] = {
    "prank": stream_rank.PRank,
    "averaged-prank": stream_rank.AveragedPRank,
    "voted-prank": stream_rank.VotedPRank,
    "oap-bpm": stream_rank.OAPBPM,
    "oap-bagg": stream_rank.OAPBagg,
    "oap-vp": stream_rank.OAPVP,
    "widrow-hoff": stream_rank.WidrowHoff,
    "online-mprank": stream_rank.OnlineMPRank,
    "recursive-mprank": stream_rank.RecursiveMPRank,
    "ordinal-logit": stream_rank.OrdinalLogit,
    "ordinal-factors": stream_rank.OrdinalFactors,
    "nearest-ranks": stream_rank.NearestRanks,
    "pairwise-ranker": stream_rank.PairwiseRanker,
}
"""By the names of the command line, which stay; where the modules are does not."""
_GROUPED = ("online-mprank", "recursive-mprank", "pairwise-ranker")
_SEED = 1


class Variant(NamedTuple):
    """A learner's name and parameters, for the command line and for Python."""

    name: str
    parameters: dict[str, Any]

    @property
    def spec(self) -> str:
        """What `--learner` is given."""
        said = ",".join(f"{key}={_text(value)}" for key, value in self.parameters.items())
        return f"{self.name}:{said}" if said else self.name

    @property
    def grouped(self) -> bool:
        """Whether its events may come in groups."""
        return self.name in _GROUPED

    @property
    def ranks(self) -> bool:
        """Whether it cannot do without ranks."""
        return not self.grouped and self.name != "widrow-hoff"

    def make(self, n_ranks: int | None) -> Any:
        """A new learner, with the seed that the command line gives."""
        known = inspect.signature(CLASSES[self.name].__init__).parameters
        given = {"n_ranks": n_ranks, "seed": _SEED}
        fixed = {key: value for key, value in given.items() if key in known}
        return CLASSES[self.name](**{**fixed, **self.parameters})


def _text(value: Any) -> str:
    if isinstance(value, Gaussian):
        return f"gaussian({'' if value.width is None else repr(value.width)})"
    if isinstance(value, Polynomial):
        return f"polynomial({value.degree!r},{value.offset!r})"
    return str(value)


def _of(name: str, **parameters: Any) -> Variant:
    return Variant(name, parameters)


_SQUARE = Polynomial(2, 1.0)
_LOSSES = (
    *("hinge", "hr-1", "hr-2", "mp-1", "mp-2", "hmp-1", "hmp-2", "svr-1", "svr-2"),
    *("rls-unit", "rls-magnitude", "rls-relative"),
)
VARIANTS = [
    _of("prank"),
    _of("prank", dtype="float32"),
    _of("prank", kernel=Gaussian(1.0), budget=20),
    _of("prank", kernel=_SQUARE, budget=30, dtype="float32"),
    _of("averaged-prank"),
    _of("averaged-prank", dtype="float32"),
    _of("voted-prank"),
    _of("voted-prank", max_hypotheses=7),
    _of("voted-prank", max_hypotheses=12, dtype="float32"),
    _of("oap-bpm"),
    _of("oap-bpm", n_members=9, sampling=0.6),
    _of("oap-bpm", n_members=70, dtype="float32"),
    _of("oap-bpm", n_members=9, kernel=_SQUARE, budget=20),
    _of("oap-bpm", n_members=9, kernel=Gaussian(1.0), budget=20),
    _of("prank", dtype="float32", update="passive-aggressive"),
    _of("averaged-prank", update="romma"),
    _of("oap-bpm", n_members=9, update="arow"),
    _of("averaged-prank", kernel=Gaussian(), budget=20),
    _of("voted-prank", max_hypotheses=7, kernel=_SQUARE, budget=20),
    _of("oap-bagg"),
    _of("oap-bagg", n_members=9, dtype="float32"),
    _of("oap-bagg", n_members=9, kernel=_SQUARE, budget=20),
    _of("oap-vp"),
    _of("oap-vp", n_members=9, dtype="float32"),
    _of("oap-vp", n_members=9, kernel=_SQUARE, budget=20),
    _of("widrow-hoff"),
    _of("widrow-hoff", dtype="float32"),
    _of("widrow-hoff", n_ranks=None, learning_rate=0.02, intercept=True),
    _of("ordinal-logit"),
    _of("ordinal-logit", full_features=3, forgetting=0.99),
    _of("ordinal-logit", precision="diagonal", decision="mode"),
    _of("ordinal-factors", traits=3),
    _of("online-mprank"),
    _of("online-mprank", budget=20),
    _of("online-mprank", C=10.0, budget=33, revisits=2),
    _of("online-mprank", learning_rate=0.05, budget=20),
    _of("online-mprank", kernel=Gaussian(0.5), budget=40),
    _of("online-mprank", kernel=_SQUARE, budget=40, revisits=1),
    _of("recursive-mprank"),
    _of("recursive-mprank", C=2.0),
    _of("recursive-mprank", forgetting=0.99),
    _of("recursive-mprank", regularization=0.25, forgetting=0.9, max_groups=2),
    *[_of("pairwise-ranker", loss=loss) for loss in _LOSSES],
    _of("pairwise-ranker", loss="mp-2", regularization=0.125, window=10, pairs=3),
    _of("pairwise-ranker", loss="svr-1", epsilon=0.5, learning_rate=0.1, seed=7),
]
RANKS = [each for each in VARIANTS if each.ranks]
SCORES = [each for each in VARIANTS if not each.ranks]


def few(variants: Sequence[Variant]) -> list[Variant]:
    """One of every learner, and of every kernel in either precision: enough where only the reading is another.

    What is rejected depends on what the learners can bear, so those that bear least must be among them.
    """
    kinds: set[object] = set()
    found = []
    for each in variants:
        kernel = type(each.parameters.get("kernel"))
        new = {each.name, (kernel, each.parameters.get("dtype"))} - kinds
        if new:
            found.append(each)
            kinds |= new
    return found
