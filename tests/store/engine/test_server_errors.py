"""What goes wrong on a server is an error of ours that says what to do, and shows no password."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
import time
import traceback

import pytest
from postgres import database_of
from support import NO_FLOORS, small_disk, wait_until
from wire import Wire

from spillstore import Store, aio
from spillstore.exceptions import (
    DiskFullError,
    InvalidSettingError,
    LockedError,
    ReadOnlyError,
    SchemaTooNewError,
    SchemaTooOldError,
    StorageError,
    UnsupportedError,
    UsageError,
)

pytest.importorskip("psycopg")
TEXT = b"".join(b"line %d of what a tool has printed\n" % number for number in range(200))


def opened(url, **options):
    return Store(url, **{**NO_FLOORS, "busy_timeout": 2.0, **options})


def said(error):
    """All that a person or a log could see of an error."""
    return "".join(traceback.format_exception(error)) + repr(error)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("mysql://user:{}@host/db", UsageError),
        ("postgresql+asyncpg://user:{}@host/db", UsageError),
        ("postgresql://user:{}@host/db?pool=3", InvalidSettingError),
        ("postgresql://user:{}@host/db?connections=0", InvalidSettingError),
        ("postgresql://user:{}@127.0.0.1:1/db", StorageError),
    ],
)
def test_urls_that_lead_nowhere(url, kind):
    """The error names what is wrong, and no password."""
    password = secrets.token_hex(8)
    with pytest.raises(kind) as caught:
        opened(url.format(password)).session("s")
    assert password not in said(caught.value)


def test_a_url_where_a_folder_is_needed(server_url):
    """A file is opened by its path."""
    with pytest.raises(UsageError):
        Store.open_file(server_url)


def test_without_psycopg(server_url):
    """The error is the command that installs it."""
    script = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from spillstore import Store\n"
        "from spillstore.exceptions import UnsupportedError\n"
        "try: Store(sys.argv[1])\n"
        "except UnsupportedError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, server_url], capture_output=True, text=True, check=True
    )
    assert "pip install 'spillstore[postgres]'" in done.stdout


def test_who_may_not_enter(servers):
    """A wrong password, an unknown role, and a database that is not there: the role or the database is named."""
    server = servers.new(tcp=True)
    name = server.new_database()
    url = server.url(name)
    wrong = secrets.token_hex(8)
    for bad, word in (
        (url.replace(servers.password, wrong), "postgres"),
        (url.replace("postgres:", "nobody_here:"), "nobody_here"),
        (server.url("no_such_database"), "no_such_database"),
    ):
        began = time.monotonic()
        with pytest.raises(StorageError, match=word) as caught:
            opened(bad, busy_timeout=600.0).session("s")
        assert time.monotonic() - began < 300  # it does not get better by waiting
        assert wrong not in said(caught.value)
        assert servers.password not in said(caught.value)
    with opened(url).session("s") as session:
        session.put(TEXT)
        for each in (session, session._engine.store._connections, session._engine.store, opened(url)):
            assert servers.password not in repr(each)
        server.kill()
        with pytest.raises(StorageError) as caught:
            session.put(TEXT)
        assert servers.password not in said(caught.value)


def test_tables_that_are_not_ours(server):
    """No tables, tables of another version, an encoding that cannot hold all texts: each says what to do."""
    empty = server.url(server.new_database(schema=False))
    with pytest.raises(SchemaTooOldError, match="spillstore upgrade"):
        opened(empty).session("s")
    name = server.new_database()
    for revision, kind in (("0000", SchemaTooOldError), ("9999", SchemaTooNewError)):
        server.execute(f"UPDATE spillstore.alembic_version SET version_num = '{revision}'", name)
        with pytest.raises(kind):
            opened(server.url(name)).session("s")
    name = server.new_database(schema=False, options="ENCODING 'LATIN1' LOCALE 'C'")
    with pytest.raises(UnsupportedError, match="UTF8"):
        opened(server.url(name)).session("s")


def test_tables_that_go_away(server, server_url):
    """A table that is dropped while a session is open."""
    with opened(server_url).session("s") as session:
        session.put(TEXT)
        server.execute("ALTER TABLE spillstore.event RENAME TO gone", database_of(server_url))
        with pytest.raises(SchemaTooOldError):
            session.put(TEXT)
        server.execute("ALTER TABLE spillstore.gone RENAME TO event", database_of(server_url))
        session.put(TEXT)


def test_a_server_that_only_reads(server, server_url):
    """What is there can be read; writing says that it cannot be, and goes on when it can."""
    with opened(server_url).session("s") as session:
        artifact = session.put(TEXT)
    database = database_of(server_url)
    server.execute(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
    server.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'")
    with opened(server_url).session("s", read_only=True) as session:
        assert session.artifact(artifact.id).read_bytes(0, 10) == TEXT[:10]
    with pytest.raises(ReadOnlyError):
        opened(server_url).session("s")
    with pytest.raises(ReadOnlyError):
        opened(server_url).session("new")
    with pytest.raises(ReadOnlyError):
        opened(server_url).delete("s")
    server.execute(f"ALTER DATABASE {database} RESET default_transaction_read_only")
    server.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'")
    with opened(server_url).session("s") as session:
        session.put(TEXT)


def test_a_full_disk(servers, tmp_path):
    """The server's disk is full: what was committed is there, the rest is refused, and deleting helps."""
    server = servers.new(fsync=True)
    space = server.folder / "space"
    space.mkdir()
    with small_disk(space, "24m"):
        servers._own(space)
        server.execute(f"CREATE TABLESPACE small LOCATION '{space}'")
        url = server.url(server.new_database(schema=False, options="TABLESPACE small"))
        from spillstore.engine.postgres.upgrading import upgrade

        upgrade(url)
        store = opened(url)
        kept = []
        with store.session("s") as session:
            with pytest.raises(DiskFullError):
                for _ in range(200):
                    kept.append(session.put(os.urandom(400_000), redact=False))
            for artifact in kept:
                assert artifact.info.state == "sealed"
                artifact.verify()
        server.stop(signal.SIGKILL)


