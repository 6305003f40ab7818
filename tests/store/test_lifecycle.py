"""Sessions and artifacts from birth to deletion."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest
from support import NO_FLOORS, damage, outlive, tries, wait_until

from spillstore import Store
from spillstore.exceptions import (
    ArtifactNotFoundError,
    ClosedError,
    ReadOnlyError,
    SessionBusyError,
    SessionDeletedError,
    SessionNotFoundError,
    SpillstoreError,
    TargetExistsError,
    UnsafeRootError,
)


def folder_of(store, session_id="test", project="_"):
    return Path(store.root) / project / session_id


# --- files ------------------------------------------------------------------------------------------------


@pytest.mark.files
def test_files_are_for_their_owner_alone(plain_store):
    """Folders 0700, files 0600, whatever the umask."""
    old = os.umask(0)
    try:
        with plain_store.session("test", project="web") as session:
            session.put(b"x")
            for path in [plain_store.root, *plain_store.root.rglob("*")]:
                expected = 0o700 if path.is_dir() else 0o600
                assert expected == stat.S_IMODE(path.stat().st_mode), path
    finally:
        os.umask(old)


@pytest.mark.files
@pytest.mark.parametrize("part", ["root", "project", "session", "file"])
def test_symbolic_links_are_refused(plain_store, tmp_path, part):
    """A link in place of the root, a project, a session or its file: UnsafeRootError, nothing is written behind it."""
    with plain_store.session("test", project="web") as session:
        session.put(b"x")
    paths = {
        "root": plain_store.root,
        "project": plain_store.root / "web",
        "session": plain_store.root / "web" / "test",
    }
    paths["file"] = paths["session"] / "session.db"
    elsewhere = tmp_path / "elsewhere"
    paths[part].rename(elsewhere)
    paths[part].symlink_to(elsewhere)
    try:
        with pytest.raises(UnsafeRootError):
            plain_store.session("test", project="web")
    finally:
        paths[part].unlink()
        elsewhere.rename(paths[part])


def test_a_root_that_is_a_file_is_refused(tmp_path):
    """A root that is no folder is named."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(SpillstoreError, match="file"):
        Store(tmp_path / "file", **NO_FLOORS).session("test")


HOSTILE = [
    ".",
    "..",
    "../up",
    "/etc/passwd",
    "~",
    "_",
    "%41",
    "a/b",
    "CON",
    "a b",
    "-rf",
    ".gone-1",
    ".audit.db",
    ".new-1",
    "\u00e9",
]


@pytest.mark.files
@pytest.mark.parametrize("name", [*HOSTILE, "x" * 200, "X" * 200, "\u4e16" * 66, "id"])
def test_hostile_and_long_names_stay_inside_and_come_back(store, name):
    """Any allowed id becomes one folder below its project and is listed as what it was."""
    with store.session(name, project=name) as session:
        artifact_id = session.put(b"x").id
    assert [(name, name)] == [(info.id, info.project) for info in store.sessions()]
    folders = list(Path(store.root).rglob("session.db"))
    assert [3] == [len(path.relative_to(store.root).parts) for path in folders]
    with store.session(name, project=name, create=False) as session:
        assert session.exists(artifact_id)


@pytest.mark.files
def test_names_that_differ_in_case_or_form_stay_apart(store):
    """Ids that a file system might fold together get folders that no file system does."""
    names = ["a", "A", "\u00e9", "e\u0301", "\u212b", "\u00c5", "%41", "x" * 200, "x" * 199 + "X"]
    for name in names:
        store.session(name).__enter__().__exit__(None, None, None)
    folders = [path.name for path in (Path(store.root) / "_").iterdir()]
    assert len(names) == len({folder.casefold() for folder in folders})
    assert set(names) == {info.id for info in store.sessions()}


@pytest.mark.files
def test_foreign_folders_in_the_root_are_left_alone(store):
    """What is not ours is neither listed nor collected."""
    with store.session("test"):
        pass
    for path in ("Foreign/thing", "_/Foreign", "_/empty"):
        (Path(store.root) / path).mkdir(parents=True)
    assert ["test"] == [info.id for info in store.sessions()]
    store.collect(older_than=-1e9)
    assert (Path(store.root) / "Foreign" / "thing").is_dir()
    assert (Path(store.root) / "_" / "Foreign").is_dir()


# --- sessions ---------------------------------------------------------------------------------------------


