"""A session is copied to another store, of any engine: the same rows, whole or not at all."""

from __future__ import annotations

import asyncio
import itertools
import os
import sqlite3
import subprocess
import sys
import threading
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import NO_FLOORS, ROUNDS, ManualClock, dice, examples, fill, small_disk, wait_until
from test_properties import VIEWS, agree_on_everything, chunk_sizes, perform, scripts

from spillstore import Store, aio
from spillstore.engine.base import SessionRef
from spillstore.engine.rows import END
from spillstore.exceptions import (
    DigestKeyError,
    DiskFullError,
    IntegrityError,
    InvalidIdError,
    InvalidSettingError,
    SessionBusyError,
    SessionExistsError,
    SessionNotFoundError,
    SessionQuotaError,
    StorageError,
    StoreQuotaError,
    UnsupportedError,
    UsageError,
)
from spillstore.format.chunk_codec import ChunkRow
from spillstore.observers import Observer, subscribe

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
_numbers = itertools.count()
DATA = dice("copy").randbytes(300_000)


@pytest.fixture
def store_of(request, tmp_path_factory):
    """Makes an empty store of an engine."""
    databases = []

    def make(engine, **options):
        number = next(_numbers)
        options = {**NO_FLOORS, **options}
        if engine == "dict":
            return Store(f"dict:copying-{number}", **options)
        if engine == "server":
            server = request.getfixturevalue("server")
            databases.append(server.new_database())
            return Store(server.url(databases[-1]), **options)
        return Store(tmp_path_factory.mktemp("copying") / f"root-{number}", **options)

    yield make
    for name in databases:
        request.getfixturevalue("server").drop_database(name)


def rows_of(store, name="test", project=None):
    """All rows of a session but the chunks of artifacts that are marked as deleted."""
    with store.session(name, project, read_only=True) as session, session._engine.snapshot("a test") as rows:
        artifacts = rows.artifacts_after(-1, 10**6)
        return {
            "session": tuple(rows.session_row()),
            "artifacts": [tuple(row) for row in artifacts],
            "chunks": [
                (row[0], *chunk)
                for row in artifacts
                if row[6] != "deleted"
                for chunk in rows.chunks(row[0], None, -1, END - 1, 10**6)
            ],
            "events": [tuple(row) for row in rows.whole_events_after(-1, 10**6)],
        }


def hidden(store):
    """What lies in the folders of a store's projects besides sessions; other stores have none."""
    if store.root is None:
        return []
    return [path.name for path in store.root.glob("*/.*") if path.name != ".id"]


# --- whatever is in a session -----------------------------------------------------------------------------

KINDS = ("sealed", "open", "aborted", "rolled", "cr", "auto", "unredacted", "deleted", "half deleted")


def options_of(kind):
    """How an artifact of that kind is made."""
    return {
        "rolled": {"policy": "roll", "limit": 64, "redact": False},
        "cr": {"newline": "cr"},
        "auto": {"newline": "auto"},
        "unredacted": {
            "redact": False,
            "tool_call_id": "call",
            "command": "make",
            "content_type": "text/plain",
        },
    }.get(kind, {})


def end(session, written, kind):
    """Bring an artifact that was written to its end."""
    if kind == "aborted":
        written.writer.abort("a test")
    elif kind != "open":
        written.writer.close(exit_code=3)
    if kind == "deleted":
        written.artifact.delete()
    if kind == "half deleted":  # as somebody who died leaves it
        core = session._engine
        with core._commit, core.ingest.committer.recording("a test") as tx:
            row = core.artifact_row(tx, written.artifact.id)
            core.ingest.rows.update(tx, row._replace(state="deleted"))


