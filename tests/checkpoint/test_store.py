"""Where snapshots are kept."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from stream_rank import SnapshotError
from stream_rank.checkpoint.resuming import newest_sound
from stream_rank.checkpoint.snapshot import Snapshot
from stream_rank.checkpoint.store import SnapshotStore


def fill(store: SnapshotStore, hours: int) -> None:
    begin = datetime(2026, 11, 1, tzinfo=UTC)
    store.prepare()
    for hour in range(hours):
        store.write(Snapshot({"hour": hour}, {}), hour * 100, begin + timedelta(hours=hour))


@pytest.fixture(params=["disk", "memory://snapshots"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return (
        str(tmp_path / "snapshots")
        if request.param == "disk"
        else f"{request.param}/{tmp_path.name}"
    )


def test_the_newest_and_one_a_day_are_kept(url: str) -> None:
    store = SnapshotStore(url, keep=3)
    fill(store, 60)
    hours = [each.records // 100 for each in store.kept()]
    assert hours == [23, 47, 57, 58, 59]
    latest = store.latest()
    assert latest is not None
    assert store.read(latest).metadata == {"hour": 59}


def test_without_a_pointer_the_newest_is_the_latest(tmp_path: Path) -> None:
    store = SnapshotStore(str(tmp_path), keep=3)
    assert store.latest() is None
    fill(store, 5)
    for content in (b"", b"nonsense", b"\xff\xfe"):
        (tmp_path / "latest").write_bytes(content)
        assert store.latest() == store.kept()[-1].name


def test_what_was_left_unfinished_is_removed(tmp_path: Path) -> None:
    store = SnapshotStore(str(tmp_path))
    fill(store, 2)
    (tmp_path / ".unfinished-x").write_bytes(b"half")
    store.prepare()
    assert len(list(tmp_path.iterdir())) == 3


def test_a_damaged_one_is_refused_or_the_older_taken(tmp_path: Path) -> None:
    store = SnapshotStore(str(tmp_path), keep=5)
    fill(store, 3)
    names = [each.name for each in store.kept()]
    (tmp_path / names[-1]).write_bytes(b"damaged")
    said: list[str] = []
    with pytest.raises(SnapshotError, match="`on_corrupt_snapshot` = older"):
        newest_sound(store, False, said.append)
    snapshot = newest_sound(store, True, said.append)
    assert snapshot is not None
    assert snapshot.metadata == {"hour": 1}
    assert "trying an older one" in said[0]
    for name in names:
        (tmp_path / name).write_bytes(b"damaged")
    with pytest.raises(SnapshotError, match=r"no snapshot in .* can be trusted"):
        newest_sound(store, True, said.append)


def test_after_resuming_from_an_older_one_new_ones_are_kept(url: str) -> None:
    """They have fewer records than those that were written before, and are newer."""
    store = SnapshotStore(url, keep=3)
    fill(store, 5)
    later = datetime(2026, 11, 1, 12, tzinfo=UTC)
    for number in range(3):
        store.write(Snapshot({"again": number}, {}), 150 + number, later + timedelta(hours=number))
    assert {each.records for each in store.kept()} == {150, 151, 152}
    latest = store.latest()
    assert latest is not None
    assert store.read(latest).metadata == {"again": 2}


@pytest.mark.parametrize("pointed", [True, False], ids=["latest", "without a pointer"])
def test_after_a_rollback_the_old_one_is_the_newest(tmp_path: Path, pointed: bool) -> None:
    """Also where the one that was rolled back was written in this very second, and where a later one is damaged."""
    store = SnapshotStore(str(tmp_path), keep=3)
    fill(store, 6)
    names = [each.name for each in store.kept()]
    same_second = datetime(2026, 11, 1, 5, tzinfo=UTC)
    again = store.renew(names[-3], same_second)
    assert {*names, again} == {each.name for each in store.kept()}
    if not pointed:
        (tmp_path / "latest").unlink()
    assert store.latest() == again
    old = store.read(again)
    assert old == store.read(names[-3])
    later, _ = store.write(Snapshot({"hour": 9}, {}), 350, same_second + timedelta(seconds=2))
    (tmp_path / later).write_bytes(b"damaged")
    snapshot = newest_sound(store, True, lambda _: None)
    assert snapshot == old
