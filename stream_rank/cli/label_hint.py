"""What to answer who did not say which labels there are: a look at the first events."""

import numpy as np

from stream_rank.config.labels import labels_in
from stream_rank.config.replay import ReplayConfig
from stream_rank.errors import StreamRankError
from stream_rank.ingest.label_scale import LabelScale

__all__ = ["label_hint"]

_EVENTS = 10_000
_QUESTION = "which labels are there? "
_MOST_LABELS = 100
"""Of more numbers than these, labels are no ranks."""
_PLAIN = 20
"""Whole numbers from 1 to at most this are ranks as they are."""


def label_hint(config: ReplayConfig) -> str:
    """A sentence about the labels of the first events; empty where nothing helps.

    Cost: that of reading some thousand events.
    """
    from stream_rank.codec.decoder import Decoder  # imports the engine
    from stream_rank.codec.event import Kind
    from stream_rank.codec.limits import Limits
    from stream_rank.ingest.files.open_source import open_source
    from stream_rank.runtime.replay import OF_LABELS

    if "-" in config.inputs or config.follow:
        return ""
    given = config.inputs, config.format, config.mapping(), False, config.csv_options()
    decoder, found, reasons = Decoder(Limits(), form=config.form()), np.empty(0), list[str]()
    try:
        for chunk in open_source(*given).chunks(None):
            if chunk is None:
                break
            batch = decoder.decode(chunk)
            found = np.concatenate([found, batch.labels[batch.kinds == Kind.RATING]])
            reasons += [each.reason for each in batch.rejects]
            chunk.release()
            if len(found) + len(reasons) >= _EVENTS:
                break
    except StreamRankError:
        return ""  # whoever reads it for good will say it
    labels = np.unique(found).tolist()
    if labels:
        return _QUESTION + _of_numbers(labels, len(found))
    text = next((each for each in reasons if OF_LABELS.search(each)), "")
    if not text:
        return ""
    return f"{_QUESTION}{text}; if labels are texts, say which there are, the lowest first, as in `labels` bad,ok,good"


def _shown(number: float) -> str:
    """A number with the digits that a float32 has: 4.7 as one is not 4.7."""
    return f"{number:.7g}"


def _stands_for(text: str, labels: list[float]) -> bool:
    """Whether the setting reads so, and has all of the labels."""
    try:
        scale = LabelScale(tuple(labels_in(text)))
    except ValueError:
        return False
    return bool((scale.ranks_of(np.array(labels)) > 0).all())


def _of_numbers(labels: list[float], events: int) -> str:
    first, last = labels[0], labels[-1]
    seen = f"the first {events:,} events have {len(labels):,} different ones, from {_shown(first)} to {_shown(last)}"
    if len(labels) > _MOST_LABELS or len(labels) < 2:
        return f"{seen}: give `labels`, or a learner of scores such as recursive-mprank with `learners`"
    whole = all(label == int(label) for label in labels)
    if whole and first >= 1 and 2 <= last <= _PLAIN:
        return f"{seen}: `n_ranks` {last:g}"
    steps = np.diff(labels)
    step = float(steps.min())
    count = round((last - first) / step)
    short = f"{_shown(first)},{_shown(first + step)},...,{_shown(last)}"
    if 3 <= count <= _MOST_LABELS and _stands_for(short, labels):
        return f"{seen}: `labels` {short}"
    return f"{seen}: `labels` {','.join(map(_shown, labels))}"
