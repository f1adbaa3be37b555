"""The rules by which members move: against projections that are found by trying every set of constraints."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from stream_rank import OAPBPM, AveragedPRank, Gaussian, OAPBagg, PRank, average
from stream_rank.checkpoint.model_file import state_digest
from stream_rank.errors import SnapshotError
from stream_rank.learners.base.restore import learner_from
from tests.learners.conftest import events
from tests.learners.oracle import coin

Array = np.ndarray[Any, Any]
UPDATES = ("passive-aggressive", "romma", "arow")


def nearest(start: Array, normals: Array, margins: Array, variances: Array, slack: Array) -> Array:
    """Of all v with `normals @ v + slack * multipliers >= margins` the nearest to the start, each direction by its variance.

    Every set of constraints is tried, until one has positive multipliers and contents the others.
    """
    for count in range(len(normals) + 1):
        for chosen in combinations(range(len(normals)), count):
            some = list(chosen)
            Z = normals[some]
            product = Z * variances @ Z.T + np.diag(slack[some])
            multipliers = np.linalg.solve(product, margins[some] - Z @ start)
            found: Array = start + variances * (multipliers @ Z)
            rest = [r for r in range(len(normals)) if r not in chosen]
            if (multipliers > 0).all() and (normals[rest] @ found >= margins[rest] - 1e-12).all():
                return found
    raise AssertionError("no set of constraints is it")


class Slow:
    """A member: weights and thresholds as one vector, and for `romma` a direction more for every constraint there ever was."""

    def __init__(self, update: str, d: int, k: int) -> None:
        self.update, self.d, self.k = update, d, k
        self.v = np.zeros(d + k - 1)
        self.information, self.own = np.zeros(d), 0.0

    def constraints(self, x: Array, y: int) -> Array:
        sides = np.where(np.arange(1, self.k) < y, 1.0, -1.0)
        of_all: Array = np.column_stack([np.tile(x, (self.k - 1, 1)), -np.eye(self.k - 1)])
        return sides[:, None] * of_all

    def learn(self, x: Array, y: int) -> None:
        self.demand(self.constraints(x, y), np.ones(self.k - 1), x)

    def learn_pair(self, difference: Array, magnitude: float) -> None:
        score = difference @ self.v[: self.d]
        side = 1.0 if magnitude or score < 0 else -1.0
        normal = side * np.concatenate([difference, np.zeros(self.k - 1)])
        self.demand(normal[None], np.array([magnitude]), difference, pair=True)

    def demand(self, normals: Array, margins: Array, x: Array, pair: bool = False) -> None:
        known = self.d + self.k - 1
        missed = normals @ self.v[:known] < margins
        if not missed.any():
            return
        if self.update == "romma":
            extent = np.sqrt(2.0 if pair else 1.0) * np.eye(len(normals))
            old = np.concatenate([self.v, np.zeros(len(normals))])
            before = np.zeros((len(normals), len(self.v) - known))
            demands = [np.column_stack([normals, before, extent])]
            margins = margins.copy()
            if old @ old > 0:
                demands.append(old[None])
                margins = np.append(margins, old @ old)
            demands_ = np.concatenate(demands)
            zero, one = np.zeros(len(old)), np.ones(len(old))
            self.v = nearest(zero, demands_, margins, one, np.zeros(len(margins)))
            return
        variances, slack = np.ones(known), np.full(len(normals), 1.0 if pair else 0.0)
        if self.update == "arow":
            variances[: self.d] = 1 / (1 + self.information)
            variances[self.d :] = 1 / (1 + self.own)
            slack[:] = 0.1
        after = nearest(self.v, normals, margins, variances, slack)
        if self.update == "arow":
            # a constraint that is not met in full, for its slack, has asked
            asked = (normals @ after < margins - 1e-13).sum()
            known_by = asked / (0.1 if pair else 0.1 + variances[-1])
            posterior = np.linalg.inv(np.diag(1 + self.information) + known_by * np.outer(x, x))
            self.information = 1 / np.diag(posterior) - 1
            self.own += 0.0 if pair else asked / (0.1 * (self.k - 1))
        self.v = after

    @property
    def rule(self) -> Array:
        return self.v[: self.d + self.k - 1]


def rule_of(model: Any, d: int) -> Array:
    weights = model.weights
    return np.array([weights.get(i, 0.0) for i in range(d)] + model.thresholds)


@pytest.mark.parametrize("update", UPDATES)
def test_every_move_is_the_nearest_rule(update: str) -> None:
    d, k, n_events = 3, 4, 30
    X, y = events(n_events, d, k, seed=5)
    y[::7] = np.random.default_rng(1).integers(1, k + 1, len(y[::7]))
    model, slow = PRank(k, update=update), Slow(update, d, k)
    for place, (x, rank) in enumerate(zip(X, y.tolist(), strict=True)):
        if place % 3 == 2:
            magnitude = (0.0, 1.0, 2.5)[place // 3 % 3]
            other = X[place - 1]
            model.learn_pair(dict(enumerate(x)), dict(enumerate(other)), magnitude)
            slow.learn_pair(x - other, magnitude)
        else:
            model.learn_one(dict(enumerate(x)), rank)
            slow.learn(x, rank)
        assert rule_of(model, d) == pytest.approx(slow.rule, abs=1e-7), place
    assert model.n_updates > n_events / 3


@pytest.mark.parametrize("update", UPDATES)
def test_the_mean_is_that_of_the_members_and_of_the_rounds(update: str) -> None:
    d, k = 3, 3
    X, y = events(60, d, k, seed=2)
    many = OAPBPM(k, n_members=5, sampling=0.5, seed=9, update=update)
    lasting = AveragedPRank(k, plain=True, update=update)
    members, alone = [Slow(update, d, k) for _ in range(5)], Slow(update, d, k)
    total = np.zeros(d + k - 1)
    for place, (x, rank) in enumerate(zip(X, y.tolist(), strict=True)):
        for j, member in enumerate(members):
            if coin(9, place, j, 0.5):
                member.learn(x, rank)
        alone.learn(x, rank)
        total += alone.rule
    for model in (many, lasting):
        model.learn_many(X, y)
    mean = np.mean([member.rule for member in members], axis=0)
    assert rule_of(many, d) == pytest.approx(mean, abs=1e-7)
    assert rule_of(lasting, d) == pytest.approx(total / len(X), abs=1e-7)


@settings(max_examples=40)
@given(
    st.integers(0, 2**32),
    st.integers(2, 12),
    st.sampled_from([1e-3, 1.0, 1e3, 1e60]),
    st.sampled_from(UPDATES),
)
def test_thresholds_stay_in_order_on_noise(
    seed: int, n_ranks: int, scale: float, update: str
) -> None:
    """Of every member, after every event, however large the numbers are."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(60, 3)) * generator.choice([1.0, scale], (60, 1))
    y = generator.integers(1, n_ranks + 1, 60)
    model: Any = OAPBagg(n_ranks, 5, 0.7, seed=seed, update=update)
    for first in range(0, 60, 3):
        model.learn_many(X[first : first + 3], y[first : first + 3])
        every = model._model.memory["thresholds"][:, 1:n_ranks]
        assert (np.diff(every, axis=1) >= 0).all()
    family, kept = model._model.memories().values()
    for section in (family["weights"], family["mean"], every, kept["own"], kept["information"]):
        assert np.isfinite(section).all()