def test_the_same_session_can_be_open_many_times(store):
    """Sessions of one id share their artifacts; the last one closed lets go."""
    with store.session("test") as first, store.session("test") as second:
        artifact_id = first.put(b"x").id
        assert second.exists(artifact_id)
        first.close()
        second.put(b"y")
        assert [True] == [info.live for info in store.sessions()]
    assert [False] == [info.live for info in store.sessions()]


@pytest.mark.files
def test_a_list_looks_at_a_session_when_it_comes_to_it(plain_store):
    """The first of many sessions costs one look: those that are deleted before their turn are not listed."""
    for number in range(5):
        plain_store.session(f"chat-{number}").close()
    listed = iter(plain_store.sessions())
    first = next(listed).id
    for number in range(5):
        if first != f"chat-{number}":
            plain_store.delete(f"chat-{number}")
    assert [] == [info.id for info in listed]


@pytest.mark.files
@pytest.mark.parametrize("project", [None, "a"])
def test_names_are_read_as_they_are_asked_for(plain_store, project):
    """Of a root of many folders no list is made: listing takes the same memory as in a root of few."""
    plain_store.session("test", project="a").close()

    def peak():
        tracemalloc.start()
        try:
            assert ["test"] == [info.id for info in plain_store.sessions(project)]
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few = max(peak() for _ in range(2))
    for folder in (plain_store.root, plain_store.root / "a"):
        for number in range(500):
            (folder / f"empty-{number}-{'x' * 150}").mkdir()
    assert peak() < few + 50_000


def test_projects_keep_sessions_apart(store):
    """One id in two projects is two sessions; listing can ask for one project."""
    for project in (None, "a", "b"):
        with store.session("test", project=project) as session:
            session.put(str(project))
    assert {None, "a", "b"} == {info.project for info in store.sessions()}
    assert [("test", "a")] == [(info.id, info.project) for info in store.sessions("a")]


def test_tool_calls_stand_in_their_session(store):
    """Project, session and tool call: the hierarchy comes back with every artifact."""
    with store.session("s", project="p") as session:
        session.put(b"x", tool_call_id="call_1", source="bash", command="make", content_type="text/plain")
        (info,) = session.infos()
    assert ("p", "s", "call_1", "bash", "make", "text/plain") == (
        info.project,
        info.session,
        info.tool_call_id,
        info.source,
        info.command,
        info.content_type,
    )


def test_deleting_a_session_removes_it_whole(store):
    """After ``delete`` the folder is gone, the name is free, and old objects say what happened."""
    session = store.session("test").__enter__()
    artifact = session.put(b"x")
    session.delete()
    assert [] == list(store.sessions())
    assert store.root is None or not folder_of(store).exists()
    with pytest.raises(SessionDeletedError):
        artifact.read_bytes(0, 1)
    with store.session("test") as again:
        assert [] == list(again.artifacts())


def test_a_session_with_an_open_writer_is_not_deleted(store):
    """An open writer makes its session busy; forced, the writer is told."""
    with store.session("test") as session:
        writer = session.create().__enter__()
        writer.write(b"x")
        with pytest.raises(SessionBusyError):
            session.delete()
        writer.write(b"y")
        session.delete(force=True)
        with pytest.raises(SessionDeletedError):
            writer.write(b"z")
            writer.flush()


HOLDER = """
import sys, time
from spillstore import Store
session = Store(sys.argv[1], free_disk_floor=0).session("test")
writer = session.create(source="holder")
writer.write(b"from the holder\\n")
writer.flush()
print(writer.id, flush=True)
for line in sys.stdin:
    try:
        writer.write(b"more\\n")
        writer.flush()
        print("ok", flush=True)
    except Exception as error:
        print(type(error).__name__, flush=True)
"""


@pytest.fixture
def holder(plain_store):
    """A process that holds the session; ``holder()`` makes it write once more and says how that went."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, plain_store.address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    process.artifact_id = process.stdout.readline().strip()

    def poke():
        process.stdin.write("\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    process.poke = poke
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


@pytest.mark.long
def test_a_session_of_a_living_process_is_busy(plain_store, holder):
    """Another process's live session is listed as live, not deleted, not collected."""
    with plain_store.session("test") as session:
        with pytest.raises(SessionBusyError, match=f"process {holder.pid}"):
            session.delete()
        assert b"from the holder\n" == session.artifact(holder.artifact_id).read_lines(1, 1)
    assert [True] == [info.live for info in plain_store.sessions()]
    assert () == plain_store.collect(older_than=-1e9).deleted
    assert "ok" == holder.poke()


