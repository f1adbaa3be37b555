"""Looking at learners, against the same by their public methods, one event at a time."""

from collections import Counter

import numpy as np
import pytest

from stream_rank.evaluation.probe import probe
from tests.pipeline.conftest import feed, loop_of, mixed

LEARNERS = ("oap-bpm:n_members=20", "prank", "oap-vp:n_members=5", "online-mprank", "widrow-hoff")


@pytest.mark.parametrize("spec", LEARNERS)
def test_it_sees_what_the_learner_says(spec: str) -> None:
    loop = loop_of([spec], n_ranks=5)
    feed(loop, ratings(500), [500])
    (contestant,) = loop.contestants
    assert loop.last_ratings is not None
    rows, labels = loop.last_ratings
    model = contestant.model
    seen = probe(contestant, rows, labels)
    assert seen.norm == pytest.approx(np.sqrt(sum(w * w for w in model.weights.values())))
    assert seen.thresholds == list(getattr(model, "thresholds", []))
    assert seen.finite
    if not hasattr(model, "predict_proba_one"):
        assert seen.margin is seen.disagreement is seen.updates is None
        return
    margins, against = [], []
    for x, label in zip(rows.dicts(), labels.tolist(), strict=True):
        edges = [-np.inf, *model.thresholds, np.inf]
        score, rank = model.utility_one(x), int(label)
        margins.append(min(score - edges[rank - 1], edges[rank] - score))
        against.append(1 - max(model.predict_proba_one(x).values()))
    assert seen.margin == pytest.approx(np.mean(margins))
    if spec == "prank":
        assert seen.disagreement is None
    else:
        assert seen.disagreement == pytest.approx(np.mean(against))
    assert seen.updates is not None
    assert seen.updates > 0


def test_what_is_not_finite_is_seen() -> None:
    loop = loop_of(["prank"], n_ranks=5)
    feed(loop, ratings(10), [10])
    seen = probe(loop.contestants[0], None, np.empty(0))
    assert seen.finite
    assert not seen._replace(norm=np.inf).finite
    assert not seen._replace(thresholds=[0.0, np.nan]).finite


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"{", "unreadable"),
        (b'{"x": {"a": 1}, "y": 1} ' + b" " * 1_000_000, "unreadable"),
        (b'{"x": {}, "y": 1}', "schema"),
        (b'["x"]', "schema"),
        (b'{"x": {"a": 1e300}, "y": 1}', "feature"),
        (b'{"x": {"a": 1}, "y": 9}', "label"),
        (b'{"id": "nobody", "y": 1}', "unmatched"),
    ],
)
def test_rejects_are_counted_by_what_was_wrong(line: bytes, kind: str) -> None:
    loop = loop_of(["prank"], delay=5)
    feed(loop, [*ratings(10), line, line], [4])
    assert loop.progress.counts.rejects == 2
    assert +Counter(loop.reject_counts.by_kind) == {kind: 2}


def ratings(count: int) -> list[bytes]:
    lines = (
        line for line in mixed(10 * count) if line.startswith(b'{"x": {"') and b'"group"' in line
    )
    return list(lines)[:count]