@pytest.mark.long
@pytest.mark.parametrize(
    "engines",
    [("folder", "dict"), ("dict", "folder"), ("folder", "folder"), ("folder", "server"), ("server", "dict")],
    ids=" to ".join,
)
@pytest.mark.parametrize("key", [None, KEY], ids=["no key", "key"])
@examples(12)
@given(
    artifacts=st.lists(st.tuples(st.sampled_from(KINDS), scripts, chunk_sizes), max_size=4),
    held=st.booleans(),
    data=st.data(),
)
def test_a_copy_has_the_same_rows_and_reads(store_of, engines, key, artifacts, held, data):
    """There and back: all rows are equal, all reads are those of plain bytes, and both stores are sound."""
    clock = ManualClock()
    source, target = (store_of(engine, clock=clock, digest_key=key, redact=False) for engine in engines)
    session = source.session("test", "web")
    made = []
    for kind, script, chunk_size in artifacts:
        written = perform(session, clock, script, chunk_size, seal=False, **options_of(kind))
        end(session, written, kind)
        if kind not in {"deleted", "half deleted"}:
            written.artifact.tail(2, holes="skip")
            session.note("seen", {"bytes": 5}, artifact_id=written.artifact.id)
        made.append((kind, written))
    if held:
        session._engine.audit.flush()
    else:
        session.close()
    report = source.copy_session("test", "web", to=target, force=held)
    before = rows_of(source, project="web")
    assert before == rows_of(target, project="web")
    assert (len(before["chunks"]), len(before["events"])) == (report.chunks, report.events)
    back = store_of(engines[0], clock=clock, digest_key=key)
    assert report == target.copy_session("test", "web", to=back)
    assert before == rows_of(back, project="web")
    session.close()
    with source.session("test", "web", read_only=True) as opened:
        # Those that were open have ended by now in another way.
        infos = {info.id: info for info in opened.infos() if not held or info.reason in {None, "a test"}}
    for copy in (target, back):
        assert 1 == copy.check()
        with copy.session("test", "web", read_only=True) as opened:
            compare(opened, made, infos, data)
    with target.session("test", "web") as opened:  # what the dead have left is cleared up here, too
        assert b"more" == opened.put(b"more").read()
        compare(opened, made, infos, data)
    assert [1, 1, 1] == [each.check() for each in (source, target, back)]


def compare(session, made, infos, data):
    """Everything that is there reads as it was written."""
    there = [(kind, written) for kind, written in made if kind not in {"deleted", "half deleted"}]
    assert {written.artifact.id for _, written in there} <= {info.id for info in session.infos()}
    for kind, written in there:
        artifact = session.artifact(written.artifact.id)
        info = artifact.info
        assert info.state == ("interrupted" if kind in {"open", "aborted"} else "sealed")
        assert info == infos.get(info.id, info)
        if kind in {"sealed", "open", "aborted", "unredacted"}:
            written.artifact = artifact
            agree_on_everything(written, data)
        elif kind == "rolled":
            whole = written.model.view("combined")
            hole = info.hole
            expected = whole if hole is None else whole[: hole.start] + whole[hole.end :]
            assert expected == artifact.read_bytes(0, 10**9, holes="skip")
        else:
            for view in VIEWS:
                assert written.model.view(view) == artifact.read_bytes(0, 10**9, stream=view)


# --- what is refused --------------------------------------------------------------------------------------


@pytest.fixture
def source(store_of):
    """A folder with the session ``test``."""
    source = store_of("folder")
    with source.session("test") as session:
        session.put(DATA, tool_call_id="call").tail(1)
    return source


@pytest.fixture(params=["folder", "dict", "server"])
def stores(request, source, store_of):
    """A folder with the session ``test``, and an empty store of each engine."""
    return source, store_of(request.param)


def test_a_session_that_is_there_stays(stores):
    """Whatever is in it; a copy in its place has to be asked for, and then it is the copy's."""
    source, target = stores
    with target.session("test") as session:
        session.put(b"its own")
    before = rows_of(target)
    with pytest.raises(SessionExistsError, match="replace=True"):
        source.copy_session("test", to=target)
    assert before == rows_of(target)
    with target.session("test") as session, session.create() as writer:
        with pytest.raises(SessionBusyError):
            source.copy_session("test", to=target, replace=True)
        writer.discard()
    assert before["chunks"] == rows_of(target)["chunks"]
    source.copy_session("test", to=target, replace=True)
    assert rows_of(source) == rows_of(target)
    assert [] == hidden(target)


