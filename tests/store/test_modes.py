"""The same store in its other modes: durability, digests, journals, and an event loop that must not wait."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import subprocess
import sys
import threading

import pytest
from support import NO_FLOORS

from spillstore import Store, aio
from spillstore.engine.sqlite import database as _database
from spillstore.exceptions import UnsupportedError

DATA = b"".join(b"line %d\n" % number for number in range(30_000))


def write_and_read(store):
    """Both streams, a deletion, a second opening."""
    with store.session("test") as session:
        with session.create() as writer:
            writer.write(DATA)
            writer.write(b"oops\n", stream="stderr")
        session.put(b"gone").delete()
        session.check()
    with store.session("test", read_only=True) as session:
        artifact = session.artifact(writer.id)
        assert DATA == artifact.read_bytes(0, 10**7, stream="stdout")
        assert b"line 19999\n" == artifact.read_lines(20_000, 20_000)
        artifact.verify()
        return session.artifact(writer.id).info


@pytest.mark.parametrize("digest", ["blake3", "sha256"])
def test_the_digest_is_a_property_of_the_file(make_store, digest):
    """A session keeps the algorithm it was made with, whatever the setting says later."""
    info = write_and_read(make_store(digest=digest))
    assert info.digest.startswith(f"{digest}:")
    other = make_store(digest="sha256" if digest == "blake3" else "blake3")
    with other.session("test") as session:
        session.put(b"more")
        assert session.infos().items[0].digest.startswith(f"{digest}:")


def test_full_durability_works_the_same(make_store):
    """``durability="full"`` stores and reads like ``normal``."""
    write_and_read(make_store(durability="full"))


@pytest.mark.files
def test_on_a_network_file_system_there_is_no_wal(plain_store, monkeypatch):
    """There a session uses a rollback journal, says so once, and works."""
    kind = _database.file_system(plain_store.address)
    monkeypatch.setattr(_database, "_NETWORK_FILE_SYSTEMS", frozenset({kind}))
    _database.file_system.cache_clear()
    try:
        with pytest.warns(UserWarning, match="network file system"):
            write_and_read(plain_store)
        write_and_read(plain_store)
    finally:
        monkeypatch.undo()
        _database.file_system.cache_clear()
    connection = sqlite3.connect(plain_store.root / "_" / "test" / "session.db")
    assert ("delete",) == connection.execute("PRAGMA journal_mode").fetchone()
    connection.close()


@pytest.mark.files
def test_a_session_is_shaped_as_documented(plain_store):
    """Page size, vacuum mode, journal, application id and version of a new file."""
    with plain_store.session("test") as session, session._engine.reader() as connection:
        found = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_size", "auto_vacuum", "journal_mode", "application_id", "user_version")
        }
    assert found == {
        "page_size": 2048,
        "auto_vacuum": 2,
        "journal_mode": "wal",
        "application_id": 0x5370696C,
        "user_version": 2,
    }


def test_the_event_loop_goes_on_while_a_writer_waits(root):
    """A write that has to wait for room waits on a thread: the loop's other tasks run meanwhile."""

    async def main():
        beats = 0
        gate = threading.Event()

        def tap(stream, data):
            gate.wait(120)

        async def beat():
            nonlocal beats
            while not gate.is_set():
                beats += 1
                if beats == 50:
                    gate.set()
                await asyncio.sleep(0)

        async with aio.Store(root, queue_bytes=65536, **NO_FLOORS).session("test") as session:
            async with session.create(tap=tap) as writer:
                pulse = asyncio.ensure_future(beat())
                for number in range(40):  # random, but the same each time: no secret seems to be in it
                    await writer.write(random.Random(number).randbytes(60_000))
                await pulse
            assert 2_400_000 == (await (await session.artifact(writer.id)).info).size
            await session.check()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_cancelled_opening_leaves_nothing_open(root):
    """Cancelling the task that opens a session closes what the thread opened."""

    async def main():
        store = aio.Store(root, **NO_FLOORS)
        opening = asyncio.ensure_future(store.session("test")._open())
        await asyncio.sleep(0)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert [False] == [info.live for info in await store.sessions()]

    asyncio.run(main())


def test_async_iterables_can_be_put(root):
    """``aio.Session.put`` takes what yields bytes asynchronously."""

    async def pieces():
        for number in range(3):
            yield b"piece %d\n" % number

    async def main():
        async with aio.Store(root, **NO_FLOORS).session("test") as session:
            artifact = await session.put(pieces(), source="stream")
            reader = await artifact.open()
            assert b"piece 0\n" == await reader.readline()
            assert 8 == reader.tell()
            await reader.seek(16)
            assert b"piece 2\n" == await reader.read()
            await reader.close()
            return [block async for block in artifact.follow()]

    assert [b"piece 0\npiece 1\npiece 2\n"] == asyncio.run(main())


def test_the_default_root_is_the_users_state_folder(monkeypatch, tmp_path):
    """Without any setting: the platform's state folder; with ``SPILLSTORE_ROOT``: that."""
    monkeypatch.setenv("SPILLSTORE_ROOT", str(tmp_path / "mine"))
    assert tmp_path / "mine" == Store().root
    monkeypatch.delenv("SPILLSTORE_ROOT")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert "spillstore" == Store().root.name


def test_an_old_sqlite_is_refused(monkeypatch):
    """A SQLite without what the store needs is named with both versions."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 30, 0))
    with pytest.raises(UnsupportedError, match=r"needs SQLite 3\.37"):
        Store("/nowhere")


@pytest.mark.long
def test_a_child_process_finds_the_session(plain_store):
    """Another process reads an artifact that this one is still writing."""
    with plain_store.session("test") as session, session.create() as writer:
        writer.write(b"so far\n")
        writer.flush()
        script = (
            "import sys\nfrom spillstore import Store\n"
            "with Store(sys.argv[1]).session('test', read_only=True) as session:\n"
            "    artifact = session.artifact(sys.argv[2])\n"
            "    print(artifact.info.state, artifact.read_lines(1, 1))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, plain_store.address, writer.id],
            capture_output=True,
            text=True,
            check=True,
        )
    assert "open b'so far\\n'\n" == done.stdout
