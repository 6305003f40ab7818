"""Few connections, servers that answer nothing, interrupts of the keyboard, forks: who waits, for how long, and what goes on then."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time

import pytest
from postgres import database_of
from support import NO_FLOORS, soon, wait_until
from wire import Wire

from spillstore import Store, aio, observers
from spillstore.exceptions import LockedError, SessionBusyError, SpillstoreError, StorageError

pytest.importorskip("psycopg")
import psycopg

from spillstore.engine.postgres import connections as _connections
from spillstore.engine.postgres.asking import Asking

TEXT = b"".join(b"line %d of what a tool has printed\n" % number for number in range(200))


def opened(url, **options):
    return Store(url, **{**NO_FLOORS, "lease": 1.0, "busy_timeout": 20.0, **options})


def few(url, count):
    return f"{url}{'&' if '?' in url else '?'}connections={count}"


def alive_there(server, url):
    """What the clients of a database do: a state for each connection."""
    database = database_of(url)
    sql = (
        f"SELECT state FROM pg_stat_activity WHERE datname = '{database}' AND backend_type = 'client backend'"
    )
    return [state for (state,) in server.execute(sql)]


@pytest.fixture
def short_silence(monkeypatch):
    """A server that says nothing is given up soon."""
    monkeypatch.setattr(_connections, "SILENCE", 0.3)


OTHER = """
import sys
from spillstore import Store
with Store(sys.argv[1], artifacts_per_minute=0, lease=30.0).session("s") as session:
    with session.create(source="other") as writer:
        writer.write(b"text\\n" * 20000)
        writer.flush()
        print(writer.id, flush=True)
        sys.stdin.readline()
