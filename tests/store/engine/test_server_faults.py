"""Servers that crash, connections that break, processes that are stopped: what was acknowledged is there once, and nothing else is said."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest
from postgres import database_of
from support import FACTOR, NO_FLOORS, ROUNDS, SEED, outlive, tries, wait_until
from wire import Wire

from spillstore import Store
from spillstore.exceptions import (
    ClaimLostError,
    LockedError,
    ReadOnlyError,
    SessionDeletedError,
    SpillstoreError,
    StorageError,
)

pytest.importorskip("psycopg")
TEXT = b"".join(b"line %d of what a tool has printed\n" % number for number in range(200))


def opened(url, **options):
    return Store(url, **{**NO_FLOORS, "lease": 1.0, "busy_timeout": 20.0, **options})


def contents(url):
    """Everything that is stored, by the tool that it came from, after a check of all digests."""
    store = opened(url)
    store.check()
    with store.session("s", read_only=True) as session:
        found = [(each.info.source, each.info.state, each) for each in session.artifacts(limit=9999)]
        assert len({source for source, _, _ in found}) == len(found), "an artifact is there twice"
        return {
            source: (state, artifact.read_bytes(0, artifact.info.size)) for source, state, artifact in found
        }


def between(first, last, count):
    """So many numbers, spread evenly; all of them where there are fewer."""
    step = max(1, (last - first) // tries(count))
    return range(first, last, step)


def some(end):
    return between(1, end + 1, 150)


def every(end):
    return range(1, end + 1, max(1, 50 // ROUNDS))


@pytest.mark.parametrize("direction", ["to_server", "to_client"])
@pytest.mark.parametrize("bytes_", [some, pytest.param(every, marks=pytest.mark.fault)])
def test_a_connection_that_breaks_anywhere(server_url, direction, bytes_):
    """Wherever in a commit it is cut, in either direction: the put succeeds, and is there once."""
    with Wire(server_url) as wire, opened(wire.url).session("s") as session:
        session.put(TEXT, source="warm")
        before = getattr(wire, direction)
        session.put(TEXT, source="measured")
        end = getattr(wire, direction) - before
        assert end > 500
        names = []
        for at in bytes_(end):
            wire.cut(**{direction: at})
            names.append(f"cut {at}")
            session.put(TEXT, source=names[-1])
            wire.mend()
    assert contents(server_url) == dict.fromkeys(["warm", "measured", *names], ("sealed", TEXT))


@pytest.mark.parametrize("direction", ["to_server", "to_client"])
def test_kept_events_are_read_over_a_connection_that_breaks(server_url, direction):
    """Wherever it is cut, in either direction: all of them come, over another one."""
    with Wire(server_url) as wire:
        store = opened(wire.url, audit_keep=True)
        for _ in range(3):
            with store.session("s") as session:
                session.put(TEXT)
                session.delete()
        expected = list(store.deleted_events("s"))
        before = getattr(wire, direction)
        assert expected == list(store.deleted_events("s"))
        end = getattr(wire, direction) - before
        for at in between(0, end, 20):
            wire.cut(**{direction: at})
            connections = wire.connections
            assert expected == list(store.deleted_events("s"))
            assert wire.connections == connections + 1
            wire.mend()


def test_a_server_that_is_killed_while_it_is_written_to(own_server):
    """With ``durability="full"`` each acknowledged artifact is there once, whatever was going on; the writers only wait."""
    name = own_server.new_database()
    url = own_server.url(name)
    acknowledged: list[str] = []
    ended = threading.Event()
    failures = []

    def write(number):
        with opened(url, durability="full", busy_timeout=60.0).session("s") as session:
            for count in itertools.count():
                if ended.is_set():
                    return
                source = f"{number}-{count}"
                try:
                    session.put(TEXT * (1 + 40 * (count % 3 == 0)), source=source)
                except BaseException as error:
                    failures.append(error)
                    raise
                acknowledged.append(source)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(max(tries(10), 2 * ROUNDS * (FACTOR > 1))):
        known = len(acknowledged)
        wait_until(lambda known=known: failures or len(acknowledged) >= known + 3)
        time.sleep(random.Random(SEED + known).random() * 0.05)
        own_server.kill()
        own_server.start()
    ended.set()
    for thread in threads:
        thread.join()
    assert failures == []
    found = contents(url)
    assert set(acknowledged) <= set(found)
    for source in acknowledged:
        state, content = found[source]
        assert state == "sealed"
        assert content == TEXT * (len(content) // len(TEXT))


def test_what_a_server_loses_is_not_written_on(own_server):
    """With ``durability="normal"`` a crash may take the last commits: whoever made them is told, and nothing is pieced together."""
    name = own_server.new_database()
    url = own_server.url(name)
    told = 0
    for round_ in range(tries(5)):
        with opened(url).session("s") as session:
            source = f"{round_}"
            try:
                with session.create(source=source) as writer:
                    writer.write(TEXT)
                    writer.flush()
                    own_server.kill()
                    own_server.start()
                    writer.write(TEXT)
            except ClaimLostError:
                told += 1
    found = contents(url)
    sound = [source for source, (state, _) in found.items() if state == "sealed"]
    assert len(sound) + told == tries(5)
    for source in sound:
        assert found[source] == ("sealed", TEXT * 2)


WRITER = """
import sys
from spillstore import Store
store = Store(sys.argv[1], artifacts_per_minute=0, lease=float(sys.argv[2]), durability="full")
with store.session("s") as session:
    for count in range(10**6):
        with session.create(source=f"{sys.argv[3]}-{count}") as writer:
            writer.write(b"text\\n" * 2000)
            writer.flush()
            print(f"flushed {sys.argv[3]}-{count}", flush=True)
            if sys.argv[4:]:
                sys.stdin.readline()
                try:
                    writer.write(b"more\\n")
                    writer.flush()
                    print("went on", flush=True)
                except Exception as error:
                    print(type(error).__name__, flush=True)
                    raise SystemExit
        print(f"closed {sys.argv[3]}-{count}", flush=True)
