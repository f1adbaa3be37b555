"""One process at a time writes the snapshots of a run, whatever stops, whoever wakes up late and whatever clocks say."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from errno import ENOSYS
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from stream_rank.checkpoint.claim import LATEST, Claim
from stream_rank.checkpoint.holder import Holder
from stream_rank.checkpoint.lease import Lease
from stream_rank.checkpoint.place import Place, place_of
from stream_rank.checkpoint.snapshot import Snapshot
from stream_rank.checkpoint.store import SnapshotStore
from stream_rank.checkpoint.swap_error import SwapError
from stream_rank.errors import LeaseError, SnapshotReadError
from tests.cli.conftest import in_process
from tests.disks import small_disk


@pytest.fixture(params=["disk", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "disk":
        return str(tmp_path / "snapshots")
    return f"{request.getfixturevalue('s3')}/runs/{tmp_path.name}"


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def unseen(_: Holder) -> None:
    """Of a process elsewhere nobody knows."""


def test_whoever_wakes_up_late_can_write_nothing(url: str) -> None:
    clock = Clock()
    late, other = SnapshotStore(url), SnapshotStore(url)
    for store in (late, other):
        store.lease = Lease(store.place, 10.0, clock, gone=unseen)
    late.prepare()
    assert late.lease.take()
    first = late.write(Snapshot({"a": 1}, {}), 1)[0]
    for _ in range(5):  # renewed in time, it is nobody else's
        clock.now += 9.0
        assert late.lease.fresh
        late.lease.renew()
        assert not other.lease.take()
    clock.now += 10.5
    assert not late.lease.fresh  # earlier than others may take it
    assert not other.lease.take()
    clock.now += 1.0
    assert other.lease.take()
    assert (other.lease.number, other.lease.look().snapshot) == (2, first)
    for write in (
        lambda: late.write(Snapshot({"a": 2}, {}), 2),
        late.lease.renew,
        late.clear,
        lambda: late.renew(first),
    ):
        with pytest.raises(
            LeaseError, match=r"process \d+ on .* took the lease of .*, as number 2"
        ):
            write()
    assert other.latest() == first
    second = other.write(Snapshot({"a": 3}, {}), 2)[0]
    other.lease.give_back()
    with pytest.raises(LeaseError):  # nor once nobody has it: it does not know what came since
        late.write(Snapshot({"a": 4}, {}), 2)
    third = SnapshotStore(url)
    assert third.write(Snapshot({"a": 5}, {}), 3)[0] == third.latest()
    assert [each.number for each in third.kept()] == [1, 2, 3]
    assert third.read(second).metadata == {"a": 3}


def test_an_upload_that_ends_late_is_the_latest_for_nobody(url: str) -> None:
    """The snapshot itself may come: nothing points to it, and it is behind those of whoever leads."""
    clock = Clock()
    late, other = SnapshotStore(url, keep=2), SnapshotStore(url, keep=2)
    for store in (late, other):
        store.lease = Lease(store.place, 10.0, clock, gone=unseen)
    late.prepare()
    assert late.lease.take()
    assert not other.lease.take()
    write = late.place.write
    names: list[str] = []

    def slowly(name: str, content: bytes) -> None:
        clock.now += 12.0
        assert other.lease.take()
        names.append(other.write(Snapshot({"of": "other"}, {}), 7)[0])
        write(name, content)

    late.place.write = slowly  # type: ignore[method-assign]
    with pytest.raises(LeaseError):
        late.write(Snapshot({"of": "late"}, {}), 9)
    assert other.latest() == names[0]
    assert [each.number for each in other.kept()] == [1, 2]
    for records in (8, 9):
        other.write(Snapshot({"of": "other"}, {}), records)
    assert [each.number for each in other.kept()][-2:] == [2, 2]


def test_what_is_written_last_is_the_latest_whatever_clocks_say(tmp_path: Path) -> None:
    store, now = SnapshotStore(str(tmp_path), keep=3, days=0), datetime(2026, 11, 20, tzinfo=UTC)
    generator = random.Random(1)
    for records in range(20):
        now += timedelta(days=generator.uniform(-400, 400))
        name, _ = store.write(Snapshot({"records": records}, {}), records % 3, now)
        assert store.latest() == name
        (tmp_path / LATEST).unlink()
        assert store.latest() == name
        assert next(iter(store.newest_first())) == name
    assert [each.number for each in store.kept()][-3:] == [18, 19, 20]  # though the file was lost


def test_whoever_was_not_told_has_it_all_the_same(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer to a write may be lost: what is there says whose it is."""
    lease = Lease(place_of(url), 10.0, gone=unseen)
    swap = lease._place.swap

    def unanswered(*given: Any) -> str:
        swap(*given)
        raise TimeoutError("no answer")

    def without_answer(do: Callable[[], object]) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(lease._place, "swap", unanswered)
            with pytest.raises(TimeoutError):
                do()

    without_answer(lease.take)
    assert lease.take()
    assert lease.number == 1
    without_answer(lease.renew)
    without_answer(lambda: lease.point("a"))
    lease.renew()
    assert (lease.look().snapshot, lease.look().renewals) == ("a", 4)
    without_answer(lease.give_back)
    assert Lease(place_of(url), 10.0).take()


