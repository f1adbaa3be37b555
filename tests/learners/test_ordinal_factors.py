"""Users and items: against a slow and obvious twin, in every form that they come in, and how good it is."""

import json
import os
import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import stream_rank
from stream_rank import OrdinalFactors, Scale
from stream_rank.checkpoint.rule_export import exported
from stream_rank.engine.bilinear.state import FIRST_TRAIT
from stream_rank.learners.base.restore import learner_from
from stream_rank.learners.base.state import digest_of
from tests.learners.factors_oracle import FactorsOracle
from tests.learners.test_many_is_one import state

Event = tuple[str, str, int]


def rated(
    count: int, n_ranks: int = 5, seed: int = 0, users: int = 40, items: int = 30
) -> list[Event]:
    """Ratings of a world with offsets, two traits, and users who use the ends of the scale or do not."""
    generator = np.random.default_rng(seed)
    ours, theirs = generator.normal(0, 0.7, (users, 3)), generator.normal(0, 1.0, (items, 3))
    found = []
    for _ in range(count):
        u, i = int(users * generator.random() ** 1.5), int(items * generator.random() ** 1.5)
        score = ours[u, 2] + theirs[i, 2] + ours[u, :2] @ theirs[i, :2] + generator.logistic(0, 0.4)
        share = 1 / (1 + np.exp(-1.3 * score - 0.4))
        found.append((f"u{u}", f"i{i}", min(n_ranks, 1 + int(share * n_ranks))))
    return found


def frame_of(events: list[Event]) -> tuple[pd.DataFrame, list[int]]:
    """The same as a data frame and labels."""
    users, items, labels = zip(*events, strict=True)
    return pd.DataFrame({"user": users, "item": items}), list(labels)


def test_against_an_oracle() -> None:
    events, traits = rated(150, 4), 3
    model = OrdinalFactors(4, traits=traits)
    first: dict[str, Any] = {}
    probe = OrdinalFactors(4, traits=traits)
    for user, item, _ in events:  # traits before the first event are by chance
        probe._introduce({f"user={user}": 1.0, f"item={item}": 1.0})
        slot = probe._vocabulary.slot_of[f"item={item}"]
        first[item] = probe._model.memory["beliefs"][
            slot, FIRST_TRAIT : FIRST_TRAIT + traits
        ].copy()
    oracle = FactorsOracle(4, first, traits, model.drift)
    for number, (user, item, rank) in enumerate(events):
        x = {"user": user, "item": item}
        shares = list(model.predict_proba_one(x).values())
        # before the first event it does not know that there are users
        assert not number or shares == pytest.approx(oracle.shares(user, item), rel=1e-7)
        model.learn_one(x, rank)
        oracle.learn(user, item, rank)
    assert model.thresholds == pytest.approx(oracle.thresholds.tolist(), rel=1e-7)


@pytest.mark.parametrize("parameters", [{}, {"dtype": "float32", "traits": 3}, {"traits": 0}])
def test_many_is_one_in_every_form(parameters: dict[str, Any]) -> None:
    events = rated(300)
    X, y = frame_of(events)
    one, expected = OrdinalFactors(5, **parameters), []
    for user, item, rank in events:
        expected.append(one.predict_one({"user": user, "item": item}))
        one.learn_one({"user": user, "item": item}, rank)
    cuts = [0, 1, 2, 40, 41, 300]
    labels = np.array(y)
    for make in (
        lambda a, b: X[a:b],
        lambda a, b: pl.DataFrame(X[a:b]),
        lambda a, b: X[a:b].astype("category"),
    ):
        many = OrdinalFactors(5, **parameters)
        found = [many.test_then_train(make(a, b), labels[a:b]) for a, b in pairwise(cuts)]
        assert [each for part in found for each in list(part)] == expected
        assert state(many) == state(one)
    assert many.predict_many(X).tolist() == [one.predict_one(x) for x in X.to_dict("records")]
    shares = [list(one.predict_proba_one(x).values()) for x in X.to_dict("records")]
    assert many.predict_proba_many(X).to_numpy().tolist() == shares
    assert many.expected_many(X).tolist() == [one.expected_one(x) for x in X.to_dict("records")]