"""


@pytest.mark.parametrize("count", [1, 2])
def test_one_connection_is_enough(server_url, tmp_path, count):
    """Nobody who has it waits for another one, also where somebody else writes, whose liveness is asked for."""
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, server_url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        other = child.stdout.readline().strip()
        store = opened(few(server_url, count), busy_timeout=1.0, lease=30.0)
        for read_only in (False, True):
            with store.session("s", read_only=read_only) as session:
                artifact = session.artifact(other)
                assert artifact.info.state == "open"
                assert artifact.read_bytes(0, 5) == b"text\n"
                assert artifact.tail(1)
                assert "other" in {each.info.source for each in session.artifacts()}
                assert "other" in {info.source for info in session.infos()}
                assert artifact.search("tex")
                assert sum(map(len, artifact.chunks())) == 100_000
                if not read_only:
                    assert session.put(TEXT).read_bytes(0, len(TEXT)) == TEXT
                    with session.create() as one, session.create() as two:
                        one.write(TEXT)
                        two.write(TEXT)
                        one.flush()
        with pytest.raises(SessionBusyError):
            store.delete("s")
        store.check()
        store.copy_session("s", to=opened(tmp_path / "copy"), force=True)
        child.communicate("\n")
    assert not store.collect().deleted
    store.delete("s")
    assert not [*store.sessions()]


def test_threads_share_few_connections(server, server_url):
    """At most as many as the URL says, however many threads there are; one of them stays."""
    store = opened(few(server_url, 2), busy_timeout=60.0)
    most, failures = 0, []

    def work(number):
        try:
            with store.session(f"s{number % 3}") as session:
                for _ in range(5):
                    artifact = session.put(TEXT)
                    assert artifact.read_bytes(0, len(TEXT)) == TEXT
                    next(iter(artifact.chunks()))  # the rest is left
                    session.artifacts()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        most = max(most, len(alive_there(server, server_url)))
    for thread in threads:
        thread.join()
    assert failures == []
    # One that was closed just now may be there still.
    assert most <= 2 + 1
    assert soon(lambda: alive_there(server, server_url) == ["idle"])


def test_an_iterator_that_is_left_holds_nothing(server, server_url):
    """No transaction and no connection, for as long as it is kept."""
    with opened(few(server_url, 1), busy_timeout=0.5).session("s") as session:
        artifact = session.put(TEXT * 200)
        kept = [
            artifact.chunks(),
            artifact.lines(),
            artifact.segments(),
            session.artifacts(),
        ]
        for each in kept:
            next(iter(each))
        assert set(alive_there(server, server_url)) == {"idle"}
        session.put(TEXT)


def test_numbers_of_files_beyond_a_thousand(server_url):
    """A process may have more files open than ``select`` knows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2048:
        pytest.skip("this user may not have so many files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2048, hard))
    null = os.open(os.devnull, os.O_RDONLY)
    taken = [null]
    try:
        while taken[-1] < 1100:
            taken.append(os.dup(null))
        with opened(server_url, busy_timeout=5.0).session("s") as session:
            artifact = session.put(TEXT)
            assert artifact.read_bytes(0, 10) == TEXT[:10]
            assert len(session.artifacts()) == 1
            assert len(session.artifacts()) == 1
    finally:
        for each in taken:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("how", ["wire", "server"])
def test_a_server_that_answers_nothing(servers, short_silence, how):
    """Whoever waits for it is told after a while; when it answers again, the same objects go on."""
    server = servers.new(fsync=True)
    url = server.url(server.new_database())
    with Wire(url) as wire, opened(wire.url, busy_timeout=0.5, lease=30.0).session("s") as session:
        artifact = session.put(TEXT * 100)
        hold, release = (wire.hold, wire.release) if how == "wire" else (server.pause, server.resume)
        hold()
        try:
            for do in (
                lambda: artifact.read_bytes(0, 10),
                session.artifacts,
                lambda: session.put(TEXT, source="lost"),
                lambda: list(artifact.chunks()),
            ):
                began = time.monotonic()
                with pytest.raises(StorageError):
                    do()
                assert time.monotonic() - began < 300  # not for ever
        finally:
            release()
        assert artifact.read_bytes(0, 10) == TEXT[:10]
        session.put(TEXT, source="after")
        assert "after" in {each.info.source for each in session.artifacts()}
        session.check()
    server.stop(signal.SIGQUIT)


def test_an_answer_that_was_left_for_later_is_not_waited_for_for_ever(server_url, short_silence):
    """Who has only read does not wait for the end of that; whoever uses the connection next does, and gives up as well."""
    with Wire(server_url) as wire, opened(wire.url, busy_timeout=0.5).session("s") as session:
        connections = session._engine.store._connections
        connection = connections.take(20.0)
        try:
            wire.hold()
            connection.end_reading()
            said = []

            def settle():
                try:
                    connection.settle()
                except psycopg.OperationalError as error:
                    said.append(str(error))

            threading.Thread(target=settle, daemon=True).start()
            wait_until(lambda: said)
            assert "has not answered for" in said[0]
        finally:
            wire.release()
            connection.close()
            connections.give_back(connection)


def test_what_psycopg_waits_for_is_what_it_gets(server_url):
    """All of psycopg works on our connections, also what we do not use: rows that come with COPY."""
    with opened(server_url).session("s") as session:
        connections = session._engine.store._connections
        connection = connections.take(20.0)
        try:
            with (
                connection.raw.cursor() as cursor,
                cursor.copy("COPY (VALUES (1), (2)) TO STDOUT") as copying,
            ):
                assert b"1\n2\n" == b"".join(copying)
        finally:
            connections.give_back(connection)


def test_a_silence_of_a_moment_is_waited_for(server_url, short_silence):
    """Where the bound is far away, a server that stops for a moment is not noticed."""
    with Wire(server_url) as wire, opened(wire.url, lease=30.0).session("s") as session:
        artifact = session.put(TEXT)
        for do in (lambda: artifact.read_bytes(0, 10), lambda: session.put(TEXT), session.artifacts):
            wire.hold()
            threading.Timer(0.25, wire.release).start()
            assert do()
        assert wire.connections == 1


@pytest.mark.parametrize("direction", ["to_server", "to_client"])
def test_an_interrupt_of_the_keyboard(server_url, direction):
    """Whatever it interrupts ends with it; the same store goes on, and nothing is pieced together."""
    signal_ = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with (
            Wire(server_url) as wire,
            opened(few(wire.url, 2), lease=30.0).session("s") as session,
        ):
            artifact = session.put(TEXT * 40)
            for number, do in enumerate(
                (
                    lambda: artifact.read_bytes(0, 10),
                    lambda: list(artifact.chunks()),
                    lambda: session.put(TEXT, source="interrupted"),
                    session.artifacts,
                    lambda: session.put(TEXT, source="interrupted"),
                )
            ):
                wire.hold(**{"to_server": False, "to_client": False, direction: True})
                timers = [
                    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)),
                    threading.Timer(0.5, wire.release),
                ]
                for timer in timers:
                    timer.start()
                with pytest.raises(KeyboardInterrupt):
                    do()
                for timer in timers:
                    timer.join()
                assert artifact.read_bytes(0, 10) == TEXT[:10]
                with session.create(source=f"after {number}") as writer:
                    writer.write(TEXT)
            session.check()
    finally:
        signal.signal(signal.SIGINT, signal_)
    store = opened(server_url)
    store.check()
    with store.session("s") as session:
        found = [each for each in session.artifacts() if each.info.source.startswith("after")]
        assert [each.read_bytes(0, each.info.size) for each in found] == [TEXT] * 5