@pytest.mark.long
def test_a_forced_deletion_tells_the_other_process(plain_store, holder):
    """A writer on the renamed file does not commit into nowhere: it gets SessionDeletedError."""
    with plain_store.session("test") as session:
        session.delete(force=True)
    assert plain_store.root is None or not folder_of(plain_store).exists()
    assert "SessionDeletedError" == holder.poke()
    with plain_store.session("test") as session:
        session.put(b"a later session of the same name")
    assert "SessionDeletedError" == holder.poke()


@pytest.mark.long
def test_a_killed_owner_leaves_a_readable_interrupted_artifact(plain_store, holder):
    """After kill -9: ``interrupted`` when read, and made permanent by the next writer."""
    holder.kill()
    holder.wait()
    outlive(plain_store)
    assert [False] == [info.live for info in plain_store.sessions()]
    with plain_store.session("test", read_only=True) as session:
        artifact = session.artifact(holder.artifact_id)
        assert ("interrupted", None) == (artifact.info.state, artifact.info.ended)
        assert b"from the holder\n" == artifact.read_bytes(0, 99)
        artifact.verify()
    with plain_store.session("test") as session:
        info = session.artifact(holder.artifact_id).info
        assert ("interrupted", "its process ended") == (info.state, info.reason)
        assert info.ended is not None


@pytest.mark.files
def test_a_deletion_that_died_after_its_tombstone_is_finished(plain_store):
    """Whoever opens a tombstoned session next removes it and gets a new one."""
    with plain_store.session("test") as session:
        session.put(b"old")
        engine = session._engine
        with engine._commit:
            engine.store._pool._writer.execute("BEGIN IMMEDIATE")
            engine.record.update(engine.store._pool._writer, deleted_us=1)
            engine.store._pool._writer.execute("COMMIT")
    with plain_store.session("test") as session:
        assert [] == list(session.artifacts())


@pytest.mark.files
def test_trash_of_a_dead_process_is_removed_later(plain_store):
    """What was renamed and not unlinked goes with the next collection."""
    with plain_store.session("test"):
        pass
    trash = plain_store.root / "_" / ".gone-0123"
    trash.mkdir(parents=True)
    (trash / "session.db").write_bytes(b"x" * 1000)
    plain_store.collect()
    assert not trash.exists()


def test_end_keeps_the_session_or_deletes_it(make_store):
    """``end`` records and closes; with ``cleanup_on_exit`` it deletes."""
    store = make_store()
    with store.session("kept") as session:
        session.put(b"x")
        session.end()
    assert ["kept"] == [info.id for info in store.sessions()]
    store = make_store(cleanup_on_exit=True)
    with store.session("gone") as session:
        session.put(b"x")
        session.end()
    assert ["kept"] == [info.id for info in store.sessions()]


def test_end_does_as_it_is_told_whatever_the_setting_says(make_store):
    """``cleanup`` deletes where the setting keeps, and keeps where it deletes."""
    for setting, told in ((False, True), (True, False)):
        store = make_store(cleanup_on_exit=setting)
        session = store.session(f"told-{told}")
        session.put(b"x")
        session.end(cleanup=told)
    assert ["told-False"] == [info.id for info in store.sessions()]


def test_old_sessions_are_collected(make_store, clock, elapse):
    """Past retention and held by nobody: gone; younger or live ones stay; ``dry_run`` only tells."""
    clock.now = time.time()
    store = make_store(clock=clock, retention=1000.0)
    for name in ("old", "live"):
        with store.session(name) as session:
            session.put(b"x")
    with store.session("live"):
        elapse(2000)
        assert ["old"] == [fate.session.id for fate in store.collect(dry_run=True).deleted]
        assert {"old", "live"} == {info.id for info in store.sessions()}
        assert ["old"] == [fate.session.id for fate in store.collect().deleted]
    assert ["live"] == [info.id for info in store.sessions()]