"""


def writer(url, lease, name, *more):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, url, str(lease), name, *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.fault
def test_clients_that_are_killed(server_url):
    """What a killed writer had acknowledged is there; what it was writing is interrupted once its lease has passed."""
    drawn = random.Random(SEED)
    said: list[str] = []
    for round_ in range(max(tries(8), 2 * ROUNDS * (FACTOR > 1))):
        with writer(server_url, 1.0, str(round_)) as child:
            lines = [child.stdout.readline() for _ in range(drawn.randrange(1, 12))]
            time.sleep(drawn.random() * 0.02)
            child.kill()
            lines += child.stdout.readlines()
        said += [line.strip() for line in lines if line.endswith("\n")]
    outlive(opened(server_url))
    opened(server_url).session("s").close()  # takes over
    found = contents(server_url)
    for line in said:
        what, source = line.split()
        state, content = found[source]
        assert content == b"text\n" * 2000
        assert state == "sealed" if what == "closed" else state in {"sealed", "interrupted"}
    assert not [source for source, (state, _) in found.items() if state == "open"]


def test_a_writer_that_was_stopped_for_longer_than_its_lease(server_url):
    """Others take it for dead and interrupt what it wrote; when it comes back, it cannot write over that."""
    with writer(server_url, 1.0, "away", "wait") as child:
        assert child.stdout.readline() == "flushed away-0\n"
        child.send_signal(signal.SIGSTOP)
        with opened(server_url).session("s", read_only=True) as reader:
            wait_until(lambda: next(iter(reader.artifacts())).info.state == "interrupted")
        with opened(server_url).session("s") as session:
            session.put(b"mine\n", source="other")
        child.send_signal(signal.SIGCONT)
        child.stdin.write("\n")
        child.stdin.flush()
        assert child.stdout.readline() == "ClaimLostError\n"
        child.wait(120)
    assert contents(server_url) == {
        "away-0": ("interrupted", b"text\n" * 2000),
        "other": ("sealed", b"mine\n"),
    }


def test_a_writer_that_was_stopped_and_not_missed_goes_on(server_url):
    """Nobody has looked while its lease was over, so its claim is there when it comes back."""
    with writer(server_url, 1.0, "away", "wait") as child:
        assert child.stdout.readline() == "flushed away-0\n"
        child.send_signal(signal.SIGSTOP)
        outlive(opened(server_url))
        child.send_signal(signal.SIGCONT)
        child.stdin.write("\n")
        child.stdin.flush()
        assert child.stdout.readline() == "went on\n"
        child.kill()


def test_a_restart_is_only_waited_for(own_server):
    """Who reads, writes or lists while the server is restarted gets an answer when it is back."""
    url = own_server.url(own_server.new_database())
    store = opened(url, durability="full")
    with store.session("s") as session:
        artifact = session.put(TEXT, source="before")
        for do in (
            lambda: artifact.read_bytes(0, 10),
            lambda: session.put(TEXT, source="after"),
            lambda: list(store.sessions()),
            lambda: session.artifact(artifact.id).info,
        ):
            own_server.kill()
            again = threading.Timer(0.3, own_server.start)
            again.start()
            assert do()
            again.join()


def test_a_server_that_stays_away(own_server):
    """After ``busy_timeout`` an error says so, without its password; a command line ends with it."""
    url = own_server.url(own_server.new_database())
    with opened(url, busy_timeout=0.5).session("s") as session:
        artifact = session.put(TEXT)
        own_server.kill()
        with pytest.raises(StorageError, match="cannot be reached"):
            artifact.read_bytes(0, 10)
        with pytest.raises(StorageError, match="cannot be reached"):
            session.put(TEXT)


def test_a_session_that_another_process_deletes(server_url):
    """Each later call says so; a new session of that name holds nothing old."""
    with opened(server_url).session("s") as session:
        artifact = session.put(TEXT)
        script = "import sys; from spillstore import Store; Store(sys.argv[1]).delete('s', force=True)"
        subprocess.run([sys.executable, "-c", script, server_url], check=True)
        for do in (
            lambda: artifact.read_bytes(0, 10),
            lambda: session.put(TEXT),
            session.artifacts,
            lambda: session.artifact(artifact.id),
        ):
            with pytest.raises(SessionDeletedError):
                do()
    with opened(server_url).session("s") as session:
        assert [] == list(session.artifacts())


def test_who_may_only_read(server, server_url):
    """A role without the right to write reads; what it would write is refused with the way out."""
    with opened(server_url).session("s") as session:
        artifact = session.put(TEXT)
    database = database_of(server_url)
    role = f"reader_{os.getpid()}"
    server.execute(f"CREATE ROLE {role} LOGIN")
    try:
        server.execute(f"GRANT USAGE ON SCHEMA spillstore TO {role}", database)
        server.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA spillstore TO {role}", database)
        url = server_url.replace("postgres@", f"{role}@")
        with opened(url).session("s", read_only=True) as session:
            assert session.artifact(artifact.id).read_bytes(0, 10) == TEXT[:10]
        with pytest.raises(ReadOnlyError, match="spillstore grant"):
            opened(url).session("s")
        with pytest.raises(ReadOnlyError):
            opened(url).session("another")
    finally:
        server.execute(f"DROP OWNED BY {role}", database)
        server.execute(f"DROP ROLE {role}")


def test_a_lock_that_somebody_keeps(server_url):
    """Writers wait for ``busy_timeout`` and say what to do then."""
    import psycopg

    with opened(server_url, busy_timeout=0.3).session("s") as session:
        session.put(TEXT)
        with psycopg.connect(server_url) as other:
            other.execute("SELECT * FROM spillstore.place FOR UPDATE")
            with pytest.raises(LockedError, match="SPILLSTORE_BUSY_TIMEOUT"):
                session.put(TEXT)
        session.put(TEXT)


def test_more_connections_than_there_may_be(own_server):
    """Who finds all of the server's connections taken waits, and gets one when there is one."""
    import psycopg

    url = own_server.url(own_server.new_database())
    limit = int(own_server.execute("SHOW max_connections")[0][0])
    own_server.execute("CREATE ROLE agent LOGIN")
    others = []
    try:
        while len(others) < limit:
            others.append(psycopg.connect(url))
    except psycopg.OperationalError:
        pass
    try:
        with pytest.raises(StorageError, match="cannot be reached"):
            opened(url, busy_timeout=0.3).session("s")
        threading.Timer(0.5, others.pop().close).start()
        with opened(url).session("s") as session:
            session.put(TEXT)
    finally:
        for each in others:
            each.close()


