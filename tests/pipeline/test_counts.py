"""Rejects in a row."""

from stream_rank.codec.decoder import Decoder
from stream_rank.codec.limits import Limits
from stream_rank.ingest.chunk import as_records
from stream_rank.ingest.position import RowPosition
from stream_rank.pipeline.counts import RejectCounts

RATING, RUBBISH, EMPTY = b'{"x": {"a": 1}, "y": 1}', b"rubbish", b""


def longest(*portions: list[bytes]) -> int:
    counts, decoder = RejectCounts(), Decoder(Limits(n_ranks=2))
    for values in portions:
        chunk = as_records(values, RowPosition, str, blank_is_nothing=False)
        counts.count(decoder.decode(chunk))
    return counts.longest_streak


def test_rejects_in_a_row_are_counted_across_portions_and_over_empty_messages() -> None:
    assert longest([RUBBISH, EMPTY, RUBBISH], [EMPTY], [RUBBISH, RATING, RUBBISH]) == 3
    assert longest([EMPTY, EMPTY], [RUBBISH]) == 1


def test_an_event_ends_a_row() -> None:
    assert longest([RUBBISH, RUBBISH], [RATING], [RUBBISH]) == 2
    assert longest([RUBBISH, RATING, EMPTY, RUBBISH, RUBBISH]) == 2
