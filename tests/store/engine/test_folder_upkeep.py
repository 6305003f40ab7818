"""What becomes of folders and descriptors: all that is in one is removed and counted, nothing of others is, and nothing stays open."""

from __future__ import annotations

import contextlib
import errno
import gc
import logging
import os
import subprocess
import sys
import time

import pytest
from support import NO_FLOORS, ManualClock

from spillstore import Store
from spillstore.engine.base import SessionRef
from spillstore.engine.rows import NewEvent
from spillstore.engine.sqlite import (
    database,
    folders,
    full_disk,
    leftovers,
    owner_locks,
    path_safety,
    soft_delete,
    tmpfs_root,
    usage_cache,
)
from spillstore.engine.sqlite.database import WAL_AT_MOST, WAL_BYTES
from spillstore.exceptions import (
    IntegrityError,
    NotASessionError,
    SessionBusyError,
    SessionDeletedError,
    UnsafeRootError,
)
from spillstore.settings import Settings


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "root", **NO_FLOORS)


def made(folder, files):
    """A folder with files of so many bytes."""
    folder.mkdir(parents=True, mode=0o700)
    for name, size in files.items():
        (folder / name).write_bytes(b"x" * size)


def on_disk(*paths):
    return sum(path.stat().st_blocks * 512 for path in paths)


# --- folders ------------------------------------------------------------------------------------------------


def test_a_folder_is_removed_with_all_that_is_in_it(tmp_path):
    """Folders in folders, too; what is freed is what files took on the disk, and a second name of one frees nothing."""
    made(tmp_path / "gone", {"a": 10_000})
    made(tmp_path / "gone" / "inner", {"b": 20_000})
    made(tmp_path / "gone" / "inner" / "deep", {"c": 30_000})
    made(tmp_path / "stays", {"kept": 40_000})
    os.link(tmp_path / "stays" / "kept", tmp_path / "gone" / "second")
    (tmp_path / "gone" / "link").symlink_to(tmp_path / "stays")
    freed = on_disk(*(tmp_path / "gone" / name for name in ("a", "inner/b", "inner/deep/c")))
    freed += (tmp_path / "gone" / "link").lstat().st_blocks * 512
    used = on_disk(*(tmp_path / "gone" / name for name in ("a", "second", "inner")))
    used += (tmp_path / "gone" / "link").lstat().st_blocks * 512
    with folders.open_root(tmp_path) as root:
        assert used == root.usage("gone")
        assert freed == root.remove("gone")
        assert (0, 0) == (root.usage("gone"), root.remove("gone"))
    assert not (tmp_path / "gone").exists()
    assert [40_000] == [path.stat().st_size for path in (tmp_path / "stays").iterdir()]


def test_a_move_replaces_nothing(tmp_path):
    """Where something has the name, a file or a folder, it is an error, and both are as they were."""
    for folder in ("from", "to"):
        made(tmp_path / folder, {"file": len(folder)})
        made(tmp_path / folder / "folder", {})
    with folders.open_root(tmp_path) as root, root.folder("from") as old, root.folder("to") as new:
        for name in ("file", "folder"):
            with pytest.raises(FileExistsError):
                old.move_new(name, new, name)
            with pytest.raises(FileNotFoundError):
                old.move_new("missing", new, "other")
        assert (4, 2) == (
            (tmp_path / "from" / "file").stat().st_size,
            (tmp_path / "to" / "file").stat().st_size,
        )
        old.move_new("file", new, "other")
    assert ["folder"] == os.listdir(tmp_path / "from")
    assert 4 == (tmp_path / "to" / "other").stat().st_size


def test_where_the_system_has_no_such_rename_it_is_said(tmp_path, monkeypatch):
    """A C library without it: both names stay as they are, and a copy replaces a session all the same, in two steps."""
    made(tmp_path / "one", {"file": 1})
    made(tmp_path / "two", {})
    store, other = (Store(tmp_path / name, **NO_FLOORS) for name in ("root", "other"))
    for each, text in ((store, b"new"), (other, b"old")):
        with each.session("one") as session:
            session.put(text)
    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: object())
    with folders.open_root(tmp_path) as root, root.folder("one") as one, root.folder("two") as two:
        for rename in (lambda: root.exchange("one", "two"), lambda: one.move_new("file", two, "file")):
            with pytest.raises(OSError, match=os.strerror(errno.ENOSYS)) as caught:
                rename()
            assert errno.ENOSYS == caught.value.errno
    assert ["file"] == os.listdir(tmp_path / "one")
    store.copy_session("one", to=other, replace=True)
    with other.session("one", read_only=True) as session:
        assert [b"new"] == [each.read_bytes(0, 9) for each in session.artifacts()]