def test_a_forked_child_has_connections_of_its_own(server_url):
    """It refuses what the parent had open, opens the store anew, and the parent goes on."""
    store = opened(server_url)
    with store.session("s") as session:
        artifact = session.put(TEXT, source="parent")
        child = os.fork()
        if not child:
            code = 1
            try:
                with pytest.raises(SpillstoreError):
                    session.put(TEXT)
                with store.session("s") as mine:
                    mine.put(TEXT, source="child")
                    assert mine.artifact(artifact.id).read_bytes(0, 10) == TEXT[:10]
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        session.put(TEXT, source="parent again")
    assert set(contents(server_url)) == {"parent", "child", "parent again"}


def test_no_connection_is_left(server, server_url):
    """A program that ends has none, and one whose stores are gone neither."""
    script = (
        "import sys; from spillstore import Store\nwith Store(sys.argv[1]).session('s') as s: s.put(b'x')"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", script, server_url], check=True)
    database = database_of(server_url)
    sql = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}'"
    wait_until(lambda: server.execute(sql)[0][0] == 0)


def test_clients_whose_clocks_are_wrong(server_url):
    """A day ahead or behind: nothing is too old, nobody is dead."""
    with opened(server_url, lease=60.0).session("s") as session, session.create(source="open") as writer_:
        writer_.write(TEXT)
        writer_.flush()
        for hours in (-24, 24):
            clock = type(
                "Clock", (), {"time": lambda _, h=hours: time.time() + 3600 * h, "monotonic": time.monotonic}
            )
            other = opened(server_url, lease=60.0, clock=clock(), retention=3600.0)
            assert () == other.collect().deleted
            with other.session("s", read_only=True) as reader:
                assert ["open"] == [each.info.state for each in reader.artifacts()]