def test_new_sessions_collect_now_and_then(make_store, clock, elapse):
    """Making a session starts a collection, at most once an interval, of what was too old at the one before."""
    clock.now = time.time()
    store = make_store(clock=clock, retention=1000.0, collect_interval=500.0)
    for name in ("a", "b"):
        with store.session(name):
            pass
    elapse(2000)
    with store.session("c"):
        assert {"a", "b", "c"} == {info.id for info in store.sessions()}
    elapse(499)
    with store.session("d"):
        assert {"a", "b", "c", "d"} == {info.id for info in store.sessions()}
    elapse(1)
    with store.session("e"):
        assert "a" not in {info.id for info in store.sessions()}


# --- artifacts --------------------------------------------------------------------------------------------


@pytest.mark.files
def test_deleting_an_artifact_gives_its_space_back(plain_store):
    """After ``delete`` the file is as small as before, and the other artifact is whole."""
    with plain_store.session("test") as session:
        kept = session.put(os.urandom(300_000))
        path = folder_of(plain_store) / "session.db"
        session._engine.store._pool._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        before = path.stat().st_size
        big = session.put(os.urandom(40_000_000))
        big.delete()
        assert path.stat().st_size <= before + 100_000
        kept.verify()
        assert not session.exists(big.id)
        with pytest.raises(ArtifactNotFoundError):
            big.read_bytes(0, 1)
        with pytest.raises(ArtifactNotFoundError):
            big.delete()


def test_an_artifact_being_written_is_not_deleted(session):
    """An open artifact is busy."""
    with session.create() as writer:
        writer.write(b"x")
        with pytest.raises(SessionBusyError):
            session.artifact(writer.id).delete()


def test_an_artifact_is_deleted_without_its_session(store):
    """By its id or URI, whoever has the session open; what is not there, or still being written, is refused."""
    with store.session("test", project="tests") as session, session.create() as writer:
        kept, gone, also = (session.put(b"content").id for _ in range(3))
        assert session.artifact(gone).info.stored_size == store.delete_artifact("test", gone, "tests")
        store.delete_artifact("test", f"artifact://{also}", "tests")
        assert [kept, writer.id] == sorted((info.id for info in session.infos()), key=[kept, writer.id].index)
        with pytest.raises(SessionBusyError):
            store.delete_artifact("test", writer.id, "tests")
    for absent in (gone, "none"):
        with pytest.raises(ArtifactNotFoundError):
            store.delete_artifact("test", absent, "tests")
    with pytest.raises(SessionNotFoundError):
        store.delete_artifact("test", kept)


def test_a_deletion_that_died_is_finished_by_the_next_writer(plain_store):
    """Chunks of an artifact marked deleted are freed when the session is opened again."""
    with plain_store.session("test") as session:
        artifact = session.put(os.urandom(5_000_000))
        engine = session._engine
        engine._purge = lambda row: None
        artifact.delete()
        assert not session.exists(artifact.id)
    with plain_store.session("test") as session:
        assert [(0,)] == damage(session, "SELECT count(*) FROM chunk")
        assert [(0,)] == damage(session, "SELECT count(*) FROM artifact")


@pytest.mark.files
def test_export_is_whole_private_and_careful(session, tmp_path):
    """Export writes the bytes with mode 0600, and refuses to overwrite unless told."""
    data = os.urandom(200_000)
    artifact = session.put(data)
    target = tmp_path / "out.bin"
    assert len(data) == artifact.export(target).size
    assert data == target.read_bytes()
    assert 0o600 == stat.S_IMODE(target.stat().st_mode)
    with pytest.raises(TargetExistsError):
        artifact.export(target)
    artifact.export(str(target), overwrite=True, stream="stderr")
    assert b"" == target.read_bytes()
    with pytest.raises(SpillstoreError):
        artifact.export(tmp_path / "no" / "such" / "folder")
    assert ["out.bin", "root"] == sorted(path.name for path in tmp_path.iterdir())


def test_a_failed_export_leaves_nothing(session, tmp_path):
    """A rolled artifact is not exported without a word: refused, or the gap is reported."""
    with session.create(policy="roll", limit=1000) as writer:
        writer.write(b"0123456789" * 1000)
    artifact = session.artifact(writer.id)
    with pytest.raises(LookupError):
        artifact.export(tmp_path / "out.bin")
    assert not (tmp_path / "out.bin").exists()
    done = artifact.export(tmp_path / "out.bin", holes="skip")
    assert (10_000, (tmp_path / "out.bin").stat().st_size) == (done.size + done.dropped, done.size)