def test_ids_are_numbers_texts_or_both() -> None:
    events = [(17, "a", 1), ("17", "b", 2), (18.0, 5, 3), ("x y", "5", 1), (2**63 + 1, "a", 3)] * 9
    X = pd.DataFrame({"user": [e[0] for e in events], "item": [e[1] for e in events]}, dtype=object)
    y = [e[2] for e in events]
    one, many = OrdinalFactors(3), OrdinalFactors(3)
    for user, item, rank in events:
        one.learn_one({"user": user, "item": item}, rank)
    many.learn_many(X, y)
    assert state(one) == state(many)
    assert {"user=17", "user=18", f"user={2**63 + 1}", "item=5"} < set(one.features)
    # an array has columns 0 and 1
    numbers = np.array([[3, 70], [4, 70], [3, 71]] * 5)
    arrays, dicts = OrdinalFactors(3, user=0, item=1), OrdinalFactors(3, user=0, item=1)
    arrays.learn_many(numbers, [1, 2, 3] * 5)
    for row, rank in zip(numbers.tolist(), [1, 2, 3] * 5, strict=True):
        dicts.learn_one(dict(enumerate(row)), rank)
    assert state(arrays) == state(dicts)
    assert dicts.features[:2] == ["0=3", "1=70"]


def test_who_is_forgotten_is_as_one_who_never_came() -> None:
    model, events = OrdinalFactors(5), rated(200)
    for user, item, rank in events:
        model.learn_one({"user": user, "item": item}, rank)
    before = model.predict_proba_one({"user": "nobody", "item": "i0"})
    model.exchange({"user=u0": "user=new", "item=i3": "item=next"})
    assert "user=u0" not in model.features
    new = model.predict_proba_one({"user": "new", "item": "i0"})
    assert new == model.predict_proba_one({"user": "nobody", "item": "i0"})
    # only what all users are like has changed, by one user of forty
    assert list(new.values()) == pytest.approx(list(before.values()), abs=0.02)
    population = model._model.memory["population"]
    lines, roles = model._model.memory["beliefs"], model._model.roles
    users = lines[: len(roles)][(roles == 1) & (model._model.memory["learned"][: len(roles)] > 0)]
    assert population[0, 0] == len(users)
    assert population[1, 0] == pytest.approx((users[:, 0] ** 2 + users[:, 1]).sum())


def test_seeds_and_names_decide_about_chance() -> None:
    events = rated(100)
    X, y = frame_of(events)
    models = [OrdinalFactors(5, seed=seed) for seed in (1, 1, 2)]
    for model in models:
        model.learn_many(X, y)
    one, same, other = (model.predict_proba_many(X).to_numpy() for model in models)
    assert (one == same).all()
    assert (one != other).any()
    # an item's means by chance do not depend on when it comes
    early, late = OrdinalFactors(5), OrdinalFactors(5)
    late._introduce({"item=z": 1.0, "user=a": 1.0})
    for model in (early, late):
        model._introduce({"item=b": 1.0})
    rows = [m._model.memory["beliefs"][m._vocabulary.slot_of["item=b"]] for m in (early, late)]
    assert rows[0].tolist() == rows[1].tolist()
    assert rows[0][FIRST_TRAIT:].any()


def test_kept_and_restored() -> None:
    X, y = frame_of(rated(200))
    model = OrdinalFactors(5, item_features=["genre"], dtype="float32")
    X["genre"] = X["item"].str[-1]
    model.learn_many(X, y)
    kept = model.dump()
    twin: Any
    again: Any
    for twin in (learner_from(kept), pickle.loads(pickle.dumps(model))):
        twin.learn_many(X, y)
        again = learner_from(kept)
        again.learn_many(X, y)
        assert digest_of(*twin.dump()) == digest_of(*again.dump())
    forged = {name: array.copy() for name, array in kept.arrays.items()}
    forged["bilinear/roles"][0] = 3 if forged["bilinear/roles"][0] != 3 else 1
    with pytest.raises(stream_rank.SnapshotError, match="roles"):
        learner_from(kept._replace(arrays=forged))
    forged = {name: array.copy() for name, array in kept.arrays.items()}
    forged["bilinear/beliefs"][0, 1] = -1.0
    with pytest.raises(stream_rank.SnapshotError, match="negative"):
        learner_from(kept._replace(arrays=forged))


def test_an_exported_rule_scores_as_the_learner_does() -> None:
    model = OrdinalFactors(5, item_features=["genre"])
    for user, item, rank in rated(600):
        model.learn_one({"user": user, "item": item, "genre": item[-1], "price": 0.5}, rank)
    rule = json.loads(json.dumps(exported(model)))
    weights, factors = rule["weights"], rule["factors"]
    assert not rule["exact"]  # for whoever knows no factors
    for user, item in (("u1", "i2"), ("u3", "i14"), ("u0", "never")):
        x = {"user": user, "item": item, "genre": item[-1], "price": 2.0}
        who, names = f"user={user}", [f"item={item}", f"genre={item[-1]}"]
        of_item = sum(weights.get(name, 0.0) for name in names)
        score = weights[who] + factors["moods"][who] * factors["mood_kept"]
        score += 2.0 * weights["price"] + (1 + factors["agreements"][who]) * of_item
        traits = np.sum([factors["traits"].get(name, np.zeros(8)) for name in names], axis=0)
        score += np.array(factors["traits"][who]) @ traits
        score *= np.exp(-factors["scales"][who])
        assert score == pytest.approx(model.utility_one(x), rel=1e-9)
        assert model.predict_one(x) == 1 + sum(edge <= score for edge in rule["thresholds"])