def test_a_session_that_somebody_else_holds_is_not_replaced(stores):
    """It stays as it was, and nothing waits for what the copy had locked."""
    source, target = stores
    with target.session("test") as session:
        session.put(b"its own")
    before = rows_of(target)
    held = target._backend.open(SessionRef("test", None), read_only=False)
    with held.using, held.transaction("a test"):
        pass
    with pytest.raises(SessionBusyError):
        source.copy_session("test", to=target, replace=True)
    assert before == rows_of(target)
    assert [] == hidden(target)
    with held.using:
        held.close()
    source.copy_session("test", to=target, replace=True)
    assert rows_of(source) == rows_of(target)


def test_what_is_replaced_is_kept_in_the_archive(source, store_of):
    """With ``audit_keep``, the events of the session that has gone, and that it has."""
    target = store_of("folder", audit_keep=True)
    with target.session("test") as session:
        artifact = session.put(b"its own")
    source.copy_session("test", to=target, replace=True)
    kept = list(target.deleted_events("test"))
    assert "delete_session" == kept[0].kind
    assert "create" in [event.kind for event in kept if event.artifact_id == artifact.id]


def test_a_deletion_that_broke_off_is_finished(stores):
    """A session that is marked as deleted, and was not taken away, is in nobody's way."""
    source, target = stores
    with target.session("test") as session, session._engine.store.transaction("a test") as tx:
        session._engine.record.update(tx, deleted_us=7)
    source.copy_session("test", to=target)
    assert rows_of(source) == rows_of(target)


def test_a_copy_that_fails_replaces_nothing(stores):
    """The session that was to be replaced goes when all of the other one is there, and not before."""
    source, target = stores
    with target.session("test") as session:
        session.put(b"its own")
    before = rows_of(target)
    with sqlite3.connect(source.root / "_" / "test" / "session.db") as connection:
        connection.execute("UPDATE chunk SET data = zeroblob(100) WHERE seq = 3")
    connection.close()
    with pytest.raises(IntegrityError):
        source.copy_session("test", to=target, replace=True)
    assert before == rows_of(target)


def test_a_session_with_a_writer_is_refused(stores):
    """It may still change; by force it is copied as it is, and what is open in it is interrupted in the copy."""
    source, target = stores
    with source.session("test") as session, session.create(source="make") as writer:
        writer.write(b"one\n")
        writer.flush()
        with pytest.raises(SessionBusyError, match=r"this process.*force=True"):
            source.copy_session("test", to=target)
        assert 1 == source.copy_session("test", to=target, force=True).open
        writer.write(b"two\n")
        with target.session("test", read_only=True) as copy:
            artifact = copy.artifact(writer.id)
            assert ("interrupted", b"one\n") == (artifact.info.state, artifact.read())
    with target.session("test") as copy:
        assert ["interrupt"] == [event.kind for event in copy.events(artifact_id=writer.id, kind="interrupt")]
        copy.check()


def test_arguments(stores):
    """What is not there, is no name, is no store, or is the same place."""
    source, target = stores
    with pytest.raises(SessionNotFoundError):
        source.copy_session("other", to=target)
    with pytest.raises(InvalidIdError):
        source.copy_session("", to=target)
    with pytest.raises(InvalidSettingError, match="'there'"):
        source.copy_session("test", to="there")
    for replace in (False, True):
        with pytest.raises(UsageError, match="where it is"):
            source.copy_session("test", to=Store(source.root), replace=replace)
    assert [] == list(target.sessions())


def test_a_deleted_session_is_not_found(stores):
    """Also one that is marked, and was not taken away."""
    source, target = stores
    with source.session("test") as session, session._engine.store.transaction("a test") as tx:
        session._engine.record.update(tx, deleted_us=7)
    with pytest.raises(SessionNotFoundError):
        source.copy_session("test", to=target)


@pytest.mark.parametrize(("ours", "theirs"), [(KEY, None), (None, KEY), (KEY, OTHER_KEY)])
def test_both_stores_need_the_same_digest_key(store_of, ours, theirs):
    """Since digests go over as they are; else the copy could not be verified there."""
    source, target = store_of("folder", digest_key=ours), store_of("folder", digest_key=theirs)
    source.session("test").close()
    with pytest.raises(DigestKeyError, match="both stores need the same digest key"):
        source.copy_session("test", to=target)
    assert [] == list(target.sessions())


