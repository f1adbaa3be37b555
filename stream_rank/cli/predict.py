"""Print the prediction of a learner for every record of a file, one line of JSON each."""

import argparse
import json
import math
import sys
from dataclasses import replace
from typing import Any

from stream_rank.cli.flags import add_fields
from stream_rank.cli.learner_choice import chosen
from stream_rank.config.fields import Fields, pairs
from stream_rank.config.labels import labels_in
from stream_rank.errors import ConfigError
from stream_rank.ingest.label_scale import LabelScale

__all__ = ["add", "run"]

_MOST_FEATURES = 10_000_000
"""A high limit: features that the learner does not know cost only the memory of their names."""


def add(parser: argparse.ArgumentParser) -> None:
    """Flags of `predict`."""
    parser.add_argument("snapshot", help="a snapshot, a model that was saved, or a run's folder")
    parser.add_argument("file", help='a file of events, or "-"; labels need not be there')
    parser.add_argument("--learner", help="which one, where a run has several")
    parser.add_argument("--format", choices=["jsonl", "csv", "parquet", "arrow", "avro"])
    add_fields(parser, "as in replay; must come after the file")
    parser.add_argument("--labels", help="as in replay; those of the run, where a run is given")
    parser.add_argument("--envelope", choices=["debezium", "cloudevents"], help="as in replay")
    parser.add_argument("--category", action="append", default=[], help="as in replay")
    parser.add_argument(
        "--ts-unit", choices=["ms", "s", "us", "ns"], default="ms", help="as in replay"
    )


def run(given: argparse.Namespace) -> int:
    """Predict; returns the exit code."""
    from stream_rank.checkpoint.model_file import load
    from stream_rank.codec.decoder import Decoder
    from stream_rank.codec.event import Kind
    from stream_rank.codec.feature_index import FeatureIndex
    from stream_rank.codec.form import EventForm
    from stream_rank.contestants.learner_spec import contestant_of_model
    from stream_rank.contestants.limits import limits_of
    from stream_rank.ingest.files.open_source import open_source

    model = load(given.snapshot, chosen(given.snapshot, given.learner))
    scale = _labels(given, model)
    contestant = contestant_of_model(model)
    fields = _fields(getattr(given, "fields", []))
    names = (*given.category, *_names_to(model))
    mapping = fields.mapping(given.ts_unit, names, scale)
    source = open_source([given.file], given.format, mapping)
    limits = replace(
        # with a scale every reader has to leave out what is none of its labels
        limits_of([contestant], scale.n_ranks if scale else None, _MOST_FEATURES, delayed=False),
        max_features=_MOST_FEATURES,
        named=True,
    )
    form = EventForm(frozenset(names), given.ts_unit, fields.of_events(), given.envelope, scale)
    decoder, failed = Decoder(limits, FeatureIndex(model.features), form), 0
    for chunk in source.chunks(None):
        if chunk is None:
            continue
        batch = decoder.decode(chunk)
        lines: dict[int, dict[str, Any]] = {
            reject.record: {"error": reject.reason} for reject in batch.rejects
        }
        found = contestant.predict(batch.rows, batch.unknown_features)
        failed += len(batch.rejects)
        for event, record in enumerate(batch.records.tolist()):
            if batch.kinds[event] in (Kind.RATING, Kind.REQUEST):
                predicted = _predicted(float(found[event]), contestant.predicts == "ranks", scale)
                lines[record] = {"prediction": predicted}
            elif batch.kinds[event] == Kind.PREFERENCE and event not in batch.orders:
                (one,), (other,) = (
                    each.dicts(event, event + 1) for each in (batch.rows, batch.others)
                )
                proba = model.prefer_proba_one(one, other)
                lines[record] = {"proba": {_OUTCOMES[key]: p for key, p in proba.items()}}
            else:
                lines[record] = {
                    "error": "only events with x, or preferred and other, can be predicted"
                }
        ids = [] if batch.ids is None else batch.ids.tolist()
        for event, name in enumerate(ids):
            if name is not None:
                lines[int(batch.records[event])]["id"] = name
        for record in sorted(lines):
            sys.stdout.write(json.dumps(lines[record]) + "\n")
        sys.stdout.flush()
        chunk.release()
    if failed:
        print(f"stream-rank: {failed:,} records could not be predicted", file=sys.stderr)
    return 0


def _predicted(value: float, ranked: bool, scale: LabelScale | None) -> float | str | None:
    """A score, or the label of a rank; None where the learner knows none yet."""
    if not math.isfinite(value):
        return None
    if not ranked:
        return value
    return int(value) if scale is None else scale.label_of(value)


def _labels(given: argparse.Namespace, model: Any) -> LabelScale | None:
    """The labels that were given, or those that the run learned."""
    from stream_rank.checkpoint.model_file import open_snapshot
    from stream_rank.committees.members import learner_of

    settings = open_snapshot(given.snapshot).metadata.get("settings") or {}
    try:
        labels = labels_in(given.labels or settings.get("labels"))
    except ValueError as error:
        raise ConfigError(f"--labels: {error}") from None
    if labels is None:
        return None
    n_ranks = getattr(learner_of(getattr(model, "learners", [model])[0]), "n_ranks", None)
    if n_ranks not in (None, len(labels)):
        raise ConfigError(
            f"--labels: there are {len(labels)}, and the learner learned {n_ranks} ranks"
        )
    return LabelScale(tuple(labels))


_OUTCOMES = {1: "preferred", 0: "tie", -1: "other"}
"""What the probabilities of a preference are of."""


def _names_to(model: Any) -> list[str]:
    """The features whose numbers are names to a learner, or to a member of a committee."""
    from stream_rank.committees.members import learner_of

    learners = [learner_of(each) for each in getattr(model, "learners", [model])]
    return [str(getattr(each, name)) for each in learners for name in each.takes_names]


def _fields(given: list[str]) -> Fields:
    from pydantic import ValidationError

    try:
        return Fields(**pairs(given))
    except (ValueError, ValidationError):
        raise ConfigError("--fields takes ROLE=FIELD, as in x=a,b id=user") from None