def test_listing_goes_newest_first_in_pages(session):
    """Pages walk all artifacts exactly once, newest first, under every filter."""
    ids = [session.put(b"x", source="even" if n % 2 == 0 else "odd").id for n in range(7)]
    seen, cursor = [], None
    while True:
        page = session.artifacts(limit=3, cursor=cursor)
        seen += [artifact.id for artifact in page]
        cursor = page.cursor
        if cursor is None:
            break
    assert ids[::-1] == seen
    assert ids[::-2] == [artifact.id for artifact in session.artifacts(source="even")]
    assert [] == list(session.artifacts(state="open"))
    assert ids[:1] == session.matching(ids[0])
    since = session.infos(limit=1).items[0].created
    assert ids[-1] in [artifact.id for artifact in session.artifacts(since=since - 0.001)]
    assert [] == list(session.artifacts(since=since + 10))


def test_an_exception_in_the_block_interrupts_the_artifact(session):
    """What was written before the exception stays; the reason names it."""
    with pytest.raises(KeyError), session.create() as writer:
        writer.write(b"before\n")
        raise KeyError("lost")
    info = session.infos().items[0]
    assert ("interrupted", "KeyError: 'lost'") == (info.state, info.reason)
    assert b"before\n" == session.artifact(info.id).read_lines(1, 1)


def test_a_running_artifact_shows_what_was_written_soon(session):
    """A trickle is readable without any flush, whole lines and partial ones; ``follow`` brings the rest."""
    with session.create() as writer:
        writer.write(b"first\npart")
        artifact = session.artifact(writer.id)
        wait_until(lambda: artifact.read_bytes(0, 99) == b"first\npart")
        followed = artifact.follow(poll=0.01)
        assert b"first\npart" == next(followed)
        writer.write(b"ial\n")
        assert b"ial\n" == next(followed)
    assert [] == list(followed)
    assert 2 == session.infos().items[0].lines


def test_a_session_opened_for_reading_writes_nothing(plain_store):
    """A reader sees a live writer's output, and cannot write."""
    with plain_store.session("test") as session, plain_store.session("test", read_only=True) as reader:
        artifact_id = session.put(b"x\n").id
        assert b"x\n" == reader.artifact(artifact_id).read_lines(1, 1)
        for call in (lambda: reader.put(b"y"), reader.delete, reader.artifact(artifact_id).delete):
            with pytest.raises(ReadOnlyError):
                call()


@pytest.mark.long
@pytest.mark.files
def test_a_database_on_read_only_media_is_readable(plain_store, tmp_path):
    """A folder in which nothing can be made: reading works all the same."""
    with plain_store.session("test") as session:
        artifact_id = session.put(b"burnt\n").id
    folder = folder_of(plain_store)
    folder.chmod(0o500)
    (folder / "session.db").chmod(0o400)
    script = (
        "import os, sys, spillstore.session, spillstore.ingest.session_pool, spillstore.engine.sqlite.backend\n"
        "if os.getuid() == 0:\n"
        "    [os.chmod(p, 0o755) for p in sys.argv[4:]]\n"
        "    os.chown(os.path.join(sys.argv[1], '_', 'test', 'session.db'), 65534, 65534)\n"
        "    os.chown(os.path.join(sys.argv[1], '_', 'test'), 65534, 65534)\n"
        "    os.setuid(65534)\n"
        "from spillstore import Store\n"
        "with Store(sys.argv[1]).session('test', read_only=True) as session:\n"
        "    sys.stdout.buffer.write(session.artifact(sys.argv[2]).read_lines(1, 1))\n"
    )
    parents = [str(path) for path in (plain_store.root / "_", plain_store.root, *plain_store.root.parents)]
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            script,
            plain_store.address,
            artifact_id,
            "",
            *[p for p in parents if "pytest" in p],
        ],
        capture_output=True,
        check=False,
    )
    if os.getuid() == 0:
        os.chown(folder, 0, 0)
        os.chown(folder / "session.db", 0, 0)
    folder.chmod(0o700)
    (folder / "session.db").chmod(0o600)
    assert b"burnt\n" == done.stdout, done.stderr.decode()


def test_writers_may_outlive_their_use(plain_store):
    """A session closed with a writer still open interrupts the artifact and keeps its bytes."""
    session = plain_store.session("test")
    writer = session.create()
    writer.write(b"kept\n")
    session.close()
    with plain_store.session("test", read_only=True) as again:
        info = again.artifact(writer.id).info
        assert "interrupted" == info.state
        assert b"kept\n" == again.artifact(writer.id).read_lines(1, 1)
    with pytest.raises(SpillstoreError):
        writer.write(b"more")