@pytest.mark.parametrize(
    ("change", "words"),
    [({"uid": 1}, "belongs to"), ({"nlink": 2}, "has 2 names"), ({"nlink": 0}, "has 0 names"), ({"mode": 0o100620}, "can write"),
     ({"mode": 0o100602}, "can write"), ({"mode": 0o010600}, "no regular file"), ({"mode": 0o100644}, None), ({}, None)],
)  # fmt: skip
def test_a_file_of_the_store_is_private_and_its_owner_s(tmp_path, change, words):
    """A regular one with one name, of who owns the folder or of this user, that nobody else can write; others may read it."""
    usual = {"mode": 0o100600, "ino": 1, "dev": 1, "nlink": 1, "uid": os.geteuid(), "gid": 0, "size": 0, "atime": 0, "mtime": 0, "ctime": 0}  # fmt: skip
    if "uid" in change:
        change = {"uid": os.geteuid() + 1}
    status, folder = (
        os.stat_result(tuple({**usual, **change}.values())),
        os.stat_result(tuple(usual.values())),
    )
    with contextlib.nullcontext() if words is None else pytest.raises(UnsafeRootError, match=words):
        folders.check_own(tmp_path / "file", status, folder)


@pytest.mark.parametrize("kind", ["new", "torn"])
def test_a_leftover_is_one_when_its_time_has_passed(tmp_path, kind):
    """A folder that is being made has a minute, by the machine's clock; what is kept aside as long as a session may be kept."""
    made(tmp_path / "_" / f".{kind}-1", {"session.db": 100})
    status = (tmp_path / "_" / f".{kind}-1").stat()
    retention = 1000.0

    def left(later):
        if kind == "new":
            os.utime(tmp_path / "_" / ".new-1", (time.time() - later, time.time() - later))
            return leftovers.remove(tmp_path, retention, 0.0, dry_run=True)[0]
        return leftovers.remove(tmp_path, retention, status.st_ctime + later, dry_run=True)[0]

    assert [0, 0, 1] == [left(later) for later in ((0, 50, 70) if kind == "new" else (-1.0, 999.0, 1001.0))]
    assert ([0, 1] if kind == "new" else [0, 0]) == [left(-50), left(-70)]


def test_where_there_is_no_store_nothing_is_left(tmp_path):
    """Nothing is found, freed or named, and nothing is made."""
    for dry_run in (True, False):
        assert leftovers.remove(tmp_path / "missing", 1.0, 0.0, dry_run=dry_run) == (0, 0, ())
    assert [] == os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "mode", "owner", "stays"),
    [("ours", 0o700, "dead", False), ("ours", 0o755, "dead", True), ("ours", 0o700, None, True), ("ours", 0o700, "alive", True),
     ("other", 0o700, "dead", True), ("ours", 0o1700, "dead", True)],
)  # fmt: skip
def test_a_folder_in_memory_goes_when_its_process_is_gone(tmp_path, name, mode, owner, stays):
    """Ours alone, for its owner alone, and with the file of a dead owner; one that is about to write it is left in peace."""
    folder = tmp_path / (
        f"spillstore-{os.getuid()}-x" if name == "ours" else f"spillstore-{os.getuid() + 1}-x"
    )
    made(folder, {"file": 10})
    held = None
    if owner == "alive":
        held = owner_locks.Owner(folder)
    elif owner == "dead":
        (folder / f"owner-{'0' * 16}.lock").write_bytes(b"{}")
    folder.chmod(mode)
    tmpfs_root._remove_dead(tmp_path)
    assert stays == folder.exists()
    if held is not None:
        held.release()


def test_the_end_of_a_claim_whose_folder_went_is_nothing_to_speak_of(tmp_path, caplog):
    """Somebody has deleted the session meanwhile."""
    folder = tmp_path / "folder"
    folder.mkdir()
    owner = owner_locks.Owner(folder)
    (folder / owner.name).unlink()
    with caplog.at_level(logging.DEBUG):
        owner.release()
    assert [] == caplog.records


@pytest.mark.parametrize("suffix", ["-wal", "-journal", "-shm"])
def test_who_has_a_file_to_itself_follows_no_link_beside_it(store, tmp_path, suffix):
    """As everybody else who opens it for writing."""
    store.session("test").close()
    path = store.root / "_" / "test" / "session.db"
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    path.with_name(f"session.db{suffix}").symlink_to(victim)
    with pytest.raises(UnsafeRootError):
        database.connect_alone(path, Settings())
    assert b"precious" == victim.read_bytes()


