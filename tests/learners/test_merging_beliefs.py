"""Beliefs that were learned apart, beside the product of Gaussians by matrices."""

from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from stream_rank import MergeError, OAPStream, OrdinalLogit, average
from stream_rank.checkpoint.model_file import state_digest
from stream_rank.engine.ordinal import state

Array = npt.NDArray[Any]


def memory_of(model: Any) -> Any:
    return model._model.memory


def matrices(model: OrdinalLogit) -> tuple[Array, Array]:
    """The covariance of weights and edges, and their prior variances, in the belief's own order of edges."""
    memory, n_features = memory_of(model), len(model.features)
    n_edges = state.n_edges(len(model.labels))
    whole = n_features + n_edges
    upper, diagonal = np.eye(whole), np.zeros(whole)
    for j in range(n_features):
        block = j // 8
        at = 32 * block * (block + 1) + j % 8 * 8 * (block + 1)
        upper[:j, j] = memory["triangle"][at : at + j]
    diagonal[:n_features] = memory["diagonal"][:n_features]
    for edge in range(n_edges):
        upper[:n_features, n_features + edge] = memory["border"][edge, :n_features]
        upper[n_features : n_features + edge, n_features + edge] = memory["corner"][edge, :edge]
    diagonal[n_features:] = memory["edge_diagonal"][:n_edges]
    priors = np.concatenate([memory["priors"][:n_features], memory["edge_priors"][:n_edges]])
    return upper @ np.diag(diagonal) @ upper.T, priors


def mean_of(model: OrdinalLogit, thresholds: Array, like: OrdinalLogit, tie: float) -> Array:
    """Thresholds and ties as edges of another model."""
    memory, found = memory_of(like), np.zeros(state.n_edges(len(model.labels)))
    found[state.MIDDLE_EDGE] = thresholds[memory["sizes"][state.MIDDLE]]
    found[state.TIE_EDGE] = np.log(tie)
    found[memory["gaps"][: len(thresholds) - 1]] = np.log(np.diff(thresholds))
    return found


def translation(model: OrdinalLogit, like: OrdinalLogit, names: list[Any]) -> Array:
    """How weights and edges of a model move with those of another, by the gaps of the model."""
    mine, theirs = memory_of(model), memory_of(like)
    n_features, n_edges = len(model.features), state.n_edges(len(model.labels))
    found = np.zeros((n_features + n_edges, len(names) + n_edges))
    for slot, name in enumerate(model.features):
        found[slot, names.index(name)] = 1.0
    own, other = found[n_features:, len(names) :], np.array(model.thresholds)
    own[state.MIDDLE_EDGE, state.MIDDLE_EDGE] = own[state.TIE_EDGE, state.TIE_EDGE] = 1.0
    here, there = (int(each["sizes"][state.MIDDLE]) for each in (theirs, mine))
    for gap, width in enumerate(np.diff(other)):
        own[mine["gaps"][gap], theirs["gaps"][gap]] = 1.0
        sign = (here <= gap < there) - (there <= gap < here)
        own[state.MIDDLE_EDGE, theirs["gaps"][gap]] += sign * width
    return found


def product_of(models: list[OrdinalLogit], one: OrdinalLogit) -> tuple[Array, Array]:
    """Covariance and mean of the product of beliefs, each but the first without its prior where an earlier one has it."""
    names = one.features
    n_edges = state.n_edges(len(one.labels))
    precision = np.zeros((len(names) + n_edges,) * 2)
    right = np.zeros(len(names) + n_edges)
    even = np.arange(1, len(one.labels)) / len(one.labels)
    begun = set[Any]()
    for number, model in enumerate(models):
        covariance, priors = matrices(model)
        to, n_features = translation(model, one, names), len(model.features)
        edges = mean_of(
            model, np.array(model.thresholds), one, memory_of(model)["parameters"][state.TIE]
        )
        point = np.zeros(len(right))
        for name, weight in model.weights.items():
            point[names.index(name)] = weight
        point[len(names) :] = edges
        prior_point = np.zeros(len(right))
        prior_point[len(names) :] = mean_of(model, np.log(even / (1 - even)), one, 0.1)
        met = priors > 0
        met[:n_features] &= np.diag(covariance)[:n_features] > 0
        told = np.linalg.inv(covariance[np.ix_(met, met)])
        own = to[met]
        precision += own.T @ told @ own
        right += own.T @ told @ (own @ point)
        twice = (
            np.array([*(name in begun for name in model.features), *[number > 0] * n_edges]) & met
        )
        prior = to[twice].T / priors[twice] @ to[twice]
        precision -= prior
        right -= prior @ prior_point
        begun |= {name for name, any_ in zip(model.features, met, strict=False) if any_}
    return np.linalg.inv(precision), np.linalg.solve(precision, right)


