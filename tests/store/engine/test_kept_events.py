"""Events of deleted sessions: kept beside any number of threads and processes, and never in the way of a deletion."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest
from support import NO_FLOORS, ROUNDS

from spillstore import Store
from spillstore.engine.sqlite import archive
from spillstore.exceptions import SpillstoreError

# As earlier versions made it, in the root.
EARLIER = """
CREATE TABLE IF NOT EXISTS event (
    session_uid TEXT NOT NULL, event_key INTEGER NOT NULL, session_id TEXT NOT NULL, project_id TEXT, at_us INTEGER NOT NULL,
    kind TEXT NOT NULL, artifact_id TEXT, actor TEXT, tool_call_id TEXT, detail TEXT,
    PRIMARY KEY (session_uid, event_key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ix_event_at ON event (at_us);
CREATE INDEX IF NOT EXISTS ix_event_session ON event (session_id, project_id, at_us);
INSERT INTO event VALUES ('aa', 1, 'old', 'web', 5, 'create', NULL, 'x', NULL, '{}');
INSERT INTO event VALUES ('bb', 1, 'old', NULL, 6, 'create', NULL, 'y', NULL, '{}');
"""


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "root", audit_keep=True, **NO_FLOORS)


def fill(store, name):
    with store.session(name) as session:
        session.put(os.urandom(1000))


def file_of(store):
    return next(path for path in store.root.rglob("*audit.db"))


def events(store, name, project=None):
    return [event.kind for event in store.deleted_events(name, project)]


DELETER = """
import sys, threading
from spillstore import Store
store = Store(sys.argv[1], audit_keep=True, free_disk_floor=0, artifacts_per_minute=0, collect_interval=1e9)
def work(thread):
    for number in range(int(sys.argv[3])):
        name = f"{sys.argv[2]}-{thread}-{number}"
        with store.session(name) as session:
            for _ in range(5):
                session.note("x", {"n": "y" * 150})
            session.delete()
        if thread == 0:
            store.deleted_events(name)
threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.mark.fault
def test_processes_with_threads_keep_it_sound(store):
    """Two processes with four threads each delete sessions, and read what was kept: nothing is damaged or missing."""
    count = 8 * ROUNDS
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", DELETER, store.root, str(number), str(count)], stderr=subprocess.PIPE
        )
        for number in range(2)
    ]
    assert [b"", b""] == [process.communicate()[1] for process in processes]
    with closing(sqlite3.connect(file_of(store))) as connection:
        assert [("ok",)] == connection.execute("PRAGMA integrity_check").fetchall()
        (deleted,) = connection.execute("SELECT count(*) FROM event WHERE kind = 'delete_session'").fetchone()
    assert 2 * 4 * count == deleted
    assert () == store.collect().damaged


PROBE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=0)
try:
    connection.execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    print(error)
"""


def test_a_thread_that_reads_does_not_drop_the_lock_of_one_that_writes(store):
    """Closing any descriptor of a file drops the locks of its process: another process still finds the file locked."""
    fill(store, "test")
    store.delete("test")
    writing, go_on = threading.Event(), threading.Event()

    def rows():
        writing.set()
        go_on.wait()
        return [[("cc", "later", None, 1, 7, "create", None, "x", None, "{}")]]

    writer = threading.Thread(
        target=lambda: archive.write(store.root / "_", None, rows, store.settings, int(time.time() * 1e6))
    )
    writer.start()
    writing.wait()
    reader = threading.Thread(target=lambda: store.deleted_events("test"))
    reader.start()
    reader.join(0.2)  # it waits for the writer, or would have done its harm
    told = subprocess.run(
        [sys.executable, "-c", PROBE, file_of(store)], capture_output=True, text=True, check=True
    )
    go_on.set()
    writer.join()
    reader.join()
    assert "database is locked\n" == told.stdout


@pytest.mark.parametrize("damage", ["start", "schema", "middle", "trigger"])
def test_a_damaged_one_stops_no_deletion(store, caplog, damage):
    """It is moved aside under a name that says so, told of, and a new one is begun; deleting, forcing and collecting work."""
    for name in "abcde":
        fill(store, name)
    store.delete("a")
    file = file_of(store)
    if damage in {"schema", "trigger"}:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute(
                "DROP INDEX ix_event_at"
                if damage == "schema"
                else "CREATE TRIGGER mine AFTER INSERT ON event BEGIN DELETE FROM event; END"
            )
    else:
        with file.open("r+b") as out:
            out.seek(0 if damage == "start" else 4096)
            out.write(b"\x07" * 8192)
    with store.session("b") as session:
        session.delete()
    with store.session("c") as session:
        session.delete(force=True)
    assert 2 == len(store.collect(older_than=-1).deleted)
    assert ["delete_session", "seal", "create"] == events(store, "b") == events(store, "e")
    (damaged,) = store.collect().damaged
    assert ".audit-damaged-" in damaged
    assert 1 == sum("damaged" in record.getMessage() for record in caplog.records)
    os.unlink(damaged)
    assert () == store.collect().damaged


def test_a_damaged_one_is_an_error_to_who_reads_it(store):
    """Nothing is answered from it."""
    fill(store, "test")
    store.delete("test")
    file_of(store).write_bytes(b"no database" * 1000)
    with pytest.raises(SpillstoreError):
        store.deleted_events("test")


def test_one_that_was_never_written_holds_nothing(store):
    """The first write failed behind the making of the file: there are no events, and the next are kept."""
    fill(store, "test")
    (store.root / "_" / ".audit.db").touch(0o600)
    assert [] == events(store, "test")
    store.delete("test")
    assert ["delete_session", "seal", "create"] == events(store, "test")


def test_the_file_of_an_earlier_version_is_read(store):
    """``audit.db`` of the root: read as long as a project has no file of its own, which then takes its events along."""
    store.root.mkdir(mode=0o700)
    file = store.root / "audit.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(EARLIER)
    file.chmod(0o600)
    assert (["create"], ["create"]) == (events(store, "old", "web"), events(store, "old"))
    settings = {"audit_keep": True, "audit_age": 0.0, **NO_FLOORS}
    new = Store(store.root, **settings)
    with new.session("old", "web") as session:
        session.delete()
    assert ["delete_session", "create"] == events(new, "old", "web")
    assert ["create"] == events(new, "old")
    file.write_bytes(b"damaged since" * 1000)
    fill(new, "other")
    new.delete("other")
    assert ["delete_session", "seal", "create"] == events(new, "other")