@pytest.mark.parametrize(("front", "refused"), [(b"", False), (b"x", True), (b"x" * 5000, True)])
def test_a_journal_that_ends_in_the_mark_of_another_one_is_refused(tmp_path, front, refused):
    """The mark alone is no journal, and names nothing."""
    mark = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
    (tmp_path / "session.db").write_bytes(b"x")
    (tmp_path / "session.db-journal").write_bytes(front + mark)
    with pytest.raises(IntegrityError) if refused else contextlib.nullcontext():
        path_safety.check_companion_files(tmp_path / "session.db", writing=False)


def test_what_is_committed_is_counted_until_it_is_copied_into_the_file(store):
    """Four MiB of chunks, or so many commits of small ones that their rows make that much; then counting begins anew."""
    with store.session("test") as session:
        count = session._engine.store.committed
        while not count(WAL_BYTES // 8, 0):
            pass
        assert not count(WAL_BYTES - 1, 0)
        assert count(1, 0)
        assert not count(WAL_BYTES - 1, 0)
        assert count(1, 0)
        commits = next(number for number in range(1, 1000) if count(0, 1))
        assert 40 <= commits <= 60
        assert not count(0, commits - 1)
        assert count(0, 1)


def test_a_journal_that_somebody_reads_is_copied_again_when_the_next_copy_is_due(store):
    """At the latest when 16 MiB are committed since all of it was copied; after four more where a reader keeps its end."""
    with store.session("test") as session:
        file = session._engine.store
        copied, step = [], WAL_BYTES // 2

        def until_copied():
            before = len(copied)
            for number in range(1, 100):
                file.committed(step, 0)
                if len(copied) > before:
                    return number
            return None

        file._pool.writer().set_trace_callback(
            lambda statement: copied.append(statement) if "wal_checkpoint" in statement else None
        )
        most, few = WAL_AT_MOST // step, WAL_BYTES // step
        assert [most, most] == [until_copied() for _ in range(2)]
        with file.snapshot("a test") as rows:
            assert rows.session_row() is not None
            with file.using, file.transaction("a test") as tx:
                tx.append_events([NewEvent(1, "read", None, None, None, "{}", None)])
            assert [most, few, few] == [until_copied() for _ in range(3)]
        assert [few, most] == [until_copied() for _ in range(2)]
        file._pool.writer().set_trace_callback(None)


# --- deletion ------------------------------------------------------------------------------------------------


def delete(store, session_id, expected=None, **settings):
    settings = Settings(**NO_FLOORS, busy_timeout=0.1, **settings)
    folder = store.root / "_" / session_id
    return full_disk.delete(
        folder, expected or (session_id, None), settings, None, ManualClock(float(int(time.time()) + 60))
    )


@pytest.mark.parametrize(("audit", "keep"), [("full", True), ("off", True), ("full", False)])
def test_where_nothing_can_be_recorded_a_session_is_deleted_and_its_events_are_kept(tmp_path, audit, keep):
    """All of them, and that it was deleted as the last one, numbered behind them; nothing where nothing is to be kept."""
    store = Store(tmp_path / "root", audit=audit, audit_keep=keep, **NO_FLOORS)
    with store.session("one") as session:
        session.put(b"text")
        recorded = [event.kind for event in session.events(limit=100).items]
    gone = delete(store, "one", audit=audit, audit_keep=keep)
    assert not gone.exists()
    assert [] == list(store.sessions())
    kept = [] if not keep else store.deleted_events("one", limit=100).items
    if not keep or audit == "off":
        assert "delete_session" not in {event.kind for event in kept}
    else:
        assert ["delete_session", *recorded] == [event.kind for event in kept]
        assert kept[0].at == int(kept[0].at) == max(event.at for event in kept)


@pytest.mark.long
def test_what_somebody_holds_is_not_deleted_without_a_record(store):
    """Who has claimed it is named; one who only has the file open is told of, too; both times it stays, and can be read."""
    with store.session("one") as session:
        session.put(b"text")
        with pytest.raises(
            SessionBusyError, match=r"session 'one' is held by this process, .* free some space"
        ):
            delete(store, "one")
    path = store.root / "_" / "one" / "session.db"
    code = f"import sqlite3; c = sqlite3.connect({str(path)!r}, isolation_level=None); c.execute('PRAGMA journal_mode').fetchone(); c.execute('BEGIN IMMEDIATE'); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        other.stdout.readline()
        with pytest.raises(SessionBusyError, match=r"session 'one' is open somewhere, .* free some space"):
            delete(store, "one")
        other.communicate(b"\n")
    with store.session("one", read_only=True) as session:
        assert 1 == len(list(session.artifacts()))
    delete(store, "one")
    assert [] == os.listdir(store.root / "_")


def test_a_file_of_another_place_is_not_deleted(store):
    """The name of its session and of its project are those of its folders, or nothing is done."""
    store.session("one").close()
    for expected in (("two", None), ("one", "web")):
        with pytest.raises(IntegrityError, match="holds session 'one': a file of another place"):
            delete(store, "one", expected)
    assert ["one"] == [info.id for info in store.sessions()]


def test_a_deletion_is_finished_only_where_it_was_begun(store):
    """Of a session that nobody has marked as deleted, that was made anew, and of a file that is none, nothing is moved."""
    store.session("one").close()
    backend = store._pool.backend
    with pytest.raises(SessionBusyError, match="session 'one' was just made anew"):
        backend.finish_deletion(SessionRef("one", None))
    path = store.root / "_" / "one" / "session.db"
    path.write_bytes(b"somebody's own text\n" * 1000)
    with pytest.raises(NotASessionError):
        backend.finish_deletion(SessionRef("one", None))
    assert path.exists()


@pytest.mark.long
def test_who_reads_a_session_that_another_process_has_deleted_is_told_so(store):
    """Of an artifact that is still written, of one that has ended, and of the list; each time it is asked again."""
    with store.session("one") as writing:
        writing.put(b"text")
    session = Store(store.root, **NO_FLOORS).session("one", read_only=True)
    [artifact] = session.artifacts()
    code = "import sys; from spillstore import Store; Store(sys.argv[1], free_disk_floor=0).delete('one', force=True)"
    subprocess.run([sys.executable, "-c", code, store.root], check=True)
    for _ in range(2):
        for ask in (
            lambda: session.artifact(artifact.id).read(),
            lambda: list(session.artifacts()),
            lambda: session.put(b"x"),
        ):
            with pytest.raises(Exception) as caught:
                ask()
            assert type(caught.value).__name__ in {
                "SessionDeletedError",
                "ReadOnlyError",
                "ArtifactNotFoundError",
            }
    with contextlib.suppress(SessionDeletedError):
        session.close()


def test_who_needs_one_more_connection_to_a_session_that_is_gone_is_told_so(store, tmp_path):
    """Its folder was moved away by another program, while the one connection that there was is in use."""
    with store.session("one") as writing:
        writing.put(b"text")
    session = store.session("one", read_only=True)
    with session._engine.reader():
        (store.root / "_" / "one").rename(tmp_path / "elsewhere")
        with pytest.raises(SessionDeletedError):
            list(session.artifacts())
    session.close()


# --- descriptors -----------------------------------------------------------------------------------------------


def open_files():
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are counted in /proc")
def test_nothing_stays_open(store, tmp_path):
    """Whatever is asked of folders, owners, sizes, sessions, copies and exports: each is done again with as many descriptors."""
    with store.session("kept", project="x" * 100) as session:
        artifact = session.put(b"text\n" * 100)
    folder = store.root / "_" / "one"
    store.session("one").close()
    (folder / f"owner-{'0' * 16}.lock").write_bytes(b"{}")
    clock = ManualClock(time.time())
    other = Store(tmp_path / "other", **NO_FLOORS)

    def refused():
        with contextlib.suppress(NotASessionError, IntegrityError):
            Store.open_file(tmp_path / "none.db")

    def opened():
        with store.session("kept", project="x" * 100) as session:
            session.artifact(artifact.id).export(tmp_path / "exported", overwrite=True)
            session.check()

    def copied():
        store.copy_session("one", to=other)
        other.delete("one")

    def collected():
        store.session("old").close()
        (store.root / "_" / "old").rename(store.root / "_" / ".gone-1")
        store.collect()

    def locked():
        with folders.open_root(store.root) as root, root.locked():
            root.sync()

    (tmp_path / "none.db").write_bytes(b"no database" * 1000)
    doings = [
        lambda: owner_locks.alive(folder, f"owner-{'0' * 16}.lock"), lambda: owner_locks.describe(folder, f"owner-{'0' * 16}.lock"),
        lambda: owner_locks.Owner(folder).release(), lambda: usage_cache.forget_size(store.root), lambda: usage_cache.size_of(store.root, 10**9, clock, lambda: 7),
        lambda: usage_cache.due(store.root, clock.now, 0.0), lambda: list(store.sessions()), lambda: list(store.sessions(project="x" * 100)),
        lambda: soft_delete.disk_usage(folder), refused, opened, copied, collected, locked,
        lambda: store.session("one").delete(), lambda: store.session("one").close(),
    ]  # fmt: skip
    for do in doings:
        do()
    gc.freeze()  # what other tests have left need not be looked through each time
    try:
        for do in doings:
            before = open_files()
            for _ in range(3):
                store.session("one").close()
                do()
            assert open_files() <= before, do
    finally:
        gc.unfreeze()