class Memory:
    """A place in which any write may come late, or have no answer."""

    url = "memory"

    def __init__(self) -> None:
        self.content: bytes | None = None
        self.history: list[Claim] = []
        self.late: list[tuple[bytes, str | None]] = []
        self.fate = "answered"

    def read_soon(self, _: str) -> bytes:
        if self.content is None:
            raise FileNotFoundError
        return self.content

    def read_version(self, _: str) -> tuple[bytes, str] | None:
        return None if self.content is None else (self.content, self.content.decode())

    def swap(self, _: str, content: bytes, version: str | None) -> str:
        fate, self.fate = self.fate, "answered"
        if fate == "late":
            self.late.append((content, version))
            raise TimeoutError
        self.write(content, version)
        if fate == "unanswered":
            raise TimeoutError
        return content.decode()

    def write(self, content: bytes, version: str | None) -> None:
        if version != (None if self.content is None else self.content.decode()):
            raise SwapError
        self.content = content
        self.history.append(Claim.of(content))

    def swaps_safely(self, *_: object) -> bool:
        return True


class Holders:
    """Three who want to lead, each with a clock of its own. Any may do nothing for however long, and then go on."""

    def __init__(self, seed: int, jumps: bool) -> None:
        self.random, self.jumps = random.Random(seed), jumps
        self.place: Any = Memory()
        self.clocks = [Clock(self.random.uniform(0, 1e6)) for _ in range(3)]
        self.rates = [self.random.choice([0.96, 1.0, 1.04]) for _ in range(3)]
        self.leases = [self.new(who) for who in range(3)]
        self.count = 0

    def new(self, who: int) -> Lease:
        return Lease(self.place, 10.0, self.clocks[who], gone=unseen)

    def step(self) -> None:
        """Time passes, and then somebody who is awake does something."""
        seconds = self.random.choice([0.0, 0.0, 2.5, 9.3, 10.3, 11.2, 40.0])
        for clock, rate in zip(self.clocks, self.rates, strict=True):
            clock.now += rate * seconds
        who = self.random.randrange(3)
        if self.jumps and self.random.random() < 0.1:
            self.clocks[who].now += self.random.uniform(-1e3, 1e3)
        if self.random.random() < 0.15:
            self.place.fate = self.random.choice(["late", "unanswered"])
        if self.place.late and self.random.random() < 0.2:  # what was sent long ago arrives
            with suppress(SwapError):
                self.place.write(*self.place.late.pop(0))
            self.look()
        lease = self.leases[who]
        try:
            if not lease.number:
                if lease.take():
                    assert lease.number == Claim.of(self.place.content).number
            else:
                self.random.choice([lease.renew, lambda: self.point(lease), lease.give_back])()
        except TimeoutError:
            pass
        except LeaseError:
            holder = Claim.of(self.place.content).holder
            assert holder is None or holder.id != lease._us.id
            self.leases[who] = self.new(who)  # which is another process
        self.look()

    def point(self, lease: Lease) -> None:
        self.count += 1
        name, number = f"{lease.number:06d}-{self.count:06d}", lease.number
        lease.point(name)
        found = Claim.of(self.place.content)
        assert (found.snapshot, found.number) == (name, number)  # it is there

    def look(self) -> None:
        """Numbers grow, nothing older comes back, and one takes the lease for its own."""
        history = self.place.history
        for before, after in pairwise(history):
            assert after.number in (before.number, before.number + 1)
            if after.number > before.number:
                assert (after.snapshot, after.renewals) == (before.snapshot, 0)
            else:
                assert after.holder in (before.holder, None)
            assert (before.snapshot or "") <= (after.snapshot or "")
            if before.snapshot != after.snapshot:
                assert after.snapshot is not None
                assert int(after.snapshot[:6]) == after.number
        del history[:-1]
        assert self.jumps or sum(lease.fresh for lease in self.leases) <= 1


