"""Collaborative filtering from raw ratings, one event at a time."""

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream_rank.engine.bilinear import state
from stream_rank.engine.bilinear.views import MOOD_KEPT
from stream_rank.errors import LabelError
from stream_rank.learners.base.capabilities import Rule
from stream_rank.learners.base.learner import Features, check_dtype, check_magnitude
from stream_rank.learners.base.rank_learner import RankLearner
from stream_rank.learners.models.bilinear import Bilinear
from stream_rank.learners.tables.blocks import DenseBlock, SparseBlock
from stream_rank.learners.tables.category_rows import category_rows, numbers_by_name
from stream_rank.learners.tables.pairs import PairBlock
from stream_rank.learners.tables.rows import Rows
from stream_rank.learners.tables.table import Table
from stream_rank.learners.tables.together import together
from stream_rank.learners.tables.vocabulary import Vocabulary
from stream_rank.parameters import check_number, check_whole

__all__ = ["Candidates", "OrdinalFactors"]

Array = npt.NDArray[Any]

_MOST_TRAITS = 1_000
_MOST_SEED = 1 << 63
_NOTHING: Array = np.empty(0)


class Candidates(NamedTuple):
    """Items that were looked up once, to be chosen from by many users."""

    ids: Sequence[Any]
    block: SparseBlock
    version: tuple[Vocabulary, int, int]
    """Whose names they were looked up in, and what those were then."""


