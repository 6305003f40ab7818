"""Events of deleted sessions: kept beside any number of threads and processes, and never in the way of a deletion."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

import hostile
import pytest
from support import NO_FLOORS, ROUNDS

from spillstore import Store
from spillstore.engine.sqlite import archive, sql
from spillstore.exceptions import IntegrityError, SpillstoreError
from spillstore.format.digests import Algorithm
from spillstore.model.records import SessionRow

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


@pytest.mark.long
def test_a_thread_that_reads_does_not_drop_the_lock_of_one_that_writes(store):
    """Closing any descriptor of a file drops the locks of its process: another process still finds the file locked."""
    fill(store, "test")
    store.delete("test")
    writing, go_on = threading.Event(), threading.Event()

    def events_after(key):
        writing.set()
        go_on.wait()
        return [(1, 7, "create", None, "x", None, "{}")][key:]

    later = SessionRow("later", None, "cc", 1, None, None, 1, Algorithm("blake3"), None, b"").sealed()
    now_us = int(time.time() * 1e6)
    writer = threading.Thread(
        target=lambda: archive.append(store.root / "_", later, events_after, store.settings, now_us)
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
            start = 0 if damage == "start" else 4096
            out.seek(start)
            out.write(b"\x07" * (file.stat().st_size - start))
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


def schema_of(file):
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()


def test_an_archive_has_the_schema_of_a_session(store):
    """One set of tables: the archive is made of the statements of a session's file, and has three plain indexes more."""
    with store.session("test") as session:
        session.put(b"x")
    expected = schema_of(store.root / "_" / "test" / "session.db")
    store.delete("test")
    found = schema_of(file_of(store))
    assert expected == [row for row in found if not row[1].startswith("ix_archive_")]
    assert [("index", "ix_archive_at"), ("index", "ix_archive_name"), ("index", "ix_archive_uid")] == [
        row[:2] for row in found if row not in expected
    ]


def test_an_archive_of_an_earlier_schema_is_used_on(store):
    """It is read and written as it is, and not taken for a damaged one."""
    for name in ("first", "second"):
        fill(store, name)
    store.delete("first")
    hostile.make_earlier(file_of(store))
    assert ["delete_session", "seal", "create"] == events(store, "first")
    store.delete("second")
    assert ["delete_session", "seal", "create"] == events(store, "first") == events(store, "second")
    assert () == store.collect().damaged


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("ARCHIVE_KEY", "ix_archive_uid"),
        ("ARCHIVE_SESSIONS", "ix_archive_name"),
        ("ARCHIVE_DROP_OLD", "ix_archive_at"),
        ("ARCHIVE_DROP_FIRST", "ix_archive_at"),
        ("EVENTS_PAGE", "ix_event_at"),
    ],
)
def test_no_statement_walks_the_whole_archive(store, name, index):
    """What a deletion and a page of events ask for is found by an index, however many sessions there were."""
    fill(store, "test")
    store.delete("test")
    statement = getattr(sql, name)
    values = dict.fromkeys(re.findall(r":(\w+)", statement), 1)
    with closing(sqlite3.connect(file_of(store))) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)]
    assert any(f"INDEX {index}" in step for step in plan), plan
    assert not [step for step in plan if step.startswith("SCAN") and "COVERING INDEX" not in step], plan


def test_the_oldest_events_of_all_sessions_go(tmp_path):
    """An archive holds as many events as a session may, and no session that has none left."""
    store = Store(tmp_path / "root", audit_keep=True, audit_events=7, **NO_FLOORS)
    for name in ("first", "second", "third"):
        fill(store, name)
        store.delete(name)
    kept = [len(events(store, name)) for name in ("first", "second", "third")]
    assert [1, 3, 3] == kept
    fill(store, "fourth")
    store.delete("fourth")
    with closing(sqlite3.connect(file_of(store))) as connection:
        assert 7 == connection.execute("SELECT count(*) FROM event").fetchone()[0]
        names = connection.execute("SELECT session_id FROM session ORDER BY session_key").fetchall()
    assert [("second",), ("third",), ("fourth",)] == names


def test_a_page_goes_on_between_sessions_of_one_name(store):
    """Events of many sessions of a name come in the order of their time, each once, whatever the size of a page."""
    for _ in range(4):
        fill(store, "test")
        store.delete("test")
    whole = list(store.deleted_events("test"))
    assert 12 == len(whole)
    assert sorted((event.at for event in whole), reverse=True) == [event.at for event in whole]
    for limit in (1, 2, 5, 11, 12):
        found, cursor = [], None
        while True:
            page = store.deleted_events("test", limit=limit, cursor=cursor)
            found += page.items
            cursor = page.cursor
            if cursor is None:
                break
        assert whole == found