def test_a_writer_that_was_interrupted(server_url):
    """A flush that the keyboard interrupts fails its artifact at the most: nobody waits for it for ever."""
    signal_ = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Wire(server_url) as wire, opened(wire.url, lease=30.0).session("s") as session:
            for number in range(3):
                with contextlib.suppress(StorageError), session.create(source=f"{number}") as writer:
                    writer.write(TEXT)
                    wire.hold(to_server=False, to_client=True)
                    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
                    release = threading.Timer(0.4, wire.release)
                    release.start()
                    with pytest.raises(KeyboardInterrupt):
                        writer.flush()
                    release.join()
                    writer.write(TEXT)
                    writer.flush()
            session.put(TEXT, source="last")
            session.check()
    finally:
        signal.signal(signal.SIGINT, signal_)
    store = opened(server_url)
    store.check()
    with store.session("s") as session:
        for each in session.artifacts():
            assert (TEXT * 2).startswith(each.read_bytes(0, each.info.size))


def test_a_commit_whose_answer_never_came(own_server):
    """Where the server stays away for longer than ``busy_timeout`` in a COMMIT, the session can be written to afterwards."""
    url = own_server.url(own_server.new_database())
    with Wire(url) as wire, opened(wire.url, busy_timeout=0.5, lease=30.0).session("s") as session:
        for number, share in enumerate((0.1, 0.5, 0.9, 1.0)):
            before = wire.to_client
            session.put(TEXT, source="measured")
            answers = wire.to_client - before
            wire.cut(to_client=max(1, int(answers * share) - 1))
            refused = threading.Event()

            def refuse(cut=wire.connections, refused=refused):
                wire.refuse()
                refused.set()

            refuse()
            with pytest.raises(StorageError):
                session.put(TEXT, source=f"lost {number}")
            wire.mend()
            wire.accept()
            session.put(TEXT, source=f"after {number}")
    store = opened(url)
    store.check()
    with store.session("s") as session:
        found = [each.info.source for each in session.artifacts(state="sealed")]
    assert {f"after {number}" for number in range(4)} <= set(found)
    assert len([source for source in found if source.startswith("lost")]) == len(
        {source for source in found if source.startswith("lost")}
    )


def test_a_fork_in_the_middle_of_a_read(server_url):
    """The child leaves the parent's connection alone, though it ends the block in which it was taken."""
    store = opened(few(server_url, 2), busy_timeout=60.0)
    with store.session("s") as session:
        artifact = session.put(TEXT)
        core = session._engine
        with core.snapshot("reading") as rows:
            assert rows.artifact_row(artifact.id)
            child = os.fork()
            if child:
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
                assert rows.artifact_row(artifact.id)
        if not child:
            code = 1
            try:
                for _ in range(5):
                    with store.session("s") as mine:
                        assert mine.artifact(artifact.id).read_bytes(0, 10) == TEXT[:10]
                        mine.put(TEXT)
                code = 0
            finally:
                os._exit(code)
        for _ in range(5):
            assert artifact.read_bytes(0, 10) == TEXT[:10]
            session.put(TEXT)
    store.check()


