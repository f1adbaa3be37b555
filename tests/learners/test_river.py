"""The learners inside River."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from river import active, checks, compose, datasets, evaluate, metrics, preprocessing, utils

from stream_rank import (
    MSD,
    OAPBPM,
    OAPVP,
    AveragedPRank,
    Gaussian,
    Hedge,
    Misranking,
    NearestRanks,
    OAPBagg,
    OnlineMPRank,
    OrdinalFactors,
    OrdinalLogit,
    PairwiseRanker,
    Polynomial,
    PolynomialFeatures,
    PRank,
    PredictionSets,
    RandomFourierFeatures,
    RankErrorRate,
    RankLoss,
    RecursiveMPRank,
    Scale,
    VotedPRank,
    WeightedKappa,
    WidrowHoff,
)
from stream_rank.datasets.oap_stream import OAPStream
from stream_rank.learners.models.pairwise import LOSSES

ESTIMATORS: dict[str, Any] = {
    "PRank": PRank(),
    "PRank-polynomial": PRank(kernel=Polynomial(2, 1.0), budget=100),
    "PRank-passive-aggressive": PRank(update="passive-aggressive"),
    "AveragedPRank": AveragedPRank(),
    "AveragedPRank-romma": AveragedPRank(update="romma"),
    "AveragedPRank-gaussian": AveragedPRank(kernel=Gaussian(), budget=100),
    "VotedPRank": VotedPRank(),
    "VotedPRank-polynomial": VotedPRank(kernel=Polynomial(2, 1.0), budget=100),
    "OAPBPM": OAPBPM(),
    "OAPBPM-arow": OAPBPM(n_members=10, update="arow"),
    "OAPBPM-float32": OAPBPM(dtype="float32"),
    "OAPBPM-gaussian": OAPBPM(n_members=10, kernel=Gaussian(1.0), budget=100),
    "OAPBagg": OAPBagg(),
    "OAPVP": OAPVP(),
    "WidrowHoff": WidrowHoff(),
    "WidrowHoff-intercept": WidrowHoff(intercept=True),
    "OrdinalLogit": OrdinalLogit(),
    "OrdinalLogit-diagonal": OrdinalLogit(precision="diagonal", forgetting=0.999),
    "OrdinalFactors": OrdinalFactors(),
    "OrdinalFactors-float32": OrdinalFactors(traits=2, dtype="float32"),
    "Hedge": Hedge([Scale() | OrdinalLogit(), PRank()]),
    "PredictionSets": PredictionSets(OrdinalLogit()),
    "NearestRanks": NearestRanks(window=200),
    "OnlineMPRank": OnlineMPRank(),
    "OnlineMPRank-gaussian": OnlineMPRank(kernel=Gaussian(1.0), budget=100, revisits=2),
    "RecursiveMPRank": RecursiveMPRank(),
    "RecursiveMPRank-forgetting": RecursiveMPRank(forgetting=0.99),
    "RecursiveMPRank-C": RecursiveMPRank(C=1.0),
    **{f"PairwiseRanker-{loss}": PairwiseRanker(loss=loss) for loss in LOSSES},
    "PolynomialFeatures": PolynomialFeatures(),
    "RandomFourierFeatures": RandomFourierFeatures(),
}
pytestmark = pytest.mark.long(12)

CHECKS = [
    pytest.param(name, check, id=f"{name}-{number}-{check.__name__}")
    for name, estimator in ESTIMATORS.items()
    for number, check in enumerate(checks.yield_checks(estimator))
]


@pytest.mark.parametrize(("name", "check"), CHECKS)
def test_checks_of_river(name: str, check: Callable[[Any], None]) -> None:
    check(ESTIMATORS[name].clone())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_check_is_skipped(name: str) -> None:
    assert ESTIMATORS[name]._unit_test_skips() == set()


RANKERS = [name for name in ESTIMATORS if "Features" not in name]


def takes_ranks(name: str) -> bool:
    return "n_ranks" in ESTIMATORS[name]._get_params()


@pytest.mark.parametrize("name", [name for name in RANKERS if takes_ranks(name)])
def test_pipeline_with_scaler_in_progressive_validation(name: str) -> None:
    """The whole pipeline learns: it beats any rule that always predicts the same."""
    kind = type(ESTIMATORS[name])
    parameters = {**ESTIMATORS[name]._get_params(), "n_ranks": 5}
    if "learning_rate" in parameters:
        parameters.update(learning_rate=0.1, intercept=True)  # the scaler makes the constant a zero
    pipeline = PolynomialFeatures(2) | preprocessing.StandardScaler() | kind(**parameters)
    loss = evaluate.progressive_val_score(OAPStream(seed=4).take(3000), pipeline, RankLoss())
    ranks = OAPStream(seed=4).arrays(3000)[1]
    assert loss.get() < min(abs(ranks - rank).mean() for rank in range(1, 6))


@pytest.mark.parametrize("name", [name for name in RANKERS if not takes_ranks(name)])
def test_scores_order_events_in_a_pipeline(name: str) -> None:
    pipeline = PolynomialFeatures(2) | preprocessing.StandardScaler() | ESTIMATORS[name].clone()
    together = Misranking() + MSD()
    evaluate.progressive_val_score(OAPStream(seed=4).take(2000), pipeline, together)
    assert together.get()[0] < 0.35  # 0.5 is chance


def test_progressive_validation_with_several_metrics() -> None:
    together = RankLoss() + RankErrorRate()
    evaluate.progressive_val_score(
        OAPStream(seed=4, features="quadratic").take(500), OAPBPM(n_ranks=5, seed=1), together
    )
    loss, errors = together.get()
    assert 0 < errors <= loss


def test_rolling_metrics_forget() -> None:
    rolling: Any = utils.Rolling(RankLoss, window_size=100)
    plain, model = [], PRank(n_ranks=5)
    for x, y in OAPStream(seed=2, features="quadratic").take(700):
        predicted = model.predict_one(x)
        plain.append(abs(predicted - y))
        rolling.update(y, predicted)
        model.learn_one(x, y)
        assert rolling.get() == sum(plain[-100:]) / len(plain[-100:])


def test_classification_metrics_of_river_work() -> None:
    stream = datasets.ImageSegments().take(300)
    report = evaluate.progressive_val_score(stream, VotedPRank(), metrics.Accuracy())
    assert 0 < report.get() < 1


@pytest.mark.parametrize("make", [OAPBPM, OAPBagg, OAPVP, PRank, VotedPRank])
def test_active_learning_asks_and_learns(make: Any) -> None:
    sampler = active.EntropySampler(make(n_ranks=5), seed=1)
    asked = 0
    for x, y in OAPStream(seed=3, features="quadratic").take(400):
        _, ask = sampler.predict_one(x)
        asked += ask
        if ask:
            sampler.learn_one(x, y)
    assert asked > 0
    assert make is PRank or asked < 400


def test_log_loss_on_shares_of_votes() -> None:
    loss = metrics.CrossEntropy()
    evaluate.progressive_val_score(
        OAPStream(seed=3, features="quadratic").take(500), OAPBPM(n_ranks=5, seed=1), loss
    )
    assert loss.get() < 5


@pytest.mark.parametrize("name", RANKERS)
def test_pipelines_are_cloned_and_pickled(name: str) -> None:
    pipeline = compose.Pipeline(preprocessing.StandardScaler(), ESTIMATORS[name].clone())
    stream = list(OAPStream(seed=5).take(60))
    for x, y in stream[:40]:
        pipeline.learn_one(x, y)
    copy = pickle.loads(pickle.dumps(pipeline))
    for x, _ in stream[40:]:
        assert copy.predict_one(x) == pipeline.predict_one(x)
    assert pipeline.clone().predict_one(stream[0][0]) in (None, 0.0)


def test_seeded_clones_toss_the_same_coins_and_others_do_not() -> None:
    X, y = OAPStream(seed=6, features="quadratic").arrays(300)
    seeded, unseeded = OAPBPM(n_ranks=5, seed=1), OAPBPM(n_ranks=5)
    for model in (seeded, unseeded):
        model.learn_many(X, y)
    again, other = seeded.clone(), unseeded.clone()
    for model in (again, other):
        model.learn_many(X, y)
    assert again.weights == seeded.weights
    assert other.weights != unseeded.weights


def test_metrics_take_classifiers_and_regressors_but_not_clusterers() -> None:
    for metric in (RankLoss(), RankErrorRate(), WeightedKappa()):
        assert metric.works_with(PRank())
        assert metric.works_with(WidrowHoff())
        assert metric.works_with(preprocessing.StandardScaler() | PRank())
        assert not metric.works_with(preprocessing.StandardScaler())