def test_events_are_copied_once_and_the_rest_later(store):
    """A deletion that broke off behind the copy is finished by another: what came meanwhile is added, the rest is there once."""
    row = SessionRow("test", None, "aa", 1, None, None, 1, Algorithm("blake3"), None, b"").sealed()
    now_us = int(time.time() * 1e6)
    have = [(key, now_us + key, "x", None, None, None, "{}") for key in range(1, 6)]
    (store.root / "_").mkdir(parents=True, mode=0o700)
    for size in (3, 3, 5):
        archive.append(
            store.root / "_",
            row,
            lambda key, size=size: [each for each in have[:size] if each[0] > key],
            store.settings,
            now_us,
        )
        assert size == len(store.deleted_events("test").items)


def test_a_session_that_cannot_be_read_is_no_damage_of_the_archive(store):
    """Its error is raised as it is, nothing of it is kept, and the archive stays where it is."""
    fill(store, "test")
    store.delete("test")

    class Unreadable:
        def events_after(self, key, limit):
            raise IntegrityError("the session is damaged")

    row = SessionRow("other", None, "bb", 1, None, None, 1, Algorithm("blake3"), None, b"").sealed()
    with pytest.raises(IntegrityError, match="the session is damaged"):
        archive.append(
            store.root / "_",
            row,
            archive.events_of(Unreadable(), "other"),
            store.settings,
            int(time.time() * 1e6),
        )
    assert () == store.collect().damaged
    assert ["delete_session", "seal", "create"] == events(store, "test")
    assert [] == events(store, "other")


def test_an_archive_of_an_earlier_version_is_taken_over(store):
    """The project's own file in the earlier form is read as it is, and has the new one behind the next deletion."""
    (store.root / "_").mkdir(parents=True, mode=0o700)
    file = store.root / "_" / ".audit.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(EARLIER)
    file.chmod(0o600)
    assert ["create"] == events(store, "old")
    new = Store(store.address, audit_keep=True, audit_age=0.0, **NO_FLOORS)
    fill(new, "old")
    new.delete("old")
    assert ["delete_session", "seal", "create", "create"] == events(new, "old")
    assert () == new.collect().damaged


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE event SET at_us = at_us + 0.5",
        "UPDATE event SET event_key = 'x' || event_key",
        "UPDATE session SET uid = x'00'",
    ],
)
def test_values_of_a_wrong_type_are_damage(store, damage):
    """Who reads them gets an error of ours, and a deletion goes on."""
    for name in ("one", "two"):
        fill(store, name)
        store.delete(name)
    row = SessionRow("one", None, "ab" * 16, 1, None, None, 1, Algorithm("blake3"), None, b"").sealed()
    with closing(sqlite3.connect(file_of(store))) as connection:
        connection.execute(f"{damage} WHERE session_key = 1")
        connection.execute("UPDATE session SET session_id = 'one'")
        connection.commit()
    if "event_key" not in damage:
        with pytest.raises(IntegrityError, match="damaged"):
            store.deleted_events("one")
    archive.append(
        store.root / "_", row, lambda key: [(1, 1, "x", None, None, None, "{}")][key:], store.settings, 1
    )
    fill(store, "one")
    store.delete("one")


def test_a_session_without_events_leaves_nothing(store):
    """Of a session that has recorded nothing there is no row in the archive."""
    fill(store, "test")
    store.delete("test")
    row = SessionRow("silent", None, "ab" * 16, 1, None, None, 1, Algorithm("blake3"), None, b"").sealed()
    archive.append(store.root / "_", row, lambda _key: [], store.settings, int(time.time() * 1e6))
    with closing(sqlite3.connect(file_of(store))) as connection:
        assert [("test",)] == connection.execute("SELECT session_id FROM session").fetchall()


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
    new = Store(store.address, **settings)
    with new.session("old", "web") as session:
        session.delete()
    assert ["delete_session", "create"] == events(new, "old", "web")
    assert ["create"] == events(new, "old")
    file.write_bytes(b"damaged since" * 1000)
    fill(new, "other")
    new.delete("other")
    assert ["delete_session", "seal", "create"] == events(new, "other")


def test_a_read_that_fails_once_does_not_cost_the_file(store, monkeypatch):
    """Once an I/O error, which SQLite calls damage, made a deletion move the kept events of all sessions aside."""
    fill(store, "first")
    store.delete("first")
    append, failed = archive._append, []

    def fails_once(*arguments):
        if not failed:
            failed.append(True)
            raise IntegrityError("database disk image is malformed")
        append(*arguments)

    monkeypatch.setattr(archive, "_append", fails_once)
    fill(store, "second")
    store.delete("second")
    assert failed
    assert [events(store, "first")] == [events(store, "second")] == [["delete_session", "seal", "create"]]
    assert [] == list(store.root.rglob(".audit-damaged-*"))
