"""What is damaged, foreign, newer or forged is refused with a sentence; nothing of it is run, and no memory is made for it."""

import json
import os
import pickle
import random
import resource
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as save_tensors

import stream_rank
from stream_rank import OAPBPM, SnapshotError
from stream_rank.checkpoint.model_file import learner_in, learner_key, state_digest
from stream_rank.checkpoint.snapshot import FORMAT, Snapshot, pack, unpack
from stream_rank.learners.base.state import digest_of
from tests.learners.conftest import LEARNERS, Make

pytestmark = pytest.mark.long(20)

VARIANTS = 20_000 if os.environ.get("SOAK") else 4_000


def taught(make: Make, n_events: int = 60) -> Any:
    model = make(n_ranks=5)
    grouped = hasattr(model, "_groups")
    for number in range(n_events):
        x = {"a": (number % 7) / 4, f"b{number // 20}": number % 3 - 1.0, 5: 1.0}
        more = {"group": ("x", 7, None)[number % 3]} if grouped else {}
        model.learn_one(x, number % 5 + 1, **more)
        if number % 10 == 0:
            model.learn_pair({"a": 1.0}, {"a": 0.25}, 2.0)
    return model


def snapshot_of(model: Any) -> Snapshot:
    return Snapshot.of({learner_key("model"): model.dump()})


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_comes_back(name: str, tmp_path: Path) -> None:
    model = taught(LEARNERS[name])
    before = state_digest(model)
    stream_rank.save(model, tmp_path / "model")
    assert state_digest(model) == before
    other = stream_rank.load(tmp_path / "model")
    assert type(other) is type(model)
    assert state_digest(other) == before
    for number in range(60):  # and learns on as if nothing had been
        x = {"a": number / 16, "new": 1.0 - number / 8}
        assert other.predict_one(x) == model.predict_one(x)
        model.learn_one(x, number % 5 + 1)
        other.learn_one(x, number % 5 + 1)
        model.learn_pair(x, {"a": 1.0})
        other.learn_pair(x, {"a": 1.0})
    assert state_digest(other) == state_digest(model)


def test_discovered_labels_come_back(tmp_path: Path) -> None:
    for labels in (["bad", "fair", "good"], [0.5, 2, 7]):
        model = OAPBPM(n_members=5, seed=1)
        for number in range(50):
            model.learn_one({"a": number % 3 - 1.0}, labels[number % 3])
        stream_rank.save(model, tmp_path / "model")
        other = stream_rank.load(tmp_path / "model")
        assert other.labels == model.labels
        assert other.predict_one({"a": 1.0}) == model.predict_one({"a": 1.0})
        assert state_digest(other) == state_digest(model)


def test_what_cannot_be_kept_is_said(tmp_path: Path) -> None:
    model = OAPBPM(n_ranks=3)
    model.learn_one({("a", 1): 1.0}, 2)
    with pytest.raises(SnapshotError, match="names must be text or whole numbers"):
        stream_rank.save(model, tmp_path / "model")
    with pytest.raises(SnapshotError, match="cannot be written"):
        stream_rank.save(OAPBPM(n_ranks=3), tmp_path / "nowhere" / "model")
    with pytest.raises(SnapshotError, match="cannot be read"):
        stream_rank.load(tmp_path / "nothing")
    assert not list(tmp_path.iterdir())


def test_two_of_the_same_digest_are_the_same() -> None:
    one, other = taught(LEARNERS["OAPBPM"]), taught(LEARNERS["OAPBPM"])
    assert state_digest(one) == state_digest(other)
    other.learn_one({"a": 100.0}, 1)
    assert state_digest(one) != state_digest(other)


# What cannot be trusted ---------------------------------------------------------------------


def refused(raw: bytes) -> str | None:
    """Why it is refused; None if it loads, and then it must be what was written."""
    try:
        snapshot = unpack(raw)
        learner_in(snapshot, "model")
    except SnapshotError as error:
        return str(error)
    return None


def variants(raw: bytes, count: int, generator: random.Random) -> Any:
    """Cut off, flipped, filled, moved, emptied, and doubled."""
    for number in range(count):
        kind = number % 6
        place = generator.randrange(len(raw))
        changed = bytearray(raw)
        if kind == 0:
            changed = changed[:place]
        elif kind in (1, 2):
            end = len(raw) if kind == 1 else min(len(raw), 2_000)  # in the header above all
            for _ in range(generator.choice([1, 1, 2, 8])):
                changed[generator.randrange(end)] ^= 1 << generator.randrange(8)
        elif kind == 3:
            length = generator.randrange(1, 200)
            changed[place : place + length] = bytes([generator.choice([0, 255])]) * length
        elif kind == 4:
            del changed[place : place + generator.randrange(1, 64)]
        else:
            changed[:8] = generator.choice([0, 1, 2**20, 2**40, 2**63 - 1, 2**64 - 1]).to_bytes(
                8, "little"
            )
        yield bytes(changed)


