"""Processes that do the same to one session of a server at the same time, or are killed and stopped while they do it."""

from __future__ import annotations

import itertools
import random
import signal
import subprocess
import sys
import threading
import time

import pytest
from postgres import database_of
from support import NO_FLOORS, ROUNDS, SEED, outlive, tries, wait_until
from wire import Wire

from spillstore import Store
from spillstore.exceptions import ArtifactNotFoundError, SessionDeletedError, SpillstoreError, StorageError

pytest.importorskip("psycopg")
TEXT = b"".join(b"line %d of what a tool has printed\n" % number for number in range(200))
TABLES = ("name", "place", "claim", "session", "artifact", "chunk", "event", "doomed")


def opened(url, **options):
    return Store(url, **{**NO_FLOORS, "lease": 1.0, "busy_timeout": 30.0, **options})


def rows_in(server, url):
    """How many rows the tables of a store have."""
    database = database_of(url)
    return {
        each: server.execute(f"SELECT count(*) FROM spillstore.{each}", database)[0][0] for each in TABLES
    }


def run(script, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


ANEW = """
import random, sys
from spillstore import Store
from spillstore.exceptions import SessionBusyError, SessionDeletedError, SessionNotFoundError, ArtifactNotFoundError
url, seed, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
drawn = random.Random(seed)
store = Store(url, artifacts_per_minute=0, busy_timeout=30.0)
kept = gone = deleted = busy = 0
for number in range(100 * rounds):
    if number >= rounds and kept and deleted:
        break
    what = drawn.randrange(3)
    try:
        if what:
            with store.session("s") as session:
                content = b"%s %d\\n" % (seed.encode(), number) * drawn.randrange(1, 20000)
                artifact = session.put(content)
                assert artifact.read_bytes(0, len(content)) == content
                assert artifact.info.state == "sealed"
                kept += 1
        if what == 2 or not what:
            store.delete("s", force=drawn.random() < 0.7)
            deleted += 1
    except SessionBusyError:
        busy += 1
    except (SessionDeletedError, SessionNotFoundError, ArtifactNotFoundError):
        gone += 1
print(kept, gone, deleted, busy)
"""


@pytest.mark.parametrize("rounds", [8, pytest.param(None, marks=pytest.mark.fault)])
def test_a_session_that_is_made_and_deleted_all_the_time(server, server_url, rounds):
    """Two processes claim, write, delete and make anew one session: each finds what it wrote, or is told that it is gone."""
    rounds = rounds or 20 * ROUNDS
    children = [run(ANEW, server_url, f"{SEED} {number}", rounds) for number in range(2)]
    said = [child.communicate()[0] for child in children]
    assert [child.returncode for child in children] == [0, 0], said
    for line in said:
        kept, _, deleted, _ = map(int, line.split())
        assert kept
        assert deleted
    store = opened(server_url)
    store.check()
    for info in list(store.sessions()):
        store.delete(info.id, force=True)
    store.collect()
    assert rows_in(server, server_url) == dict.fromkeys(TABLES, 0)


WRITER = """
import sys
from spillstore import Store
store = Store(sys.argv[1], artifacts_per_minute=0, busy_timeout=60.0)
with store.session("s") as session:
    writers = [session.create(source=f"{sys.argv[2]}-{number}") for number in range(20)]
    for part in range(5):
        for number, writer in enumerate(writers):
            writer.write(b"%s %d %d\\n" % (sys.argv[2].encode(), number, part) * 500)
    for writer in writers:
        writer.close()
"""


@pytest.mark.slow
def test_eight_processes_with_twenty_outputs_each(server_url):
    """All of it is there, once, in one session."""
    children = [run(WRITER, server_url, number) for number in range(8)]
    assert [child.wait() for child in children] == [0] * 8
    for child in children:
        child.communicate()
    store = opened(server_url)
    store.check()
    with store.session("s", read_only=True) as session:
        found = {each.info.source: each for each in session.artifacts(limit=999)}
        assert len(found) == len(session.artifacts(limit=999)) == 160
        for source, artifact in found.items():
            process, number = source.split("-")
            content = b"".join(
                b"%s %s %d\n" % (process.encode(), number.encode(), part) * 500 for part in range(5)
            )
            assert artifact.read_bytes(0, len(content) + 1) == content


COLLECTOR = """
import sys
from spillstore import Store
store = Store(sys.argv[1], artifacts_per_minute=0, retention=1000.0)
print("there", flush=True)
sys.stdin.readline()
print(*(info.session.id for info in store.collect().deleted))
"""


@pytest.mark.parametrize("killed", [False, pytest.param(True, marks=pytest.mark.fault)])
def test_two_that_collect(server, server_url, killed):
    """Neither fails; what they leave to each other, or a killed one leaves, the next one frees."""
    drawn = random.Random(SEED)
    for _ in range(ROUNDS if killed else 1):
        store = opened(server_url)
        for number in range(12):
            with store.session(f"s{number}") as session:
                session.put(TEXT * 2000, redact=False)
        database = database_of(server_url)
        age = "UPDATE spillstore.place SET used_at = used_at - interval '1 day'"
        server.execute(age, database)
        children = [run(COLLECTOR, server_url) for _ in range(2)]
        for child in children:
            assert child.stdout.readline() == "there\n"
        for child in children:
            child.stdin.write("\n")
            child.stdin.flush()
        if killed:
            time.sleep(drawn.random() * 0.1)
            children[0].kill()
        deleted = [child.communicate()[0].split() for child in children]
        if not killed:
            # Two that look at one session at the same moment see each other's claims, and both spare it.
            assert {each for ids in deleted for each in ids} <= {f"s{number}" for number in range(12)}
            assert [child.returncode for child in children] == [0, 0]
        outlive(store)
        server.execute(age, database)
        opened(server_url, lease=0.1, retention=1000.0).collect()
        assert [*opened(server_url).sessions()] == []
        left = rows_in(server, server_url)
        assert left == dict.fromkeys(TABLES, 0)


def test_what_another_one_is_freeing(server, server_url):
    """Who finds nothing more to be freed leaves the note of it to who is freeing it: it may die before it has done so."""
    import psycopg

    store = opened(server_url)
    with store.session("s") as session:
        session.put(TEXT)
        backend = session._engine.store
        connections, key = backend._connections, backend._key
    from spillstore.engine.postgres.deletion import DoomedRows, doom

    doom(connections, "s", key)
    with psycopg.connect(server_url) as other:
        other.execute("DELETE FROM spillstore.chunk")
        other.execute("SELECT * FROM spillstore.doomed")
        freeing = threading.Thread(target=DoomedRows(connections, key).free)
        freeing.start()
        waiting = f"SELECT pid FROM pg_stat_activity WHERE datname = '{database_of(server_url)}' AND wait_event_type = 'Lock'"
        wait_until(lambda: server.execute(waiting))
        other.rollback()  # as it would be if its process died
        freeing.join()
    store.collect()
    assert rows_in(server, server_url) == dict.fromkeys(TABLES, 0)


def test_deleted_while_it_is_read_and_written(server, server_url):
    """A reader in a snapshot ends with what it began; a writer, and whatever begins later, is told."""
    store, other = opened(server_url), opened(server_url + "&connections=3")
    session = store.session("s")
    artifact = session.put(TEXT * 200, redact=False)
    writer = session.create()
    writer.write(TEXT)
    writer.flush()
    core = session._engine
    with core.snapshot("reading") as rows:
        before = rows.artifact_row(artifact.id)
        script = "import sys; from spillstore import Store; Store(sys.argv[1]).delete('s', force=True)"
        subprocess.run([sys.executable, "-c", script, server_url], check=True)
        assert rows.artifact_row(artifact.id) == before
        assert rows.session_row() is not None
    with pytest.raises(SessionDeletedError):
        artifact.read_bytes(0, 10)
    with pytest.raises((SessionDeletedError, ArtifactNotFoundError)):
        list(artifact.chunks())
    with pytest.raises(SessionDeletedError):
        writer.write(TEXT)
        writer.flush()
    with pytest.raises(SessionDeletedError):
        writer.close()
    session.close()
    other.collect()
    assert rows_in(server, server_url) == dict.fromkeys(TABLES, 0)


@pytest.mark.fault
def test_a_server_that_is_killed_in_a_commit(own_server):
    """Killed when so many bytes of a commit have passed, in either direction: with ``full``, it is there once afterwards."""
    url = own_server.url(own_server.new_database())
    drawn = random.Random(SEED)
    names = []
    with (
        Wire(url) as wire,
        opened(wire.url, durability="full", busy_timeout=60.0, lease=60.0).session("s") as session,
    ):
        session.put(TEXT, source="warm")
        before = wire.to_server, wire.to_client
        session.put(TEXT, source="measured")
        sizes = wire.to_server - before[0], wire.to_client - before[1]
        for number in range(max(2 * ROUNDS, 5)):
            direction = number % 2
            at = drawn.randrange(1, sizes[direction])
            wire.cut(**{("to_server", "to_client")[direction]: at})
            names.append(f"{number}")
            ended = threading.Event()

            def put(name=names[-1], ended=ended):
                session.put(TEXT, source=name)
                ended.set()

            cuts = wire.connections
            thread = threading.Thread(target=put)
            thread.start()
            wait_until(lambda cuts=cuts, ended=ended: wire.connections > cuts or ended.is_set())
            own_server.kill()
            own_server.start()
            thread.join()
            wire.mend()
            assert ended.is_set()
    store = opened(url)
    store.check()
    with store.session("s", read_only=True) as session:
        found = [each.info.source for each in session.artifacts(limit=9999)]
        assert sorted(found) == sorted(["warm", "measured", *names])
        assert all(each.read_bytes(0, 99999) == TEXT for each in session.artifacts(limit=9999))


STOPPED = """
import sys
from spillstore import Store
from spillstore.exceptions import ClaimLostError
from spillstore.engine.postgres import locking
locking.IDLE_TIMEOUT = "500ms"  # 10 s for others, which would make this long
store = Store(sys.argv[1], artifacts_per_minute=0, lease=0.2, busy_timeout=30.0)
session = store.session("s")
count = 0
while True:
    count += 1
    source = f"{sys.argv[2]}-{count}"
    try:
        with session.create(source=source) as writer:
            for _ in range(3):
                writer.write(b"text\\n" * 2000)
                writer.flush()
        print(source, flush=True)
    except ClaimLostError:
        session.close()
        session = store.session("s")
        print("lost", flush=True)
"""


@pytest.mark.fault
def test_writers_that_are_stopped_at_any_moment(server_url):
    """Two that write, each stopped for longer than its lease again and again: what one has confirmed stays as it was."""
    drawn = random.Random(SEED)
    children = [run(STOPPED, server_url, number) for number in range(2)]
    try:
        for number in range(max(2 * ROUNDS, 5)):
            child = children[number % 2]
            time.sleep(drawn.random() * 0.05)
            child.send_signal(signal.SIGSTOP)
            time.sleep(0.25 + drawn.random() * 0.1)
            with opened(server_url, lease=0.2).session("s") as session:  # takes over
                session.put(TEXT, source=f"between {number}")
            child.send_signal(signal.SIGCONT)
    finally:
        for child in children:
            child.send_signal(signal.SIGCONT)
            child.kill()
        output = [child.communicate()[0] for child in children]
    said = [line.strip() for each in output for line in each.splitlines()]
    store = opened(server_url)
    outlive(store)
    store.session("s").close()
    store.check()
    with store.session("s", read_only=True) as session:
        found = {each.info.source: each for each in session.artifacts(limit=99999)}
        assert len(found) == len(session.artifacts(limit=99999))
        for source in said:
            if source != "lost":
                assert found[source].info.state == "sealed"
                assert found[source].read_bytes(0, 99999) == b"text\n" * 6000
        for each in found.values():
            assert each.info.state != "open"
            content = each.read_bytes(0, 99999)
            assert content == TEXT or (b"text\n" * 6000).startswith(content)


def test_a_lock_of_who_is_idle(server_url, monkeypatch):
    """A process that is stopped in a transaction loses it after a while; it notices, and stores what it had to store."""
    from spillstore.engine.postgres import locking

    monkeypatch.setattr(locking, "IDLE_TIMEOUT", "300ms")
    with opened(server_url, lease=60.0).session("s") as session:
        session.put(TEXT)
        backend = session._engine.store
        with backend.transaction("being stopped") as tx:
            tx.append_events([])
            other = "import sys; from spillstore import Store; Store(sys.argv[1]).session('s').put(b'x')"
            subprocess.run([sys.executable, "-c", other, server_url], check=True)
            with pytest.raises(StorageError):
                tx.newest_event()
                tx.artifact_digests()
        session.put(TEXT)
        assert len(session.artifacts()) == 3


def restarted_all_the_time(server):
    """A server that is restarted until the event is set, which is returned with what waits for it."""
    ended = threading.Event()

    def restart():
        while not ended.wait(0.2):
            server.kill()
            server.start()

    thread = threading.Thread(target=restart)
    thread.start()
    return ended, thread


@pytest.mark.fault
def test_restarts_during_long_reads(own_server, tmp_path):
    """Iterators, ``follow`` and copies go on, or say that they cannot; no byte is wrong."""
    url = own_server.url(own_server.new_database())
    store = opened(url, durability="full", busy_timeout=60.0, lease=60.0)
    content = TEXT * 3000
    with store.session("s") as session:
        artifact = session.put(content, redact=False)
        ended, thread = restarted_all_the_time(own_server)
        try:
            for number in range(tries(4)):
                assert b"".join(artifact.chunks()) == content
                assert sum(1 for _ in artifact.lines()) == content.count(b"\n")
                writer = session.create()
                parts = []
                follower = session.artifact(writer.id)
                following = threading.Thread(target=parts.extend, args=(follower.follow(poll=0.01),))
                following.start()
                for _ in range(5):
                    writer.write(TEXT)
                    writer.flush()
                writer.close()
                following.join()
                assert b"".join(parts) == TEXT * 5
                try:
                    store.copy_session("s", to=opened(tmp_path / f"copy {number}"), force=True)
                except StorageError:
                    assert not [*opened(tmp_path / f"copy {number}").sessions()]
        finally:
            ended.set()
            thread.join()
        store.copy_session("s", to=opened(tmp_path / "copy"), force=True)
    opened(tmp_path / "copy").check()
    store.check()


@pytest.mark.parametrize("kind", ["roll", "carriage returns", "many chunks", "large events", "deleting"])
def test_cuts_in_long_transactions(server_url, kind):
    """What reads and writes much in a transaction does so once, wherever the connection breaks."""
    drawn = random.Random(f"{SEED} {kind}")
    options = {"artifact_limit": 3_000_000, "artifact_policy": "roll"} if kind == "roll" else {}
    unit = TEXT.replace(b"\n", b"\r") if kind == "carriage returns" else TEXT

    def store_one(session, number):
        with session.create(
            source=f"{number}", redact=False, command="x" * 100_000 * (kind == "large events")
        ) as writer:
            for _ in range(6 if kind != "large events" else 1):
                writer.write(unit * 150)
            artifact = writer.id
        if kind == "deleting":
            session.artifact(artifact).delete()
        elif kind == "large events":
            for _ in range(5):
                session.put(b"x", command="y" * 50_000).delete()

    with Wire(server_url) as wire, opened(wire.url, **options).session("s") as session:
        before = wire.to_server, wire.to_client
        store_one(session, 0)
        sizes = wire.to_server - before[0], wire.to_client - before[1]
        for number in range(1, 1 + tries(8)):
            direction = drawn.randrange(2)
            wire.cut(**{("to_server", "to_client")[direction]: drawn.randrange(1, sizes[direction])})
            store_one(session, number)
            wire.mend()
        session.check()
    store = opened(server_url)
    store.check()
    with store.session("s", read_only=True) as session:
        found = session.artifacts(limit=999)
        assert len(found) == (0 if kind == "deleting" else 1 + tries(8))
        sizes = {(each.info.size, each.info.kept, each.info.state) for each in found}
        assert len(sizes) <= 1 + (kind == "roll") * len(found)


@pytest.mark.slow
def test_an_artifact_of_ten_thousand_chunks(server, server_url):
    """It is written, read, checked, copied to another name and deleted in steps, in bounded memory."""
    with opened(server_url).session("s") as session:
        with session.create(redact=False) as writer:
            for number in range(640):
                writer.write((b"%08d " % number) * 116_508)
        artifact = session.artifact(writer.id)
        assert artifact.info.size == 640 * 9 * 116_508
        start = 9 * 116_508 * 639
        assert artifact.read_bytes(start, start + 8) == b"00000639"
        session.check()
        artifact.delete()
        assert not session.artifacts()
    opened(server_url).delete("s")
    assert rows_in(server, server_url) == dict.fromkeys(TABLES, 0)


def test_a_failed_deletion_is_no_full_disk(own_server):
    """A server that was away while a session was deleted: it stays, or goes with its events kept, never without."""
    url = own_server.url(own_server.new_database())
    store = opened(url, busy_timeout=0.3, audit_keep=True)
    with Wire(url) as wire:
        away = opened(wire.url, busy_timeout=0.3, audit_keep=True)
        with away.session("s") as session:
            session.put(TEXT)
        refused = threading.Event()
        before = wire.to_server
        with opened(wire.url, busy_timeout=0.3, audit_keep=True).session("other") as session:
            session.put(TEXT)
        away.delete("other")
        whole = wire.to_server - before
        for share in itertools.islice(itertools.count(1), 8):
            with store.session("s") as session:
                session.put(TEXT)
            wire.cut(to_server=share * whole // 20)
            try:
                away.delete("s")
            except SpillstoreError:
                refused.set()
            wire.mend()
            if store.session("s", read_only=False).artifacts():
                continue
            assert list(store.deleted_events("s"))