def test_a_row_that_was_put_back_is_noticed_in_the_copy(store_of):
    """The sum over the artifacts comes over, and guards them there."""
    source, target = (store_of("folder", digest_key=KEY) for _ in range(2))
    with source.session("test") as session:
        artifacts = [session.put(b"one"), session.put(b"two")]
    source.copy_session("test", to=target)
    with sqlite3.connect(target.root / "_" / "test" / "session.db") as connection:
        connection.execute("DELETE FROM artifact WHERE artifact_id = ?", (artifacts[0].id,))
    connection.close()
    with pytest.raises(IntegrityError, match="taken away"):
        target.session("test", read_only=True)


COLUMNS = ", ".join(ChunkRow._fields[1:])


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE chunk SET data = zeroblob(length(data)) WHERE seq = 3", "chunk 3"),
        ("UPDATE chunk SET segments = x'00' WHERE seq = 1", "chunk 1"),
        ("UPDATE chunk SET grams = x'0000' WHERE seq = 2", "chunk 2"),
        ("DELETE FROM chunk WHERE seq = 2", "chunk 2"),
        ("DELETE FROM chunk WHERE seq = 4", "chunk 4"),
        ("UPDATE chunk SET seq = 9 WHERE seq = 4", "chunk 4"),
        (f"INSERT INTO chunk SELECT session_key, artifact_key, 99, {COLUMNS} FROM chunk WHERE seq = 0", "other chunks"),
        ("UPDATE artifact SET source = 'other'", "digest"),
        ("UPDATE artifact SET chunks_digest = zeroblob(32)", "digest"),
        ("DELETE FROM artifact", "artifact that is not there"),
        ("UPDATE session SET created_us = 5", "session's row"),
        ("UPDATE event SET detail = '{' WHERE kind = 'seal'", "event"),
        ("UPDATE event SET at_us = 'soon' WHERE kind = 'seal'", "event"),
        ("UPDATE event SET shown = 'text' WHERE kind = 'seal'", "event"),
        ("UPDATE event SET detail = x'7b7d' WHERE kind = 'seal'", "event"),
    ],
)  # fmt: skip
def test_damage_is_not_copied(stores, statement, said):
    """Whatever row is damaged: it is an error that names it, and nothing is left of the copy."""
    source, target = stores
    with sqlite3.connect(source.root / "_" / "test" / "session.db") as connection:
        assert connection.execute(statement).rowcount > 0
    connection.close()
    with pytest.raises(IntegrityError, match=said):
        source.copy_session("test", to=target)
    assert ([], []) == (list(target.sessions()), hidden(target))


def test_the_target_s_quotas_hold(source, store_of):
    """Of a session and of the store; where the store collects, old sessions make room, but not for what would not fit anyway."""
    small = store_of("folder", session_quota=200_000)
    with pytest.raises(SessionQuotaError, match="SPILLSTORE_SESSION_QUOTA"):
        source.copy_session("test", to=small)
    for policy, left in (("refuse", {"old"}), ("collect", {"test"})):
        clock = ManualClock()
        full = store_of("folder", store_quota=600_000, store_policy=policy, clock=clock)
        with full.session("old") as session:
            session.put(DATA)
        clock.advance(120)  # what the store takes is looked up again
        if policy == "refuse":
            with pytest.raises(StoreQuotaError, match="more are wanted"):
                source.copy_session("test", to=full)
        else:
            source.copy_session("test", to=full)
        assert left == {info.id for info in full.sessions()}
    quick = store_of("folder", store_quota=600_000)
    with quick.session("old") as session:
        session.put(DATA)
    quick._backend.forget_size()
    quick.session("older").close()  # so that what the store takes was just looked up
    source.copy_session("test", to=quick)
    assert "test" in {info.id for info in quick.sessions()}
    tiny = store_of("folder", store_quota=300_000)
    tiny.session("old").close()
    with pytest.raises(StoreQuotaError):
        source.copy_session("test", to=tiny)
    assert ["old"] == [info.id for info in tiny.sessions()]