def next_beat(server, url, session):
    """Wait until a session's claim beats, with nothing written."""
    owner = session._engine.store.owner
    beat = f"SELECT beat FROM spillstore.claim WHERE owner = '{owner}'"
    before = server.execute(beat, database_of(url))
    wait_until(lambda: server.execute(beat, database_of(url)) > before)


def test_claims_live_while_all_connections_are_in_use(server, server_url):
    """A beat waits for none of them for longer than a third of the lease."""
    with opened(few(server_url, 1)).session("s") as session, session.create() as writer:
        writer.write(TEXT)
        writer.flush()
        pool = session._engine.store._connections
        taken = pool.take()
        for _ in range(3):
            next_beat(server, server_url, session)
        pool.give_back(taken)
        writer.write(TEXT)


def test_a_beat_waits_for_no_transaction(server, server_url):
    """One session of a process is stuck in a transaction; the claims of the others live, and they can be written to."""
    import psycopg

    store = opened(few(server_url, 4), busy_timeout=60.0)
    with store.session("a") as first, store.session("b") as second, second.create() as writer:
        first.put(TEXT)
        writer.write(TEXT)
        writer.flush()
        with psycopg.connect(server_url) as stuck:
            owner = first._engine.store.owner
            assert stuck.execute(
                "SELECT * FROM spillstore.claim WHERE owner = %s FOR UPDATE", [owner]
            ).fetchall()
            for _ in range(3):
                next_beat(server, server_url, second)
                second.put(TEXT)
        first.put(TEXT)


def test_ages_over_a_slow_connection(server_url):
    """What was used before a collection began is old enough for it, however long the answer takes."""
    with Wire(server_url) as wire:
        store = opened(wire.url)
        assert [] == list(store.sessions())  # the connection is made
        with opened(server_url).session("s") as session:
            session.put(TEXT)
        wire.delay = 0.3
        found = store.collect(older_than=0, dry_run=True)
        assert [("s", "age")] == [(fate.session.id, fate.why) for fate in found.deleted]


