"""A daemon that cannot renew its lease learns nothing until it can, and nothing more once another has it."""

from pathlib import Path

import pytest

from stream_rank.checkpoint.lease import Lease
from stream_rank.checkpoint.place import place_of
from stream_rank.errors import LeaseError
from stream_rank.runtime import leading
from stream_rank.runtime.leading import Leading


def test_it_waits_until_the_lease_is_renewed_or_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leading, "_STEP_SECONDS", 0.0)
    now, said, place = 0.0, list[str](), place_of(str(tmp_path))
    ours, other = (Lease(place, 10.0, lambda: now, gone=lambda _: None) for _ in range(2))
    assert ours.take()
    watched = Leading(ours, said.append)
    assert list(watched.until_it_may()) == []
    now = 10.0  # the store was away, or this process was stopped
    turns = 0
    for _ in watched.until_it_may():
        turns += 1
        if turns == 5:
            ours.renew()  # nobody took it: what was learned is as good as before
    assert turns == 5
    assert ["nothing is learned or written" in each for each in said] == [True, False]
    assert watched.check()
    assert not other.take()
    now = 30.0
    assert other.take()
    assert not watched.check()  # by a look at the clock alone
    with pytest.raises(LeaseError):
        ours.renew()
    with pytest.raises(LeaseError, match="as number 2: this process ends"):
        next(watched.until_it_may())