def test_damaged_ones_are_refused() -> None:
    generator = random.Random(1)
    makes = ["OAPBPM-few", "VotedPRank", "OnlineMPRank", "PairwiseRanker", "RecursiveMPRank", "OAPBPM-gaussian"]  # fmt: skip
    survived = 0
    for name in makes:
        model = taught(LEARNERS[name])
        raw, digest = pack(snapshot_of(model)), state_digest(model)
        for variant in variants(raw, VARIANTS // len(makes) + 1, generator):
            if refused(variant) is None:
                survived += 1  # white space of the header, or nothing, was changed
                assert state_digest(learner_in(unpack(variant), "model")) == digest
    assert survived < VARIANTS // 20


def test_sentences() -> None:
    raw = pack(snapshot_of(taught(LEARNERS["PRank"])))
    assert "empty" in str(refused(b""))
    assert "cut off" in str(refused(raw[: len(raw) // 2]) or refused(raw[:4]))
    assert "no snapshot" in str(refused(save_tensors({"a": np.zeros(3)})))
    foreign = save_tensors({"a": np.zeros(3)}, metadata={"kind": "theirs"})
    assert "another program" in str(refused(foreign))
    newer = save_tensors({}, metadata={"kind": "stream-rank snapshot", "format": str(FORMAT + 1)})
    assert "upgrade stream-rank" in str(refused(newer))
    older = save_tensors({}, metadata={"kind": "stream-rank snapshot", "format": "1"})
    assert "learn the stream again" in str(refused(older))
    body = bytearray(raw)
    body[-1] ^= 1
    assert "digest" in str(refused(bytes(body)))
    assert "no snapshot" in str(refused(pickle.dumps([1, 2, 3] * 1000)))


class _Bomb:
    def __reduce__(self) -> Any:
        return os.mkdir, ("executed",)


def test_nothing_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(pickle.dumps(_Bomb()))
    metadata = snapshot_of(taught(LEARNERS["PRank"])).metadata
    metadata["parts"]["learners/model"]["learner"] = "os.mkdir"
    assert refused(forged(metadata, {}))
    assert not list(tmp_path.iterdir())


def forged(said: dict[str, Any], arrays: dict[str, Any]) -> bytes:
    """A snapshot whose digest is right, whoever wrote it."""
    return pack(Snapshot(said, arrays))


def test_headers_that_claim_terabytes_are_refused_before_memory_is_made() -> None:
    huge = {"a": {"dtype": "F64", "shape": [2**40], "data_offsets": [0, 2**43]}}
    header = json.dumps(
        {
            "__metadata__": {
                "kind": "stream-rank snapshot",
                "format": str(FORMAT),
                "metadata": "{}",
            },
            **huge,
        }
    )
    claims = [
        len(header).to_bytes(8, "little") + header.encode(),
        (2**43).to_bytes(8, "little") + b"{",
    ]
    parameters = [("OAPBPM", "n_members"), ("VotedPRank", "max_hypotheses"), ("OnlineMPRank", "budget"),
                  ("OnlineMPRank-gaussian", "budget"), ("PairwiseRanker", "window"), ("PRank", "n_ranks"),
                  ("OAPBPM-gaussian", "budget")]  # fmt: skip
    for name, parameter in parameters:
        for size in (10**6, 10**9, 10**12):
            content = snapshot_of(taught(LEARNERS[name]))
            content.metadata["parts"]["learners/model"]["parameters"][parameter] = size
            claims.append(forged(content.metadata, content.arrays))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    for claim in claims:
        assert refused(claim)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64e6
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


@pytest.mark.parametrize("name", ["OAPBPM-few", "VotedPRank", "OnlineMPRank", "OnlineMPRank-gaussian",
                                  "OAPBPM-gaussian", "PairwiseRanker", "RecursiveMPRank", "RecursiveMPRank-C"])  # fmt: skip
def test_forged_numbers_point_nowhere(name: str) -> None:
    """Whatever whole numbers and infinities somebody puts in, it is refused, or can be used without harm."""
    content = snapshot_of(taught(LEARNERS[name]))
    generator = random.Random(2)
    for array_name, array in content.arrays.items():
        for _ in range(12):
            changed = array.copy()
            if not changed.size:
                continue
            flat = changed.reshape(-1)
            place = generator.randrange(flat.size)
            if flat.dtype.kind == "f":
                flat[place] = generator.choice([np.nan, np.inf, -np.inf])
            else:
                flat[place] = generator.choice(
                    [2**31 - 1, 10**6, 2**32 - 1 if flat.dtype.kind == "u" else -5]
                )
            raw = forged(content.metadata, {**content.arrays, array_name: changed})
            if refused(raw) is None:
                model: Any = learner_in(unpack(raw), "model")
                for number in range(30):
                    model.learn_one({"a": number / 8, 5: 1.0}, number % 5 + 1)
                    model.predict_one({"a": 1.0})


def test_forged_words_are_refused() -> None:
    for name in ("OAPBPM-few", "OnlineMPRank"):
        content = snapshot_of(taught(LEARNERS[name]))
        described = content.metadata["parts"]["learners/model"]
        for key in described:
            value: Any
            for value in (None, {}, 3, "x", [["a", 1], ["a", 1]], ["a", "a"], [1.5], [[]]):
                if (key, value) == ("pairs", 3):
                    continue  # a count like any other
                said = {"parts": {"learners/model": {**described, key: value}}}
                assert refused(forged(said, content.arrays)), (key, value)


def test_digests_tell_names_and_shapes() -> None:
    array = np.arange(6.0)
    digests = {
        digest_of({}, {"a": array}),
        digest_of({}, {"b": array}),
        digest_of({}, {"a": array.reshape(2, 3)}),
        digest_of({}, {"a": array.view(np.int64)}),
        digest_of({"a": 1}, {"a": array}),
    }
    assert len(digests) == 5