def check(models: list[OrdinalLogit]) -> OrdinalLogit:
    one = average(models)
    twins = [deepcopy(model) for model in models]
    for twin in twins:  # as they are once they know all labels
        for label in one.labels:
            if label not in twin.labels:
                twin._insert(label)
    covariance, mean = product_of(twins, one)
    found, _ = matrices(one)
    np.testing.assert_allclose(found, covariance, rtol=1e-8, atol=1e-10 * covariance.max())
    edges = mean_of(one, np.array(one.thresholds), one, memory_of(one)["parameters"][state.TIE])
    np.testing.assert_allclose([*one.weights.values(), *edges], mean, rtol=1e-8, atol=1e-9)
    return one


def test_precisions_add_up_less_the_priors() -> None:
    """With items of preferences, whose ties have a width of their own."""
    X, y = OAPStream(seed=1).arrays(600)
    models = [OrdinalLogit(n_ranks=5) for _ in range(3)]
    for number, model in enumerate(models):
        model.learn_many(X[number:500:3], y[number:500:3])
        rows = [dict(zip(model.features, row, strict=True)) for row in X[500 + 10 * number :][:20]]
        for place, row in enumerate(rows[1:]):
            model.learn_pair(row, rows[place], float(place % 4 > 0))
    one = check(models)
    assert one.n_events == sum(model.n_events for model in models)


def test_features_and_labels_that_only_some_know() -> None:
    """Labels that are discovered in another order have another threshold in the middle, from which the others are reached over gaps."""
    generator = np.random.default_rng(1)
    models = []
    for order, names in (([1, 2, 4], "abcdefghij"), ([5, 4, 3, 1], "kjihg"), ([2, 3], "ab")):
        model = OrdinalLogit()
        for event in range(120):
            row = generator.integers(-8, 9, len(names)) / 8
            label = order[event] if event < len(order) else order[int(abs(8 * row[0])) % len(order)]
            model.learn_one(dict(zip(names, row.tolist(), strict=True)), label)
        models.append(model)
    middles = {int(memory_of(model)["sizes"][state.MIDDLE]) for model in models}
    assert len(middles) > 1
    assert check(models).labels == [1, 2, 3, 4, 5]
    check(models[::-1])


def test_it_is_nearly_the_one_that_saw_everything() -> None:
    """On a stream of its own kind, by probabilities of 5,000 events that nobody learned."""
    generator = np.random.default_rng(1)
    X = generator.normal(size=(13_000, 20))
    scores = X @ generator.normal(size=20) / 2 + generator.logistic(size=len(X))
    y = 1 + (scores[:, None] >= np.array([-2.0, -0.5, 0.5, 2.0])).sum(1)
    models = [OrdinalLogit(n_ranks=5) for _ in range(9)]
    models[8].learn_many(X[:8_000], y[:8_000])
    for number, model in enumerate(models[:8]):
        model.learn_many(X[number:8_000:8], y[number:8_000:8])
    told = [
        -np.log(model.predict_proba_many(X[8_000:])[np.arange(5_000), y[8_000:] - 1]).mean()
        for model in (average(models[:8]), models[8], models[0])
    ]
    assert told[0] < 1.003 * told[1]
    assert told[2] > 1.005 * told[1]


@pytest.mark.parametrize("precision", ["full", "diagonal"])
def test_an_empty_shard_changes_nothing(precision: Any) -> None:
    X, y = OAPStream(seed=1).arrays(300)
    model, empty = (OrdinalLogit(n_ranks=5, precision=precision) for _ in range(2))
    model.learn_many(X, y)
    assert state_digest(average([model, empty])) == state_digest(model)
    other = average([empty, model])
    np.testing.assert_allclose(
        other.predict_proba_many(X), model.predict_proba_many(X), rtol=1e-9, atol=1e-12
    )


def test_variances_of_single_weights_fall_as_those_of_one_that_saw_everything() -> None:
    X, y = OAPStream(seed=1).arrays(4_000)
    models = [OrdinalLogit(n_ranks=5, precision="diagonal") for _ in range(3)]
    models[2].learn_many(X, y)
    for number, model in enumerate(models[:2]):
        model.learn_many(X[number::2], y[number::2])
    one, width = average(models[:2]), slice(X.shape[1])
    first, second, whole, merged = (memory_of(each) for each in (*models, one))
    told = [1 / m["variances"][width] - 1 / m["priors"][width] for m in (first, second)]
    found = 1 / merged["variances"][width] - 1 / first["priors"][width]
    np.testing.assert_allclose(found, told[0] + told[1], rtol=1e-9)
    weights = told[0] * first["weights"][width] + told[1] * second["weights"][width]
    np.testing.assert_allclose(merged["weights"][width], weights / found, rtol=1e-9)
    np.testing.assert_allclose(merged["variances"][width], whole["variances"][width], rtol=0.1)


def test_a_full_covariance_of_other_features_is_refused() -> None:
    models = [OrdinalLogit(n_ranks=3, full_features=8) for _ in range(2)]
    for number, model in enumerate(models):
        model.learn_one({f"{number}/{i}": 1.0 for i in range(8)}, 2)
    with pytest.raises(
        MergeError, match="the first 8 features have a covariance, and they are others"
    ):
        average(models)
    with pytest.raises(MergeError, match="OrdinalLogit: with `forgetting` an event"):
        average([OrdinalLogit(forgetting=0.99)] * 2)