@pytest.mark.parametrize("jumps", [False, True], ids=["clocks differ", "clocks jump"])
def test_of_three_one_writes_whatever_comes_late(jumps: bool) -> None:
    """Lives of 100 steps, of which each fails as it failed before."""
    for seed in range(20_000 if os.environ.get("SOAK") else 100):
        holders = Holders(seed, jumps)
        try:
            for _ in range(100):
                holders.step()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {holders.place.history}") from error


@pytest.mark.parametrize("answer", ["NotImplemented", "nothing"])
def test_a_store_without_conditions_is_known(
    answer: str, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it says so, or writes regardless. What is left is to look before writing."""
    import s3fs

    pipe = s3fs.S3FileSystem._pipe_file

    async def regardless(self: Any, path: str, content: bytes, **more: Any) -> Any:
        if more and answer == "NotImplemented":
            raise OSError(ENOSYS, "A header implies functionality that is not implemented")
        return await pipe(self, path, content)

    monkeypatch.setattr(s3fs.S3FileSystem, "_pipe_file", regardless)
    s3fs.S3FileSystem.clear_instance_cache()
    one, other = (Lease(place_of(f"{s3}/old"), 10.0) for _ in range(2))
    assert one.take()
    assert not one.safe
    assert not other.take()
    one.point("a")
    one.give_back()
    assert other.take()
    assert (other.number, other.look().snapshot) == (2, "a")
    with pytest.raises(LeaseError):
        one.renew()


def test_a_process_that_has_ended_is_not_waited_for(tmp_path: Path) -> None:
    """One of this machine is known to have; a number that was given again is another process."""
    script = """
import sys
from stream_rank.checkpoint.store import SnapshotStore
assert SnapshotStore(sys.argv[1]).lease.take()
print("taken", flush=True)
sys.stdin.read()
"""
    lease = SnapshotStore(str(tmp_path)).lease
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"taken\n"
        assert not lease.take()
        holder = lease.seen.holder
        assert holder is not None
        assert (holder.process, holder.gone) == (process.pid, False)
        assert holder._replace(started="1").gone is True
        assert holder._replace(kernel="another machine").gone is None
        process.kill()
        os.waitid(
            os.P_PID, process.pid, os.WEXITED | os.WNOWAIT
        )  # ended, and nobody has asked after it
        assert holder.gone is True
        assert lease.take()
    assert holder.gone is True
    assert lease.number == 2


def test_a_lock_that_a_stopped_process_holds_is_waited_for_in_vain_and_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    from stream_rank.checkpoint import local_folder

    monkeypatch.setattr(local_folder, "_LOCK_SECONDS", 0.05)
    place = place_of(str(tmp_path))
    place.swap(LATEST, b"a", None)
    with (tmp_path / ".swap").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(TimeoutError, match="another process holds the lock"):
            place.swap(LATEST, b"b", place.read_version(LATEST)[1])  # type: ignore[index]
    assert [each.name for each in sorted(tmp_path.iterdir())] == [".swap", LATEST]


def test_it_is_renewed_on_a_disk_that_is_full(tmp_path: Path) -> None:
    """Learning goes on there, and only snapshots wait: the file is written over, where it is."""
    with small_disk(tmp_path / "small", "64k") as folder:
        one, other = (Lease(place_of(str(folder)), 10.0, gone=unseen) for _ in range(2))
        assert one.take()
        with (folder / "rest").open("wb") as rest, suppress(OSError):
            while True:
                os.write(rest.fileno(), bytes(4096))
        assert os.statvfs(folder).f_bfree == 0
        for _ in range(3):
            one.renew()
        assert other.look() == one.look()
        assert (one.look().number, one.look().renewals) == (1, 3)
        assert not other.take()
        one.give_back()
        assert other.take()
        with pytest.raises(LeaseError):
            one.renew()
        assert sorted(each.name for each in folder.iterdir()) == [".swap", LATEST, "rest"]


def test_whoever_writes_without_leading_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A replay into the snapshots of a daemon, and a rollback of them on another machine."""
    out, store = tmp_path / "snapshots", SnapshotStore(str(tmp_path / "snapshots"))
    assert store.lease.take()
    name, _ = store.write(Snapshot({}, {}), 1)
    before = (out / LATEST).read_bytes()
    replay = ["replay", "synthetic:100", "--n-ranks", 5, "--quiet", "--snapshots", out, "--out"]
    for command in (
        [*replay, tmp_path / "a"],
        [*replay, tmp_path / "b", "--resume"],
        ["rollback", "--to", name, "--out", tmp_path / "a", "--snapshots", out],
    ):
        code, _, error = in_process(capsys, *command)
        assert (code, f"process {os.getpid()} on " in error) == (9, True), error
        assert "one process at a time writes there" in error
    assert (out / LATEST).read_bytes() == before


def test_one_that_cannot_be_seen_is_watched(tmp_path: Path) -> None:
    """Whether it was killed is known once it has not renewed its lease for as long as it lasts; that it is there, as soon as it has."""
    clock, said = Clock(), list[str]()
    place: Place = place_of(str(tmp_path))
    one, other = (Lease(place, 10.0, clock, gone=unseen) for _ in range(2))
    assert one.take()

    def wait(seconds: float) -> None:
        clock.now += seconds
        if clock.now > 3.0:
            one.renew()

    with pytest.raises(LeaseError, match=r"process \d+ on .* has the lease of .* since 20\d\d-"):
        other.acquire(said.append, wait=wait)
    assert clock.now < 4.0
    other.acquire(said.append, wait=lambda _: setattr(clock, "now", clock.now + 1.0))
    assert other.number == 2
    assert len(said) == 2
    assert "waiting for at most 11 seconds" in said[0]


def test_a_file_of_before_there_were_leases_or_of_no_sense_is_read(tmp_path: Path) -> None:
    store = SnapshotStore(str(tmp_path))
    old = "000000000000007-20261101T000000Z.safetensors"
    store.prepare()
    store.place.write(old, store.place.read(store.write(Snapshot({"a": 1}, {}), 7)[0]))
    for content in (
        old,
        json.dumps({"snapshot": old, "number": -4, "seconds": float("inf"), "holder": [1]}),
    ):
        (tmp_path / LATEST).write_text(content)
        assert store.latest() == old
        assert store.lease.look()._replace(seconds=0.0) == Claim(old)
    name, _ = store.write(Snapshot({"a": 2}, {}), 6)
    assert name.endswith("-2-2.safetensors")  # the highest number there was, and one more
    assert store.kept()[0].name == old


def test_whoever_may_not_list_begins_at_one_and_a_store_that_is_away_is_not_one_without_snapshots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, errors = (
        SnapshotStore(str(tmp_path)),
        [OSError("away"), PermissionError(13, "Forbidden")],
    )

    def names() -> list[str]:
        raise errors.pop(0)

    monkeypatch.setattr(store.place, "names", names)
    with pytest.raises(SnapshotReadError, match="away"):
        store.lease.take()
    assert store.lease.take()
    assert store.lease.number == 1