def test_no_thread_for_claims(server, server_url, monkeypatch):
    """Where no thread can be started, an error of ours says so; later, one is."""

    def start(thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        with pytest.raises(StorageError, match="thread"):
            opened(server_url).session("s")
    with opened(server_url).session("s") as session, session.create() as writer:
        writer.write(TEXT)
        writer.flush()
        next_beat(server, server_url, session)


@pytest.mark.parametrize("how", ["closed", "deleted"])
def test_the_beats_end_with_the_last_session(server_url, how):
    """Who has no session open for writing any more has no thread for claims, either."""

    def threads():
        return {thread for thread in threading.enumerate() if thread.name == "spillstore-claims"}

    before = threads()
    first, last = (opened(server_url, lease=30.0).session(name) for name in ("first", "last"))
    for session in (first, last):
        session.put(TEXT)
    first.close()
    assert threads() - before
    if how == "deleted":
        last.delete()
    else:
        last.close()
    wait_until(lambda: not threads() - before)


def test_an_observer_that_reads(server_url):
    """It is called when the transaction is over, so it may ask for what was committed."""
    store = opened(few(server_url, 1), busy_timeout=60.0)
    seen = []
    with store.session("s") as session:

        class Reader(observers.Observer):
            def on_event(self, event):
                with guard:  # what it does is observed, too
                    if not busy:
                        busy.append(event)
                        try:
                            seen.append((event.kind, len(session.artifacts())))
                        except BaseException as error:
                            seen.append((event.kind, error))
                        busy.clear()

        guard, busy = threading.RLock(), []
        stop = observers.subscribe(Reader())
        try:
            artifact = session.put(TEXT)
            artifact.read_bytes(0, 10)
            artifact.search("line 1")
            with pytest.raises(SpillstoreError):
                session.artifact("art_1_1")
            session.put(TEXT)
        finally:
            stop()
    assert {kind for kind, _ in seen} >= {"create", "seal", "commit", "read"}
    assert [found for found in seen if isinstance(found[1], BaseException)] == []
    assert max(count for _, count in seen) == 2


def test_more_than_there_are(server_url):
    """An error says how to have more."""
    store = opened(few(server_url, 1), busy_timeout=0.2)
    with store.session("s") as session:
        artifact = session.put(TEXT)
        pool = session._engine.store._connections
        taken = pool.take()
        try:
            with pytest.raises(LockedError, match="connections=N"):
                artifact.read_bytes(0, 10)
        finally:
            pool.give_back(taken)
        assert artifact.read_bytes(0, 10) == TEXT[:10]


def test_cancelled_tasks(server_url):
    """What a cancelled task has begun ends on its thread; connections come back."""

    async def main():
        store = aio.Store(few(server_url, 2), **NO_FLOORS, busy_timeout=20.0)
        async with store.session("s") as session:
            artifact = await session.put(TEXT * 50)
            for delay in itertools.islice(itertools.cycle((0, 0.0005, 0.002)), 60):
                task = asyncio.create_task(artifact.read_bytes(0, 65536))
                other = asyncio.create_task(session.put(TEXT))
                await asyncio.sleep(delay)
                task.cancel()
                other.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
                with contextlib.suppress(asyncio.CancelledError):
                    await other
            assert await artifact.read_bytes(0, 10) == TEXT[:10]
            await session.put(TEXT)
            await session.check()

    asyncio.run(main())


def test_what_the_url_says_of_waiting(server_url):
    """The own parameters of libpq are left as they are."""
    url = f"{server_url}&connect_timeout=7&keepalives_idle=99"
    with opened(url).session("s") as session:
        session.put(TEXT)
        (idle,) = session._engine.store._connections._idle
        found = {each.keyword.decode(): each.val for each in idle.raw.pgconn.info}
        assert (found["connect_timeout"], found["keepalives_idle"]) == (b"7", b"99")
        assert found["tcp_user_timeout"] == b"30000"


@pytest.mark.parametrize(("said", "prepared"), [("on", True), ("off", False)])
def test_what_the_url_says_of_preparing(server_url, said, prepared):
    """What is asked often is prepared, unless the URL forbids it."""
    with opened(f"{server_url}&prepare={said}").session("s") as session:
        for _ in range(10):
            session.artifacts()
        (idle,) = session._engine.store._connections._idle
        assert prepared is bool(idle.fetch("SELECT statement FROM pg_prepared_statements", {}))


def test_who_has_begun_nothing_ends_nothing(server_url):
    """The server, which would warn of a COMMIT without a transaction in its log, gets none."""
    with opened(few(server_url, 1)).session("s") as session:
        connections, warned = session._engine.store._connections, []
        (idle,) = connections._idle
        idle.raw.add_notice_handler(lambda notice: warned.append(notice.message_primary))
        for _ in range(2):
            with Asking(connections, "a test") as server:
                assert [(1,)] == server.ask("SELECT 1")
        assert [] == warned
        idle.raw.execute("COMMIT")
        assert ["there is no transaction in progress"] == warned


def test_a_database_with_other_defaults(server, server_url):
    """Whatever isolation is usual there, writers of one session wait for each other and nobody is refused."""
    database = database_of(server_url)
    server.execute(f"ALTER DATABASE {database} SET default_transaction_isolation = 'serializable'")
    failures = []

    def work():
        try:
            with opened(few(server_url, 4)).session("s") as session:
                for _ in range(10):
                    session.put(TEXT)
        except BaseException as error:
            failures.append(error)

    script = (
        "import sys; from spillstore import Store\n"
        "with Store(sys.argv[1], artifacts_per_minute=0).session('s') as s:\n"
        "    for _ in range(10): s.put(b'text')"
    )
    children = [subprocess.Popen([sys.executable, "-c", script, server_url]) for _ in range(3)]
    work()
    assert [child.wait() for child in children] == [0, 0, 0]
    assert failures == []
    with opened(server_url).session("s") as session:
        wait_until(lambda: len(session.artifacts(limit=99)) == 40)


def test_more_than_a_socket_takes_at_once(server_url):
    """A commit of some megabytes that is no COPY is sent to its end, however little the server reads at a time."""
    block = random.Random(5).randbytes(64 * 1024)
    with Wire(server_url) as wire:
        wire.delay = 0.001
        with Store(wire.url, **NO_FLOORS).session("s") as session:
            for chunks in (1, 8, 16, 31):
                artifact = session.put(block * chunks, redact=False)
                assert artifact.read_bytes(0, artifact.info.size) == block * chunks
