"""Where snapshots are kept."""

import errno
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from stream_rank.checkpoint.resuming import newest_sound, patiently
from stream_rank.checkpoint.snapshot import Snapshot
from stream_rank.checkpoint.store import SnapshotStore
from stream_rank.cli.exit_codes import ExitCode, code_of
from stream_rank.config.daemon import DaemonConfig
from stream_rank.errors import (
    ConfigError,
    RecoverableError,
    SnapshotError,
    SnapshotReadError,
)
from stream_rank.ingest.backoff import Backoff
from stream_rank.runtime.daemon import Daemon
from stream_rank.runtime.run_folder import RunFolder


def fill(store: SnapshotStore, hours: int) -> None:
    begin = datetime(2026, 11, 1, tzinfo=UTC)
    store.prepare()
    for hour in range(hours):
        store.write(Snapshot({"hour": hour}, {}), hour * 100, begin + timedelta(hours=hour))


@pytest.fixture(params=["disk", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "disk":
        return str(tmp_path / "snapshots")
    return f"{request.getfixturevalue('s3')}/runs/{tmp_path.name}"


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
    assert len(list(tmp_path.iterdir())) == 4  # two, `latest`, and the lock for whoever writes it


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


@pytest.mark.parametrize(
    "error", [TimeoutError("Read timeout"), PermissionError(13, "Forbidden"), OSError(5, "Input/output error"), RuntimeError()]
)  # fmt: skip
@pytest.mark.parametrize("older", [True, False])
def test_a_store_that_is_away_is_not_answered_by_an_older_snapshot(
    error: Exception, older: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, said = SnapshotStore(str(tmp_path)), list[str]()
    fill(store, 3)
    newest = store.kept()[-1].name
    read = store.place.read

    def failing(name: str) -> bytes:
        if name == newest:
            raise error
        return read(name)

    monkeypatch.setattr(store.place, "read", failing)
    with pytest.raises(SnapshotReadError, match=f"{newest} cannot be read: ") as caught:
        newest_sound(store, older, said.append)
    assert isinstance(caught.value, RecoverableError)
    assert "older" not in str(caught.value)
    assert said == []
    with pytest.raises(SnapshotReadError):
        store.renew(newest)


def test_a_snapshot_that_is_not_there_will_not_be(tmp_path: Path) -> None:
    store = SnapshotStore(str(tmp_path))
    fill(store, 1)
    (tmp_path / "a").mkdir()
    for name in ("nothing", "a", "x" * 300, f"{store.kept()[0].name}/x"):
        with pytest.raises(SnapshotError, match="cannot be read") as caught:
            store.read(name)
        assert not isinstance(caught.value, RecoverableError), name


def test_a_store_that_comes_back_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, said = SnapshotStore(str(tmp_path)), list[str]()
    fill(store, 2)
    now, attempts, back, stopped = 0.0, 0, 40.0, False
    read = store.place.read

    def failing(name: str) -> bytes:
        nonlocal attempts
        attempts += 1
        if now < back:
            raise OSError("no such host")
        return read(name)

    def wait(seconds: float) -> None:
        nonlocal now
        now += seconds

    def found() -> Snapshot | None:
        return patiently(
            lambda: newest_sound(store, True, said.append),
            Backoff("snapshots", said.append, lambda: now),
            *(lambda: stopped, lambda: now, wait),
        )

    monkeypatch.setattr(store.place, "read", failing)
    snapshot = found()
    assert snapshot is not None
    assert snapshot.metadata == {"hour": 1}
    assert said[0].startswith("snapshots: ")
    assert "no such host" in said[0]
    assert "recovered after 4" in said[1]
    now, back = 0.0, 1000.0
    with pytest.raises(SnapshotReadError):
        found()
    assert 55.0 < now < 60.0
    now, attempts, stopped = 0.0, 0, True
    with pytest.raises(SnapshotReadError):
        found()
    assert (now, attempts) == (0.0, 1)
    (tmp_path / store.kept()[-1].name).write_bytes(b"damaged")
    monkeypatch.undo()
    with pytest.raises(SnapshotError, match="on_corrupt_snapshot"):
        patiently(lambda: newest_sound(store, False, str), Backoff("snapshots", str), lambda: False)


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


def test_days_are_kept_as_long_as_is_said(tmp_path: Path) -> None:
    store = SnapshotStore(str(tmp_path), keep=2, days=3)
    fill(store, 24 * 6)
    assert [each.written.day for each in store.kept()] == [4, 5, 6, 6]
    without = SnapshotStore(str(tmp_path), keep=2, days=0)
    without.write(Snapshot({}, {}), 10**6, datetime(2026, 11, 7, tzinfo=UTC))
    assert [each.written.day for each in without.kept()] == [6, 7]


def test_an_empty_place_is_where_a_run_begins(url: str) -> None:
    store = SnapshotStore(url)
    assert store.latest() is None
    assert store.kept() == []
    assert newest_sound(store, True, str) is None
    store.prepare()
    name, _ = store.write(Snapshot({"a": 1}, {}), 5)
    assert SnapshotStore(url).latest() == name


def test_a_run_goes_on_without_the_right_to_list(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SnapshotStore(f"{s3}/run")

    def forbidden() -> list[str]:
        raise PermissionError(13, "Forbidden")

    monkeypatch.setattr(store.place, "names", forbidden)
    for number in range(3):
        store.prepare()
        store.write(Snapshot({"number": number}, {}), number)
        snapshot = newest_sound(store, False, str)
        assert snapshot is not None
        assert snapshot.metadata == {"number": number}


def test_what_cannot_be_reached_is_one_line(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs

    with pytest.raises(SnapshotError, match=r"^s3://nobodys/run: there is no such bucket$"):
        SnapshotStore("s3://nobodys/run").latest()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(SnapshotError, match=r"redentials; S3 is asked with AWS_ACC") as error:
        SnapshotStore(f"{s3}/run").latest()
    assert "\n" not in str(error.value)
    with pytest.raises(ConfigError, match="ends with it"):
        SnapshotStore("memory://run")
    with pytest.raises(ConfigError, match="no folder and no URL"):
        SnapshotStore("nonsense://run")


def test_no_link_is_followed(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.write_text("theirs")
    store = SnapshotStore(str(ours))
    now = datetime(2026, 11, 1, tzinfo=UTC)
    name = f"{7:015d}-20261101T000000Z-1-1.safetensors"
    for planted in (name, "latest", ".unfinished-latest", f".unfinished-{name}"):
        (ours / planted).symlink_to(theirs)
    with pytest.raises(SnapshotError, match="symbolic links"):
        store.latest()
    planted, (name, _) = name, store.write(Snapshot({"a": 1}, {}), 7, now)
    assert name != planted  # nobody can foresee it
    assert store.read(name).metadata == {"a": 1}
    assert not (ours / name).is_symlink()
    store.prepare()
    store.clear()
    assert theirs.read_text() == "theirs"
    (ours / name).symlink_to(theirs)
    with pytest.raises(SnapshotError, match="symbolic links"):
        store.read(name)


def test_unfinished_files_have_names_that_nobody_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def noted(before: str, after: str) -> None:
        seen.append(os.path.basename(before))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", noted)
    for _ in range(3):
        with pytest.raises(OSError, match="No space"):
            SnapshotStore(str(tmp_path)).write(Snapshot({}, {}), 1)
    assert len(set(seen)) == 3
    assert [each.name for each in tmp_path.iterdir()] == [".swap"]


def test_a_daemon_whose_store_is_away_ends_so_that_it_may_be_started_again(
    s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not as with a damaged snapshot, after which no supervisor starts it."""
    import s3fs

    from stream_rank.checkpoint import resuming

    monkeypatch.setattr(resuming, "_PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    s3fs.S3FileSystem.clear_instance_cache()
    config = DaemonConfig.model_validate(
        {"topics": ["t"], "bootstrap_servers": "127.0.0.1:1", "n_ranks": 5, "out": tmp_path, "snapshots": f"{s3}/away",
         "on_corrupt_snapshot": "older"}
    )  # fmt: skip
    with pytest.raises(SnapshotReadError, match="s3://models/away/latest cannot be read") as caught:
        Daemon(config)
    assert code_of(caught.value) == ExitCode.OUTPUT
    RunFolder(tmp_path).close()  # nobody holds it