def test_the_relaxed_margin_grows_no_faster_than_the_noise() -> None:
    """It never becomes shorter, and with the slack of every event never longer than the best rule for all of them."""
    generator = np.random.default_rng(0)
    model: Any = PRank(4, update="romma")
    squares = []
    for n_events in range(1, 2001):
        model.learn_one(dict(enumerate(generator.normal(size=4))), int(generator.integers(1, 5)))
        thresholds = model._model.memory["thresholds"][0, 1:4]
        own = model._model.memories()["update"]["own"][0]
        squares.append((model._model.memory["weights"] ** 2).sum() + (thresholds**2).sum() + own)
        assert squares[-1] <= 3 * n_events  # of the rule 0 that every constraint's slack makes good
    assert (np.diff(squares) >= -1e-9 * np.array(squares[1:])).all()


def test_a_rule_of_its_own_is_told_from_a_perceptron() -> None:
    """Learners that were there before are what they were, to the digest; the others come back as they went."""
    X, y = events(80, 5)
    digests = set()
    for update in ("perceptron", *UPDATES):
        model: Any = OAPBPM(5, n_members=4, seed=1, update=update)
        model.learn_many(sparse.csr_matrix(X), y)
        again: Any = learner_from(model.dump())
        assert (again.update, state_digest(again)) == (update, state_digest(model))
        assert again.test_then_train(X, y).tolist() == model.test_then_train(X, y).tolist()
        digests.add(state_digest(model))
    assert len(digests) == 4
    assert "update" not in OAPBPM(5).parameters
    assert OAPBPM(5, update="arow").parameters["update"] == "arow"


