"""Export of a learned rule as plain JSON, for scoring in another language."""

from typing import Any

from stream_rank.committees.hedge import Hedge
from stream_rank.errors import SnapshotError
from stream_rank.features.catalogue import name_of_stage
from stream_rank.features.prepared import Prepared
from stream_rank.learners.base.learner import Learner

__all__ = ["exported"]


def exported(model: Learner | Prepared | Hedge) -> dict[str, Any]:
    """The averaged weights and thresholds.

    The score of an event is the bias plus the sum of weights times features; its rank is 1 plus the number of thresholds
    that are at most the score, and its label is the one of that rank in `labels`. Learners whose members vote have such a
    rule too, but predict by the vote: their `exact` is false. What stages do with an event before stands under
    `preparation`, stage by stage, and weights are of the features that come out of the last.

    A learner of users and items has `factors` beside them: see `OrdinalFactors.beside_rule`.

    Of a committee these are its members, each with its share of the vote.
    """
    if isinstance(model, Hedge):
        members = zip(model.weights, model.learners, strict=True)
        return {
            "format": "stream-rank rule",
            "version": 1,
            "learner": "Hedge",
            "exact": False,
            "labels": model.labels,
            "members": [{"weight": weight, **exported(member)} for weight, member in members],
        }
    stages = model.stages if isinstance(model, Prepared) else []
    learner: Learner = model.learner if isinstance(model, Prepared) else model
    found, kernel = learner.rule(), learner.parameters.get("kernel")
    rule: dict[str, Any] = {
        "format": "stream-rank rule",
        "version": 1,
        "learner": type(learner).__name__,
        "exact": found.exact,
        "bias": found.bias,
        "thresholds": found.thresholds,
        "labels": found.labels,
    }
    if stages:
        rule["preparation"] = [
            {"stage": name_of_stage(type(stage)), **stage.rule()} for stage in stages
        ]
    if isinstance(kernel, dict) and "Linear" not in kernel:
        if kernel == {"Gaussian": {"width": None}}:
            kernel = {"Gaussian": {"width": getattr(learner, "kernel_width", None)}}
        rule["kernel"] = kernel
        rule["support"] = [
            {"x": {str(name): value for name, value in x.items()}, "coefficient": coefficient}
            for x, coefficient in found.support
        ]
    else:
        rule["weights"] = {str(name): float(weight) for name, weight in found.weights.items()}
        if len(rule["weights"]) < len(found.weights):
            raise SnapshotError("features such as 0 and '0' cannot be told apart in JSON's keys")
    return {**rule, **learner.beside_rule()}