def test_many_long_ids_are_kept(tmp_path: Path) -> None:
    """Names are arrays in a snapshot, whose header may have 100 MB."""
    count = 1_000_000 if os.environ.get("SOAK") else 10_000
    X = pd.DataFrame({"user": [f"{i % count:0>100}" for i in range(count)], "item": "one"})
    model = OrdinalFactors(5)
    model.learn_many(X, np.arange(count) % 5 + 1)
    stream_rank.save(model, tmp_path / "model")
    twin = stream_rank.load(tmp_path / "model")
    assert len(twin.features) == count + 1
    assert digest_of(*twin.dump()) == digest_of(*model.dump())


def test_top_k_is_sorting_all_scores() -> None:
    model = OrdinalFactors(5, item_features=["genre"])
    for user, item, rank in rated(800):
        model.learn_one({"user": user, "item": item, "genre": item[-1], "late": 1.0}, rank)
    items = [f"i{i}" for i in range(30)] + ["never", "i3"]
    events = [{"item": item, "genre": item[-1]} for item in items]
    who = {"user": "u1", "late": 1.0}
    scores = [model.utility_one({**who, **each}) for each in events]
    best = sorted(range(len(items)), key=lambda each: (-scores[each], each))[:7]
    found = model.top_k(who, events, k=7)
    assert [each for each, _ in found] == [events[place] for place in best]
    assert [score for _, score in found] == pytest.approx(
        [scores[place] for place in best], rel=1e-12
    )
    prepared = model.candidates(events)
    assert model.top_k(who, prepared, k=7) == found
    assert {each for each, _ in model.top_k("u1", k=100)} == {f"i{i}" for i in range(30)}
    # what nobody knows is tried where deviations count
    assert model.top_k("u1", items, k=1, width=50.0)[0][0] == "never"
    model.learn_one({"user": "u1", "item": "fresh"}, 5)
    assert "fresh" in {each for each, _ in model.top_k("u1", k=100)}
    assert model.top_k(who, prepared, k=3) == model.top_k(who, events, k=3)
    assert model.top_k("u1", [], k=3) == []


def test_preferences_between_items_are_their_users() -> None:
    generator = np.random.default_rng(3)
    taste, nature = generator.normal(size=(20, 2)), generator.normal(size=(15, 2))
    one, many, right = OrdinalFactors(5), OrdinalFactors(5), []
    rows = []
    for number in range(4000):
        u, (a, b) = generator.integers(20), generator.choice(15, 2, replace=False)
        if taste[u] @ (nature[a] - nature[b]) < 0:
            a, b = b, a
        x, z = {"user": f"u{u}", "item": f"i{a}"}, {"user": f"u{u}", "item": f"i{b}"}
        if number >= 2500:
            right.append(one.prefer_one(x, z))
        rows.append((x, z))
        one.learn_pair(x, z)
    assert np.mean(np.array(right) == 1) > 0.85
    first, second = (pd.DataFrame([pair[which] for pair in rows]) for which in (0, 1))
    leads = [many.test_then_train_pairs(first[a:b], second[a:b]) for a, b in ((0, 7), (7, 4000))]
    assert state(one) == state(many)
    assert (np.concatenate(leads)[2500:] > 0).mean() > 0.85
    tied = OrdinalFactors(5)
    for _ in range(50):
        tied.learn_pair({"item": "a"}, {"item": "b"}, 0.0)
    assert tied.prefer_proba_one({"item": "a"}, {"item": "b"})[0] > 0.5