def test_a_state_that_no_rule_comes_to_is_refused() -> None:
    model: Any = PRank(3, update="arow")
    model.learn_many(*events(20, 3, 3))
    state = model.dump()
    arrays = {name: array.copy() for name, array in state.arrays.items()}
    (name,) = [name for name in arrays if name.endswith("information")]
    arrays[name][..., 0] = -1.0
    with pytest.raises(SnapshotError, match="information has numbers below 0"):
        learner_from(state._replace(arrays=arrays))


def test_other_rules_than_there_are() -> None:
    with pytest.raises(
        ValueError, match="update must be one of 'perceptron', 'passive-aggressive'"
    ):
        PRank(3, update="pa")
    with pytest.raises(ValueError, match="with a kernel it must be 'perceptron'"):
        PRank(3, kernel=Gaussian(1.0), update="arow")


@pytest.mark.parametrize("update", UPDATES)
def test_it_learns(update: str) -> None:
    """Better than the perceptron where both come to the end of a stream with noise."""
    X, y = events(1500, 6, 5, seed=3)
    losses = {
        rule: np.abs(PRank(5, update=rule).test_then_train(X, y) - y)[500:].mean()
        for rule in ("perceptron", update)
    }
    assert losses[update] < losses["perceptron"]


@pytest.mark.parametrize("update", UPDATES)
def test_what_is_kept_beside_the_rule_is_merged_too(update: str) -> None:
    """Of two that learned apart the rule is the mean; what is known of features adds up."""
    X, y = events(120, 4, 3)
    parts: list[Any] = [OAPBPM(3, n_members=3, seed=1, update=update) for _ in range(2)]
    for part, some in zip(parts, (slice(0, 80), slice(80, 120)), strict=True):
        part.learn_many(X[some], y[some])
    one: Any = average(parts)
    mean = (2 * rule_of(parts[0], 4) + rule_of(parts[1], 4)) / 3
    assert rule_of(one, 4) == pytest.approx(mean)
    kept = [each._model.memories()["update"] for each in (one, *parts)]
    assert (kept[0]["information"] == kept[1]["information"] + kept[2]["information"]).all()
    shares = (4 / 9, 1 / 9) if update == "romma" else (1.0, 1.0)
    expected = shares[0] * kept[1]["own"] + shares[1] * kept[2]["own"]
    assert kept[0]["own"] == pytest.approx(expected)
    one.learn_many(X, y)


@pytest.mark.parametrize("update", UPDATES)
def test_the_largest_features_leave_it_finite(update: str) -> None:
    """A move is a quotient: what a tiny feature makes of it, a huge one would multiply."""
    chance = np.random.default_rng(0)
    for learner in (PRank(4, update=update), AveragedPRank(4, update=update)):
        bound = learner._model.bound
        sizes = [bound, -bound, 1.0, -1.0, 1e-3, 1e-150, bound**0.5]
        for size, label in zip(chance.choice(sizes, 150), chance.integers(1, 5, 150), strict=True):
            learner.learn_one({"a": float(size)}, int(label))
        assert np.isfinite([*learner.weights.values(), *learner.thresholds]).all()
        assert state_digest(learner_from(learner.dump())) == state_digest(learner)