# --- what ends a copy in between --------------------------------------------------------------------------


def test_of_two_copies_at_once_one_wins(stores):
    """The other gets an error that says that the session is there, and leaves nothing."""
    source, target = stores
    both, results = threading.Barrier(2), []

    def copy():
        meet = iter([True])

        def progress(done, total):
            if next(meet, False):
                both.wait()

        try:
            results.append(source.copy_session("test", to=target, on_progress=progress))
        except SessionExistsError as error:
            results.append(error)

    threads = [threading.Thread(target=copy) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 == sum(isinstance(result, SessionExistsError) for result in results)
    assert rows_of(source) == rows_of(target)
    assert [] == hidden(target)


def test_an_error_of_the_caller_leaves_nothing(stores):
    """One that ``on_progress`` raises comes out as it is."""
    source, target = stores

    def fail(done, total):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        source.copy_session("test", to=target, on_progress=fail)
    assert ([], []) == (list(target.sessions()), hidden(target))
    source.copy_session("test", to=target)


VICTIM = """
import sys
from spillstore import Store
source, target = (Store(root, free_disk_floor=0) for root in sys.argv[1:])
print(flush=True)
while True:
    source.copy_session("test", to=target)
    target.delete("test")
"""


@pytest.mark.fault
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_kill_9_leaves_a_whole_copy_or_none(store_of, seed):
    """At any moment: nobody sees a part, what is left goes with the next collection, and it can be copied again."""
    source, target = store_of("folder"), store_of("folder")
    with source.session("test") as session:
        for number in range(4):
            session.put(dice(number).randbytes(1_500_000), redact=False)
    victim = [sys.executable, "-c", VICTIM, str(source.root), str(target.root)]
    process = subprocess.Popen(victim, stdout=subprocess.PIPE)
    process.stdout.readline()
    time.sleep(dice(seed).random() * 0.4)
    process.kill()
    process.wait()
    process.stdout.close()
    assert len(list(target.sessions())) == target.check()
    if target.check():
        assert rows_of(source) == rows_of(target)
    for path in target.root.glob("_/.copy-*"):
        if not any(
            path.glob("owner-*")
        ):  # killed before it could claim the folder, which is left for a minute
            os.utime(path, (1, 1))
    target.collect()
    assert [] == hidden(target)
    source.copy_session("test", to=target, replace=True)
    assert rows_of(source) == rows_of(target)
    assert 1 == target.check()


@pytest.mark.long
def test_the_next_copy_removes_what_a_killed_one_has_left(stores):
    """Without a collection; what another process fills meanwhile stays."""
    source, target = stores
    target.session("made").close()
    if target.root is None:
        return
    code = VICTIM.replace("while True:", "import os; kill = lambda *_: os._exit(9)").replace(
        "to=target)", "to=target, on_progress=kill)"
    )
    code = "\n".join(line.strip() for line in code.splitlines())
    victim = [sys.executable, "-c", code, str(source.root), str(target.root)]
    assert 9 == subprocess.run(victim, stdout=subprocess.PIPE, check=False).returncode
    assert [".copy-"] == [name[:6] for name in hidden(target)]
    assert ["made"] == [info.id for info in target.sessions()]
    seen = []
    source.copy_session(
        "test", to=target, on_progress=lambda *_: seen.append((hidden(target), target.collect()))
    )
    assert [1] * len(seen) == [len(names) for names, _ in seen]
    assert [] == hidden(target)
    assert 2 == target.check()


FORKING = """
import os, sys
from spillstore import Store
source = Store(sys.argv[1], free_disk_floor=0)
if sys.argv[3] == "dict":
    source.copy_session("test", to=(other := Store("dict:forking")))
    source = other
children = []
def fork(done, total):
    if not children:
        children.append(os.fork())
        if not children[0]:
            sys.exit()  # through all blocks
source.copy_session("test", to=Store(sys.argv[2], free_disk_floor=0), on_progress=fork)
print(os.waitpid(children[0], 0)[1])
"""


@pytest.mark.long
@pytest.mark.parametrize("engine", ["dict", "folder"])
def test_a_child_that_is_forked_meanwhile_takes_nothing_along(source, store_of, engine):
    """It neither removes what its parent fills nor keeps it from being finished."""
    target = store_of("folder")
    program = [sys.executable, "-W", "ignore", "-c", FORKING, str(source.root), str(target.root), engine]
    result = subprocess.run(program, capture_output=True, text=True, check=False)
    assert ("0\n", "") == (result.stdout, result.stderr)
    assert rows_of(source) == rows_of(target)
    assert [] == hidden(target)
    assert 1 == target.check()


FULL = """
import resource, sys
from spillstore import Store
from spillstore.exceptions import StorageError
source, target = (Store(root, free_disk_floor=0) for root in sys.argv[1:])
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    source.copy_session("test", to=target)
except StorageError as error:
    print(type(error).__name__)
"""


@pytest.mark.long
def test_a_disk_that_takes_no_more_leaves_nothing(source, store_of):
    """A write that fails in the middle ends the copy."""
    target = store_of("folder")
    program = [sys.executable, "-c", FULL, str(source.root), str(target.root)]
    result = subprocess.run(program, capture_output=True, text=True, check=False)
    assert "" == result.stderr
    assert result.stdout.split() in (["StorageError"], ["DiskFullError"])
    assert ([], []) == (list(target.sessions()), hidden(target))
    source.copy_session("test", to=target)


def test_a_full_disk_leaves_nothing(source, tmp_path):
    """What was written before it was full is free again."""
    with source.session("test") as session:
        session.put(dice("more").randbytes(4_000_000), redact=False)
    disk = tmp_path / "disk"
    disk.mkdir()
    with small_disk(disk, "3m"):
        target = Store(disk / "root", **NO_FLOORS)
        with pytest.raises(StorageError):
            source.copy_session("test", to=target)
        assert ([], []) == (list(target.sessions()), hidden(target))
        fill(disk)
        assert 2_000_000 < os.path.getsize(disk / "fill")
        with pytest.raises(StorageError):
            source.copy_session("test", to=target)


def test_the_floor_of_free_space_holds(source, store_of):
    """What must stay free on the target's disk stays free."""
    target = store_of("folder", free_disk_floor=2**60)
    with pytest.raises(DiskFullError, match="must stay free"):
        source.copy_session("test", to=target)
    assert ([], []) == (list(target.sessions()), hidden(target))


# --- to a server and from it ------------------------------------------------------------------------------


@pytest.fixture
def on_server(server):
    """An empty store on a server, and what asks its tables."""
    name = server.new_database()
    url = server.url(name)

    def rows(table):
        from psycopg import connect

        with connect(url) as connection:
            return connection.execute(f"SELECT count(*) FROM spillstore.{table}").fetchone()[0]

    yield Store(url, **NO_FLOORS), url, rows
    server.drop_database(name)


def test_a_text_with_a_nul_goes_to_no_server(source, on_server):
    """No text of a server can hold what earlier versions have stored, and without it no digest would match."""
    target, _, rows = on_server
    with source.session("test", read_only=True) as session, session._engine.reader() as reader:
        [artifact] = session.artifacts()
        row = session._engine.artifact_row(reader, artifact.id)._replace(command="a\0b")
        row = row.sealed(session._engine.row.digest_algorithm)
    with sqlite3.connect(source.root / "_" / "test" / "session.db") as connection:
        connection.execute("UPDATE artifact SET command = ?, digest = ?", (row.command, row.digest))
    connection.close()
    source.check()
    with pytest.raises(UnsupportedError, match=artifact.id):
        source.copy_session("test", to=target)
    assert [] == list(target.sessions())
    assert [0, 0, 0] == [rows(table) for table in ("session", "artifact", "chunk")]


def test_one_connection_is_enough(source, on_server):
    """To a server and from it."""
    target, url, _ = on_server
    narrow = Store(f"{url}{'&' if '?' in url else '?'}connections=1", busy_timeout=1, **NO_FLOORS)
    source.copy_session("test", to=narrow)
    other = Store(f"dict:copying-{next(_numbers)}", **NO_FLOORS)
    narrow.copy_session("test", to=other)
    assert rows_of(source) == rows_of(target) == rows_of(other)


@pytest.mark.long
def test_a_killed_copy_leaves_no_rows_on_a_server(source, on_server):
    """The next one finds nothing of it, and what is there then is the copy alone."""
    target, url, rows = on_server
    code = VICTIM.replace("while True:", "import os").replace(
        "to=target)", "to=target, on_progress=lambda *_: os._exit(9))"
    )
    code = "\n".join(line.strip() for line in code.splitlines())
    victim = [sys.executable, "-c", code, str(source.root), url]
    assert 9 == subprocess.run(victim, stdout=subprocess.PIPE, check=False).returncode
    assert [] == list(target.sessions())
    report = source.copy_session("test", to=target)
    wait_until(lambda: rows("chunk") == report.chunks)
    assert [1, 1, 1] == [rows(table) for table in ("session", "artifact", "place")]
    assert 1 == target.check()


def test_a_lost_connection_ends_the_copy(source, on_server):
    """With an error of ours where it is stored; nothing is left. Where it is read, nobody has written since, so it goes on."""
    target, url, rows = on_server
    from psycopg import connect

    def cut(done, total):
        with connect(url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    with pytest.raises(StorageError, match="connection"):
        source.copy_session("test", to=target, on_progress=cut)
    assert [] == list(target.sessions())
    source.copy_session("test", to=target)
    other = Store(f"dict:copying-{next(_numbers)}", **NO_FLOORS)
    target.copy_session("test", to=other, on_progress=cut)
    assert other.check() == 1
    assert 5 == rows("chunk")


# --- what a caller sees -----------------------------------------------------------------------------------


def test_progress_and_what_observers_see(stores):
    """Bytes that are copied, of those that there are; one event for observers, and none in either session."""
    source, target = stores
    events, before = [], rows_of(source)

    class Seen(Observer):
        def on_event(self, event):
            if event.kind == "copy_session":
                events.append((event.session, event.detail["artifacts"]))

    stop, done = subscribe(Seen()), []
    report = source.copy_session("test", to=target, on_progress=lambda *each: done.append(each))
    stop()
    assert done[-1] == (len(DATA), len(DATA))
    assert done == sorted(done)
    assert (1, 0, 5, len(DATA)) == (report.artifacts, report.open, report.chunks, report.size)
    assert [("test", 1)] == events
    assert before == rows_of(source) == rows_of(target)


def test_a_copy_is_as_young_as_if_it_was_written_now(store_of):
    """So the target's retention does not take at once what was moved there."""
    source, target = store_of("folder"), store_of("folder", retention=3600)
    with source.session("test") as session:
        session.put(b"x")
    database = source.root / "_" / "test" / "session.db"
    os.utime(database, (1e9, 1e9))
    source.copy_session("test", to=target)
    assert () == target.collect().deleted
    assert 1e9 == database.stat().st_mtime


def test_long_names_come_over(stores):
    """Also those whose folders need a file that says what they stand for."""
    source, target = stores
    names = "é/" * 60, "web " * 40
    with source.session(*names) as session:
        session.put(b"x")
    source.copy_session(*names, to=target)
    assert rows_of(source, *names) == rows_of(target, *names)
    assert names in [(info.id, info.project) for info in target.sessions()]


def test_the_asynchronous_store_copies_too(stores):
    """To another asynchronous store."""
    source, target = stores
    both = [aio.Store("dict:no"), aio.Store("dict:no")]
    both[0].plain, both[1].plain = stores
    report = asyncio.run(both[0].copy_session("test", to=both[1]))
    assert (1, 5) == (report.artifacts, report.chunks)
    assert rows_of(source) == rows_of(target)


@pytest.mark.slow
def test_memory_is_flat(store_of):
    """Of 40 MB that no compression makes smaller, a few are held at a time."""
    source, target = store_of("folder"), store_of("folder")
    with source.session("test") as session:
        session.put((os.urandom(1_000_000) for _ in range(40)), redact=False)
    source.copy_session("test", to=store_of("folder"))  # what is imported once
    tracemalloc.start()
    try:
        source.copy_session("test", to=target)
        assert 12_000_000 > tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