def test_locks_that_are_kept(server_url):
    """A lock that somebody keeps: after ``busy_timeout`` all who wait are told, and which setting that is."""
    import psycopg

    with opened(server_url, busy_timeout=0.3).session("s") as session:
        artifact = session.put(TEXT)
        with psycopg.connect(server_url) as other:
            other.execute("SELECT * FROM spillstore.place FOR UPDATE")
            for do in (
                lambda: session.put(TEXT),
                artifact.delete,
                lambda: opened(server_url, busy_timeout=0.3).delete("s"),
            ):
                with pytest.raises(LockedError, match="SPILLSTORE_BUSY_TIMEOUT"):
                    do()
            assert artifact.read_bytes(0, 10) == TEXT[:10]
        artifact.delete()


def test_what_another_one_cancels(server, server_url):
    """An operator cancels what takes long, or ends our connections: nothing of psycopg comes out."""
    database = database_of(server_url)
    ended = threading.Event()

    def cancel():
        while not ended.is_set():
            for what in ("cancel", "terminate"):
                server.execute(
                    f"SELECT pg_{what}_backend(pid) FROM pg_stat_activity WHERE datname = '{database}' AND random() < 0.5"
                )
                time.sleep(0.01)

    thread = threading.Thread(target=cancel)
    with opened(server_url, busy_timeout=30.0, lease=60.0).session("s") as session:
        thread.start()
        stored = {}
        try:
            for number in range(60):
                try:
                    artifact = session.put(TEXT, source=f"{number}")
                    assert artifact.read_bytes(0, 10) == TEXT[:10]
                except StorageError:  # cancelled, or ended twice
                    continue
                finally:
                    time.sleep(0.01)
                stored[f"{number}"] = artifact.id
        finally:
            ended.set()
            thread.join()
        session.put(TEXT, source="last")
        found = {each.info.source: each.id for each in session.artifacts(limit=999)}
        assert stored.items() <= found.items()
        session.check()