def test_missing_sessions_are_named(store):
    """The error for a session that is not there names it and the way out."""
    with pytest.raises(SessionNotFoundError, match=r"'absent'.*sessions\(\)"):
        store.session("absent", create=False).__enter__()


def test_a_root_below_a_file_is_refused(tmp_path):
    """Where no folder can be made, the error is one of ours and names the path."""
    blocked = tmp_path / "proc"
    blocked.write_text("")
    with pytest.raises(SpillstoreError, match="proc"):
        Store(blocked / "below", **NO_FLOORS).session("test")


def test_what_waits_for_the_end_is_called_before_it(store):
    """``on_close`` functions run once, last first, while the session can still be used; closing goes on if one fails."""
    seen = []
    session = store.session("chat")
    with session:
        artifact_id = session.put("text").id
        session.on_close(lambda: seen.append("first"))
        session.on_close(lambda: seen.append(session.exists(artifact_id)))
    session.close()
    assert seen == [True, "first"]
    with pytest.raises(ClosedError):
        session.on_close(seen.clear)
    again = store.session("chat")
    again.on_close(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        again.close()
    with pytest.raises(ClosedError):
        again.exists(artifact_id)


def test_the_end_of_a_session_calls_what_waits_for_it(store):
    """``end`` does so first, so that a writer can come to its end before the session is deleted."""
    session = store.session("chat")
    opening = session.create(source="bash")
    writer = opening.__enter__()
    session.on_close(lambda: opening.__exit__(None, None, None))
    writer.write("text\n")
    session.end(cleanup=True)
    with pytest.raises(SessionNotFoundError):
        store.session("chat", create=False).close()


@pytest.mark.files
def test_a_session_knows_its_root(store, tmp_path):
    """The store's folder, for who starts another process; one file alone is in none."""
    with store.session("chat") as session:
        assert session.root == store.root
        session.put("text")
    file = next(path for path in store.root.rglob("session.db"))
    with Store.open_file(file) as alone:
        assert alone.root is None


DELETING = """
import sys
from spillstore import Store
Store(sys.argv[1], free_disk_floor=0).session("test").delete(force=True)
"""


@pytest.mark.long
def test_a_session_that_somebody_deleted_says_so_to_who_reads_it(plain_store):
    """The first connection for reading is made when the file is gone: that is no failure to open it."""
    with plain_store.session("test") as session:
        subprocess.run([sys.executable, "-c", DELETING, plain_store.address], check=True)
        with pytest.raises(SessionDeletedError):
            session.artifacts()


COLLECTING = """
import sys
from spillstore import Store
store = Store(sys.argv[1], free_disk_floor=0)
print(flush=True)
while True:
    store.collect(older_than=1e9)
"""


@pytest.mark.long
def test_deleting_beside_who_collects(plain_store):
    """What one deletes another unlinks meanwhile: nobody fails."""
    command = [sys.executable, "-c", COLLECTING, plain_store.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        try:
            for _ in range(tries(100)):
                session = plain_store.session("test")
                session.put(b"x")
                session.delete()
        finally:
            other.kill()
    assert [] == list(plain_store.sessions())


STARVED = """
import os, resource, sys
from spillstore import Store
from spillstore.exceptions import SpillstoreError
store = Store(sys.argv[1], free_disk_floor=0, audit_keep=True)
session = store.session("other")
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
taken = []
try:
    while True:
        taken.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
calls = [
    lambda: store.session("test"),
    lambda: list(store.sessions()),
    lambda: store.collect(),
    lambda: store.delete("test"),
    lambda: store.delete_artifact("test", "art_1_a"),
    lambda: store.deleted_events("test"),
    lambda: session.artifacts(),
    lambda: session.check(),
]
for free in range(12):
    for call in calls:
        try:
            call()
        except SpillstoreError:
            pass
    os.close(taken.pop())
"""


@pytest.mark.long
@pytest.mark.files
def test_who_has_no_descriptors_left_gets_our_errors(plain_store):
    """Whatever a call needs a descriptor for, an import that comes late included, it raises one of ours."""
    plain_store.session("test").close()
    result = subprocess.run(
        [sys.executable, "-c", STARVED, plain_store.root], capture_output=True, text=True, check=False
    )
    assert ("", 0) == (result.stderr, result.returncode)