class OrdinalFactors(RankLearner):
    """Ratings of items by users: what each is like, learned from (user, item, stars) and nothing else, in one pass with nothing to tune.

    The score of an event is

        offset(user) + mood(user) + (1 + agreement(user)) * offset(item) + traits(user) . traits(item) + offsets of what else is said,

    and the label is at most rank r with probability `L(exp(scale(user)) * c(r) - score)`, where `L(z) = 1 / (1 + exp(-z))`, thresholds
    `c(1) < ... < c(k-1)` are one in the middle and the logarithms of the gaps from there on, and a user's scale says whether they
    use the ends of the scale. Every parameter is Gaussian with a variance of its own, so that who is new moves fast and who is
    long known slowly. An event is one step of assumed-density filtering, as in Matchbox: all parameters move together to where belief
    and likelihood are largest, the product of traits taken as straight where it is now. (Measured: repeating the step from where it led to
    counts what users and items are uncertain of twice, and loses more than traits gain.)

    *Prior variances are learned*: a new user is believed to be like users so far (expectation-maximisation with an event as
    a step), and so are items. *Users drift*: with each of their events the variance of their offset grows by `drift` of the
    prior's; their *mood*, an offset that keeps 0.85 of itself from one of their events to the next, takes up what
    ratings that come one after the other have in common, and its variance is learned, down to nothing where there is none of it.
    Both go by events and not by time: a learner is told x and y, by River as by a run, and what it becomes depends on these alone.
    What changes with the clock can be said of an event, as its hour, its day or its season.
    *Agreement* is how far a user goes along with what all think of an item.
    An item's traits have small means by chance before its first event, which the seed and its name decide.

    `user` and `item` are the names of features whose values are names: text, numbers, or both (17 and "17" are the same one). In a stream of prepared
    features they are indicators, `user=ann`. Other features, numbers or names, have an offset each; of those named in
    `user_features` and `item_features` the offset is part of the user's or the item's, and they have traits that are added to theirs: a new film
    has the traits of its genres. Numbers should be scaled before, and other texts become features by a stage too (`scale | ordinal-factors`).

    A preference of one item to another, for the same user or without one, says that the first one's score is ahead by more than the width of ties,
    with the same noise (Bradley and Terry's model); a tie, that it is not. The width is learned; a magnitude is not looked at, but for 0.

    `predict_one` is the median rank, which has the smallest expected rank loss; `expected_one` the mean, as a number; `predict_proba_one` includes
    what is uncertain; `top_k` chooses among items.

    Cost: O(traits * features of the event) and O(n_ranks). Memory for t traits: `16 t + 120` bytes a user, item or other
    feature, less by `8 t + 32` with `dtype="float32"`, and its name. In a run, `max_features`, `min_count` and `expire_after` bound
    how many there are.

    Parameters
    ----------
    n_ranks
        The number of ranks, when labels are 1 to `n_ranks`. None discovers ordered labels of any sortable type as they come.
    traits
        How many traits users and items have; 0 leaves offsets alone.
    user, item
        The names of the features that name users and items.
    user_features, item_features
        Other features that say something of the user, or of the item.
    drift
        How much of the prior's variance of an offset a user's event adds to theirs.
    seed
        Of the traits' means before the first event.
    dtype
        "float64", or "float32" for half of the memory.

    References
    ----------
    D. Stern, R. Herbrich and T. Graepel. Matchbox: large scale online Bayesian recommendations. WWW 2009.
    P. McCullagh. Regression models for ordinal data. JRSS B 42, 1980.
    M. Opper. A Bayesian approach to on-line learning. 1998.

    Examples
    --------
    >>> from stream_rank import OrdinalFactors
    >>> model = OrdinalFactors(n_ranks=5)
    >>> for user, item, stars in [("ann", "up", 5), ("ann", "heat", 1), ("bob", "up", 4), ("bob", 17, 2)] * 20:
    ...     model.learn_one({"user": user, "item": item}, stars)
    >>> [model.predict_one({"user": "ann", "item": item}) for item in ("up", "heat", 17)]
    [5, 1, 1]
    >>> model.top_k("bob", ["heat", 17, "up"], k=2)
    [('up', 0.8...), (17, -0.6...)]
    """

    _model: Bilinear
    gives_probabilities = True
    asks_what_it_learns = finds_items = True
    takes_names = ("user", "item")

    def __init__(
        self,
        n_ranks: int | None = None,
        traits: int = 8,
        user: Hashable = "user",
        item: Hashable = "item",
        user_features: Sequence[str] | None = None,
        item_features: Sequence[str] | None = None,
        drift: float = 0.005,
        seed: int = 1,
        dtype: str = "float64",
    ) -> None:
        check_whole("traits", traits, 0)
        if traits > _MOST_TRAITS:
            raise ValueError(f"traits must be at most {_MOST_TRAITS:,}, not {traits:,}")
        check_number("drift", drift, 0.0, 1.0)
        check_whole("seed", seed, 0)
        if seed >= _MOST_SEED:
            raise ValueError(f"seed must be below 2**63, not {seed}")
        for name, value in (("user_features", user_features), ("item_features", item_features)):
            if not (
                value is None
                or (
                    isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
                )
            ):
                raise ValueError(f"{name} must be a list of names, not {value!r}")
        of_user, of_item = list(user_features or ()), list(item_features or ())
        fields = [user, item, *of_user, *of_item]
        for field in fields:
            if "=" in str(field):
                raise ValueError(f"{field!r} has a =, which ends the name of a feature: user=ann")
        if len(set(fields)) < len(fields):
            raise ValueError(f"a feature can be said of one thing only: {fields}")
        self.traits = traits
        self.user = user
        self.item = item
        self.user_features = user_features
        self.item_features = item_features
        self.drift = drift
        self.seed = seed
        self._role_of = {
            str(user): state.USER,
            str(item): state.ITEM,
            **dict.fromkeys(of_user, state.USER_SIDE),
            **dict.fromkeys(of_item, state.ITEM_SIDE),
        }
        self._names = frozenset((user, item))
        self._texts = frozenset((*of_user, *of_item))
        self._exchanges = 0
        self._all_items: Candidates | None = None
        self.dtype = check_dtype(dtype)
        super().__init__(n_ranks, dtype)

    def _new_model(self, n_ranks: int) -> Bilinear:
        return Bilinear(n_ranks, self.traits, self.drift, self.dtype)

    # Names ------------------------------------------------------------------------------------

    def _role(self, name: Hashable) -> int:
        """What a feature is of: `user=ann` of a user."""
        field, equals, _ = str(name).partition("=")
        found = self._role_of.get(field, state.EVENT_SIDE)
        return found if equals or found in (state.USER_SIDE, state.ITEM_SIDE) else state.EVENT_SIDE

    def _key(self, name: Hashable) -> int:
        digest = hashlib.blake2b(str(name).encode(errors="surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "little", signed=True)

    def _assign(self, slots: Sequence[int]) -> None:
        """Give the features in slots their roles, and items' traits what chance says of their names."""
        names = [self._vocabulary.names[slot] for slot in slots]
        roles = np.array([self._role(name) for name in names], np.int64)
        chosen = (state.ITEM, state.ITEM_SIDE)
        keys = np.array(
            [
                self._key(name) if role in chosen else 0
                for name, role in zip(names, roles.tolist(), strict=True)
            ],
            np.int64,
        )
        self._model.introduce(np.array(slots, np.int64), roles, keys, self.seed)

    def _fit_to_vocabulary(self) -> None:
        super()._fit_to_vocabulary()
        known = self._model.known
        if known < len(self._vocabulary):
            self._assign(range(known, len(self._vocabulary)))

    def exchange(self, names: Mapping[Hashable, Hashable]) -> None:
        """Forget users, items and features, and give the place of each to another."""
        slots = self._vocabulary.exchange(names)
        if len(slots):
            self._exchanges += 1
            self._model.forget(slots)
            self._assign(slots.tolist())
            self._fit_to_vocabulary()

    def adopt(self, arrays: Mapping[str, Array]) -> None:
        """Take the arrays of a state for which room was made; a `ValueError` if they are not of such a learner."""
        roles = self._model.roles.copy()
        super().adopt(arrays)
        if not (self._model.roles == roles).all():
            raise ValueError("features of other roles than their names say")

    # Events -----------------------------------------------------------------------------------

    def _checked(self, x: Features) -> dict[Hashable, float]:
        """The features as numbers, with names as indicators, or an error that names the one that is neither."""
        if not isinstance(x, Mapping):
            return super()._checked(x)
        return numbers_by_name(x, self._names, self._texts, self._model.bound)

    def _open(self, X: Any) -> Table:
        """A table of which every event can be learned; columns of users, items and what is said of them become indicators."""
        if not isinstance(X, Rows):
            rows = category_rows(X, self._names, self._texts, self._model.bound)
            if rows is not None:
                return rows
        return super()._open(X)

    def _even_at_first(self, shares: Any) -> Any:
        return shares  # probabilities from the beginning

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, float]:
        """Each label's probability, what is uncertain about user, item and thresholds included."""
        return super().predict_proba_one(x, **kwargs)

    def expected_one(self, x: Features) -> float:
        """The mean of the label, as a number between the lowest and the highest; NaN as long as no label is known."""
        return self._means(self._ballots(x)[0][None])[0] if self._labels.known else float("nan")

    def expected_many(self, X: Any) -> Array:
        """The same for the rows of a table."""
        shares = self._all_ballots(X)[1]
        return np.array(self._means(shares) if self._labels.known else [np.nan] * len(shares))

    def _means(self, shares: Array) -> list[float]:
        try:
            labels = [float(label) for label in self._labels.known]
        except (TypeError, ValueError):
            raise LabelError(
                f"the label {self._labels.known[0]!r} is no number, so there is no mean of labels; predict_one gives the median"
            ) from None
        return [
            sum(label * share for label, share in zip(labels, row, strict=False))
            for row in shares.tolist()
        ]

    # Preferences ------------------------------------------------------------------------------

    def _teach_pair(self, preferred: Features, other: Features, magnitude: float) -> None:
        magnitude = check_magnitude(magnitude, self._model.bound)
        first, second = self._checked(preferred), self._checked(other)
        self._introduce({**first, **second})
        pair = PairBlock(self._packed([first]), self._packed([second]))
        self._model.run_pairs(pair, np.array([magnitude]), _NOTHING, _NOTHING)

    def _packed(self, events: Iterable[Mapping[Hashable, float]]) -> SparseBlock:
        """The known features of events as a block."""
        slot_of = self._vocabulary.slot_of
        entries = [
            sorted((slot_of[name], value) for name, value in each.items() if name in slot_of)
            for each in events
        ]
        starts = np.cumsum([0, *map(len, entries)], dtype=np.int64)
        slots = np.array([slot for row in entries for slot, _ in row], np.int64)
        values = np.array([value for row in entries for _, value in row], self.dtype)
        return SparseBlock(0, len(entries), starts, slots, values)

    def _take_pairs(
        self, preferred: Any, other: Any, magnitude: Any, asking: bool, proba: Array
    ) -> npt.NDArray[np.float64]:
        one, two = (
            each
            if isinstance(each, Rows)
            else category_rows(each, self._names, self._texts, self._model.bound)
            for each in (preferred, other)
        )
        if one is not None and two is not None and len(one) == len(two):
            preferred, other = together(one, two)
        return super()._take_pairs(preferred, other, magnitude, asking, proba)

    # Choosing ---------------------------------------------------------------------------------

    @property
    def _version(self) -> tuple[Vocabulary, int, int]:
        return self._vocabulary, len(self._vocabulary), self._exchanges

    def candidates(self, items: Iterable[Any] | None = None) -> Candidates:
        """Items to choose from, looked up once: names of items, or dicts of what is said of each; None for all items known.

        They are looked up again by whoever uses them after new names came.
        """
        if items is None:
            start = f"{self.item}="
            items = [
                str(self._vocabulary.names[slot]).removeprefix(start)
                for slot in np.flatnonzero(self._model.roles == state.ITEM).tolist()
            ]
        ids = list(items)
        events = (each if isinstance(each, Mapping) else {self.item: each} for each in ids)
        block = self._packed([self._checked(each) for each in events])
        return Candidates(ids, block, self._version)

    def top_k(
        self,
        user: Any,
        candidates: Iterable[Any] | Candidates | None = None,
        k: int = 10,
        width: float = 0.0,
    ) -> list[tuple[Any, float]]:
        """The best items for a user, each with its score, the best first.

        `user` is a name, or a dict of all that is said of the user and the event. `candidates` are names of items, dicts of what is said
        of each, what `candidates` made of such, or None for all items that were learned. An item's score is its mean and `width` times its
        deviation: above 0, items of which little is known are tried too. Of equal ones the earlier is better.
        """
        check_whole("k", k)
        check_number("width", width, -1e9, 1e9)
        if candidates is None:
            if self._all_items is None or self._all_items.version != self._version:
                self._all_items = self.candidates()
            found = self._all_items
        elif isinstance(candidates, Candidates):
            found = (
                candidates
                if candidates.version == self._version
                else self.candidates(candidates.ids)
            )
        else:
            found = self.candidates(candidates)
        event = self._checked(user if isinstance(user, Mapping) else {self.user: user})
        most = min(k, len(found.ids))
        places, scores = self._model.choose(self._packed([event]), found.block, float(width), most)
        return [
            (found.ids[place], score)
            for place, score in zip(places.tolist(), scores.tolist(), strict=True)
        ]

    # What it tells about itself -----------------------------------------------------------------

    @property
    def n_updates(self) -> int:
        """The number of events learned: each moves the belief."""
        return super().n_updates

    def _plain_rule(self) -> Rule:
        """The rule without users and items, which it follows as long as there are none."""
        named = np.isin(
            self._model.roles, (state.USER, state.USER_SIDE, state.ITEM, state.ITEM_SIDE)
        )
        return super()._plain_rule()._replace(exact=not named.any())

    def beside_rule(self) -> dict[str, Any]:
        """What is believed of users and items beside their offsets, in numbers that another program can score with.

        The score that thresholds are compared with is `exp(-scale)` times: the weights of the user and of what else is said, the mood times `mood_kept`,
        `1 + agreement` times the weights of the item and its features, and the product of the sums of both sides' traits. What is not
        there is 0.
        """
        names, roles, model = self._vocabulary.names, self._model.roles, self._model
        learned = model.memory["learned"][: len(roles)] > 0
        users, items = (
            [str(names[slot]) for slot in np.flatnonzero(learned & np.isin(roles, some)).tolist()]
            for some in ((state.USER, state.USER_SIDE), (state.ITEM, state.ITEM_SIDE))
        )
        slots = np.flatnonzero(learned & (roles == state.USER)).tolist()
        found: dict[str, Any] = {"user": users, "item": items, "mood_kept": MOOD_KEPT}
        for key, which in (
            ("moods", state.MOOD),
            ("scales", state.SCALE),
            ("agreements", state.AGREEMENT),
        ):
            means = model.numbers(which)[0]
            found[key] = {str(names[slot]): float(means[slot]) for slot in slots}
        means = model.traits()[0].astype(np.float64)
        sides = np.flatnonzero(learned & (roles != state.EVENT_SIDE)).tolist()
        found["traits"] = {str(names[slot]): means[slot].tolist() for slot in sides}
        return {"factors": found}

    def rule_arrays(self) -> dict[str, Array]:
        """The rule as arrays, a row a feature: offsets (the weights) and traits with their variances, roles, and events learned."""
        model = self._model
        traits, variances = model.traits()
        return {
            **super().rule_arrays(),
            "roles": model.roles.copy(),
            "events": model.memory["learned"][: model.known].copy(),
            "weight_variances": model.numbers(state.OFFSET)[1],
            "traits": traits,
            "trait_variances": variances,
        }

    def _alone(self, values: Mapping[Hashable, float]) -> DenseBlock | SparseBlock:
        return self._packed([values])
