"""Stages in front of the learners of a run: as in River's pipelines, in any chunks, and each prefix once."""

import json
from random import Random
from typing import Any

import numpy as np
import pytest

from stream_rank import OAPBPM, Normalize, Scale, TargetMean
from stream_rank.contestants.learner_spec import chain_of, contestants_of
from stream_rank.contestants.preparations import Preparations
from stream_rank.errors import ConfigError
from stream_rank.features.rows_of import rows_of_dicts
from stream_rank.learners.base.state import digest_of
from stream_rank.learners.names import LEARNER_NAMES, PREPARATION
from tests.pipeline.conftest import Kept, feed, loop_of, mixed, waiting_in

SPECS = [
    "scale | normalize | prank",
    "scale | normalize | oap-bpm:n_members=5",
    "scale | averaged-prank",
    "target_mean:word,tag | cross:word*tag | scale | waves:n_components=5 | normalize | prank",
    "scale | normalize | recursive-mprank",
    "scale | online-mprank:budget=20,kernel=gaussian(1.0)",
    "normalize | pairwise-ranker",
    "scale | river.linear_model.LinearRegression",
    "scale | hedge(ordinal-logit:full_features=8, normalize | prank, widrow-hoff)",
    "prank",
]


def with_words(n_events: int) -> list[bytes]:
    """The mixed stream, where items also have a word and tags."""
    generator, lines = Random(4), []
    for line in mixed(n_events):
        event = json.loads(line)
        if isinstance(event, dict):
            for item in (event.get("x"), event.get("preferred"), event.get("other")):
                if isinstance(item, dict) and item and generator.random() < 0.7:
                    item["word"] = generator.choice("abcdefgh")
                    item["tag"] = generator.sample("xyz", generator.randint(0, 2))
        lines.append(json.dumps(event).encode())
    return lines


def known(loop: Any, kept: Kept) -> dict[str, Any]:
    return {
        "states": {each.name: each.digest() for each in loop.contestants},
        "board": digest_of(*loop.scoreboard.dump()),
        "counts": loop.progress.counts.as_dict(),
        "predictions": repr(kept.predictions),
        "waiting": digest_of(*waiting_in(loop).dump()),
    }


def test_chunks_make_no_difference() -> None:
    lines, found = with_words(500), []
    for sizes in ([500], [1], [3, 1, 64, 7], [130, 10]):
        kept = Kept()
        loop = loop_of(SPECS, 20, kept=kept)
        feed(loop, lines, sizes)
        found.append(known(loop, kept))
    assert all(each == found[0] for each in found[1:])
    assert found[0]["counts"]["learned"] > 200


def test_a_run_is_rivers_pipeline() -> None:
    events = [json.loads(line) for line in with_words(400)]
    ratings = [each for each in events if isinstance(each, dict) and {"x", "y"} <= each.keys()]
    ratings = [
        each for each in ratings if isinstance(each["x"], dict) and each["x"] and each["y"] < 6
    ]
    model = TargetMean(["word"]) | Scale() | Normalize() | OAPBPM(n_ranks=5, seed=1)
    expected = []
    for event in ratings:
        expected.append(model.predict_one(event["x"]))
        model.learn_one(event["x"], event["y"])
    (contestant,) = contestants_of(["target_mean:word | scale | normalize | oap-bpm"], 5, 1)
    labels = np.array([event["y"] for event in ratings], np.float64)
    rows = rows_of_dicts([event["x"] for event in ratings], 1e60)
    assert contestant.test_then_train(rows, labels, None).tolist() == expected
    assert contestant.model.weights == model["OAPBPM"].weights


def test_what_learners_share_is_prepared_once() -> None:
    preparations = Preparations()
    specs = ["scale | normalize | prank", "scale | normalize | oap-bpm", "scale | averaged-prank"]
    contestants = contestants_of(specs, 5, 1, "auto", preparations)
    assert list(preparations.stages) == [("scale",), ("scale", "normalize")]
    rows = rows_of_dicts([{"a": float(i)} for i in range(10)], 1e9)
    labels = np.array([1.0, 2.0] * 5)
    for each in contestants:
        each.test_then_train(rows, labels, None)
    scale: Any = preparations.stages[("scale",)]
    assert scale.rule()["features"]["a"]["mean"] == 4.5
    assert [memory.key for memory in preparations.memories] == [
        "preparation/scale",
        "preparation/scale | normalize",
    ]


def test_every_learner_has_stages_that_suit_it() -> None:
    assert PREPARATION.keys() == set(LEARNER_NAMES)
    for name in LEARNER_NAMES:
        stages, learner = chain_of(name, "auto")
        suits = (
            ["scale"]
            if name in ("ordinal-logit", "ordinal-factors", "nearest-ranks")
            else ["scale", "normalize"]
        )
        assert (stages, learner) == (suits, name)
    assert chain_of("prank", "raw") == ([], "prank")
    assert chain_of("raw | prank", "auto") == ([], "prank")
    assert chain_of("prank", "scale") == (["scale"], "prank")
    assert chain_of("river.dummy.NoChangeClassifier", "auto")[0] == []


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("scael | prank", "did you mean 'scale'"),
        ("scale:wide=1 | prank", "there is no parameter 'wide'"),
        ("scale:width=0 | prank", "width must be above 0"),
        ("cross:user | prank", "two fields each"),
        ("| prank", "there is no stage ''"),
        ("scale |", "there is no estimator|there is no learner"),
    ],
)
def test_specifications_that_cannot_be(spec: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        contestants_of([spec], 5, 1)


def test_scales_that_a_bare_perceptron_cannot_learn() -> None:
    """Features of very different sizes, far from zero: what a stranger's table has."""
    generator = np.random.default_rng(0)
    events = []
    for _ in range(3_000):
        a, b = generator.normal(size=2)
        rank = int(np.clip(np.round(3 + a - b), 1, 5))
        events.append(({"price": 20_000 + 5_000 * a, "year": 2010 + 4 * b}, rank))
    rows = rows_of_dicts([x for x, _ in events], 1e60)
    labels = np.array([float(rank) for _, rank in events])
    losses = {}
    for preparation in ("auto", "raw"):
        (contestant,) = contestants_of(["averaged-prank"], 5, 1, preparation)
        losses[preparation] = abs(contestant.test_then_train(rows, labels, None) - labels).mean()
    constant = min(abs(labels - rank).mean() for rank in range(1, 6))
    assert losses["auto"] < 0.35 * constant
    assert losses["raw"] > constant