@pytest.mark.parametrize("n_ranks", [5, 20])
def test_it_is_ahead_of_damped_means_and_calibrated(n_ranks: int) -> None:
    events = rated(6_000, n_ranks, seed=n_ranks, users=150, items=80)
    model = OrdinalFactors(n_ranks)
    sums: dict[str, float] = {}
    counts: dict[str, int] = {}
    ours = theirs = total = 0.0
    expected = np.zeros(n_ranks)
    for number, (user, item, rank) in enumerate(events):
        x = {"user": user, "item": item}
        shares = np.array(list(model.predict_proba_one(x).values()))
        mean = total / max(1, number)
        guess = mean + sum(
            sums.get(name, 0.0) / (counts.get(name, 0) + 5.0) for name in (user, item)
        )
        if number > 1000:
            ours += abs(model.predict_one(x) - rank)
            theirs += abs(min(n_ranks, max(1, round(guess))) - rank)
            expected += shares
            expected[rank - 1] -= 1
        left = rank - guess
        for name in (user, item):
            damped = sums.get(name, 0.0) / (counts.get(name, 0) + 5.0)
            sums[name] = sums.get(name, 0.0) + left + damped
            counts[name] = counts.get(name, 0) + 1
        total += rank
        model.learn_one(x, rank)
    assert ours < 0.95 * theirs
    assert np.abs(expected).max() < 0.02 * 5000


def test_a_new_film_has_the_traits_of_its_genres() -> None:
    generator = np.random.default_rng(1)
    likes = generator.choice([-1.0, 1.0], 30)
    plain, told = OrdinalFactors(5), OrdinalFactors(5, item_features=["genre"])
    losses = np.zeros(2)
    for number in range(3000):
        u, film = generator.integers(30), number // 3  # every film comes three times
        kind = film % 2
        score = likes[u] * (2 * kind - 1) * 2 + generator.logistic()
        rank = int(np.searchsorted([-3, -1, 1, 3], score)) + 1
        x = {"user": f"u{u}", "item": f"film {film}", "genre": ["war", "love"][kind]}
        if number > 1500:
            asked = plain.predict_one({"user": x["user"], "item": x["item"]}), told.predict_one(x)
            losses += [abs(each - rank) for each in asked]
        plain.learn_one({name: x[name] for name in ("user", "item")}, rank)
        told.learn_one(x, rank)
    assert losses[1] < 0.8 * losses[0]


def test_behind_stages_and_with_numbers() -> None:
    model = Scale() | OrdinalFactors(5)
    for user, item, rank in rated(300):
        model.learn_one({"user": user, "item": item, "price": 1e6 + 1e5 * rank}, rank)
    assert model.predict_one({"user": "u1", "item": "i1", "price": 1.5e6}) >= 4
    assert model.predict_one({"user": "u1", "item": "i1", "price": 1.1e6}) <= 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"traits": -1}, "traits"),
        ({"traits": 10**6}, "at most"),
        ({"item": "user"}, "one thing only"),
        ({"user_features": "age"}, "list of names"),
        ({"drift": 2.0}, "drift"),
        ({"seed": 2**63}, "seed"),
    ],
)
def test_what_it_cannot_be_made_with(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OrdinalFactors(5, **parameters)


def test_small_numbers_with_signs_keep_their_names() -> None:
    model = OrdinalFactors(2)
    users = np.array([-100, 100], np.int8)
    model.learn_many(pd.DataFrame({"user": users, "item": [1, 2]}), [1, 2])
    assert sorted(map(str, model.features)) == ["item=1", "item=2", "user=-100", "user=100"]


def test_names_that_are_missing() -> None:
    """In whatever form a table says so, and however it is cut."""
    frame = pd.DataFrame(
        {
            "user": pd.array(["a", None, "b"], "string"),
            "item": [1, 2, 3],
            "genre": ["g", None, float("nan")],
        }
    )
    models = [OrdinalFactors(3, item_features=["genre"]) for _ in range(3)]
    models[0].learn_many(frame, [1, 2, 3])
    models[2].learn_many(pl.from_pandas(frame), [1, 2, 3])
    for row in range(3):
        models[1].learn_many(frame[row : row + 1], [row + 1])
    assert {digest_of(*model.dump()) for model in models} == {digest_of(*models[0].dump())}
    assert "user=a" in models[0].features
    assert len(models[0].features) == 6


def test_what_it_cannot_take() -> None:
    with pytest.raises(ValueError, match="has a =, which ends the name of a feature"):
        OrdinalFactors(3, user="a=b")
    with pytest.raises(ValueError, match="must be a list of names"):
        OrdinalFactors(3, user_features={"x", "y"})  # type: ignore[arg-type]
    model = OrdinalFactors(3)
    model.learn_one({"user": "a", "item": "b"}, 1)
    with pytest.raises(ValueError, match="width must be a number between"):
        model.top_k("a", width=float("nan"))


def test_candidates_of_another_are_looked_up_again() -> None:
    one, other = OrdinalFactors(3), OrdinalFactors(3)
    for model, items in ((one, "pqr"), (other, "rqp")):
        for item, rank in zip(items, (1, 2, 3), strict=True):
            model.learn_one({"user": "a", "item": item}, rank)
    assert one.top_k("a", other.candidates()) == one.top_k("a", ["r", "q", "p"])