def test_a_snapshot_whose_connection_is_lost(server, server_url):
    """It goes on if nothing was written since, and says so if something was."""
    end = (
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database_of(server_url)}'"
    )
    with opened(server_url, lease=60.0).session("s") as session:
        artifact = session.put(TEXT)
        with session._engine.snapshot("reading") as rows:
            before = rows.artifact_row(artifact.id)
            server.execute(end)
            assert rows.artifact_row(artifact.id) == before
            assert rows.session_row() is not None
            with opened(server_url + "&connections=2").session("s") as other:
                other.put(TEXT)
            assert len(rows.artifact_digests()) == 1
            server.execute(end)
            with pytest.raises(StorageError, match="written to since"):
                rows.artifact_row(artifact.id)
        assert len(session.artifacts()) == 2


def test_a_restart_of_the_server_is_no_password(servers):
    """A server that is starting up is waited for; one that refuses is not."""
    server = servers.new(fsync=True)
    url = server.url(server.new_database())
    with opened(url, busy_timeout=60.0, durability="full").session("s") as session:
        session.put(TEXT)
        server.kill()
        threading.Timer(0.5, server.start).start()
        session.put(TEXT)
        assert len(session.artifacts()) == 2
    server.stop(signal.SIGQUIT)


def test_who_follows_asks_less_and_less(server_url):
    """While nothing comes, the pause doubles up to a second; what comes is there soon, and then it is short again."""
    with (
        Wire(server_url) as wire,
        opened(server_url, lease=60.0).session("s") as session,
        opened(wire.url + "&connections=3", audit="off").session("s", read_only=True) as other,
    ):
        with session.create() as writer:
            writer.write(TEXT)
            writer.flush()
            found = []
            artifact = other.artifact(writer.id)
            thread = threading.Thread(target=lambda: found.extend(artifact.follow(poll=0.01)))
            thread.start()
            wait_until(lambda: b"".join(found) == TEXT)
            # Two trips a look: the row, and whether its owner lives. After eight looks the pause is a second.
            looks = wire.trips + 2 * 9
            wait_until(lambda: wire.trips >= looks)
            began = time.monotonic()
            wait_until(lambda: wire.trips >= looks + 2 * 3)
            assert time.monotonic() - began > 1.9  # two pauses at the least, however fast the machine is
            writer.write(TEXT)
            writer.flush()
            wait_until(lambda: b"".join(found) == TEXT * 2)
        thread.join()
        assert b"".join(found) == TEXT * 2


def test_who_follows_a_folder_looks_as_often_as_was_asked(tmp_path):
    """A look costs nothing there."""
    from spillstore.read.iteration import Pauses

    with Store(tmp_path, **NO_FLOORS).session("s") as session:
        pauses = Pauses(session.put(TEXT)._handle, 0.1)
        assert [pauses.next(came=came) for came in (True, False, False, False)] == [0.1] * 4


def test_the_pauses_of_a_server(server_url):
    """They double, and begin anew when something came; who asks for longer ones gets them."""
    import asyncio

    with opened(server_url).session("s") as session:
        handle = session.put(TEXT)._handle
        from spillstore.read.iteration import Pauses

        pauses = Pauses(handle, 0.1)
        nothing = [pauses.next(came=False) for _ in range(6)]
        assert nothing == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
        assert [pauses.next(came=True), pauses.next(came=False)] == [0.1, 0.2]
        assert [Pauses(handle, 3.0).next(came=False) for _ in range(2)] == [3.0, 3.0]

    async def main():
        store = aio.Store(server_url, **NO_FLOORS)
        async with store.session("s") as session:
            artifact = await session.put(TEXT)
            return b"".join([block async for block in artifact.follow()])

    assert asyncio.run(main()) == TEXT
