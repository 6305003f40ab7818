"""The wire between a client and a server does to it what it was told, and nothing else."""

from __future__ import annotations

import select
import threading
import time

import pytest
from support import wait_until
from wire import Wire

psycopg = pytest.importorskip("psycopg")

CLIENTS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"


@pytest.fixture
def wire(server, server_url):
    with Wire(server_url) as wire:
        yield wire


@pytest.fixture
def connection(wire):
    with psycopg.connect(wire.url, autocommit=True) as connection:
        yield connection
    wire.release()


def ask(connection, statement="SELECT 1"):
    return connection.execute(statement).fetchone()[0]


def pipeline(connection, statements):
    """What each gives; nothing is said behind their end, where psycopg's own pipeline asks once more to be answered."""
    raw = connection.pgconn
    raw.enter_pipeline_mode()
    for statement in statements:
        raw.send_query_params(statement, None)
    raw.pipeline_sync()
    while raw.flush():
        pass
    values, status = [], None
    while status != psycopg.pq.ExecStatus.PIPELINE_SYNC:
        while raw.is_busy():  # waiting in get_result would keep the wire's threads from running
            select.select([raw.socket], [], [])
            raw.consume_input()
        if (result := raw.get_result()) is not None:
            status = result.status
            if status == psycopg.pq.ExecStatus.TUPLES_OK:
                values.append(result.get_value(0, 0))
    raw.exit_pipeline_mode()
    return values


def test_it_passes_all_and_counts(wire, connection):
    """One trip for each question that waits for its answer, however large either is; one for a whole pipeline."""
    for statement, size in (("SELECT 1", 0), (f"SELECT length('{'x' * 1_000_000}')", 1_000_000)):
        before, sent = wire.trips, wire.to_server
        assert ask(connection, statement) in {1, 1_000_000}
        assert wire.trips == before + 1
        assert wire.to_server > sent + size
    before, came = wire.trips, wire.to_client
    assert len(ask(connection, "SELECT repeat('y', 3000000)")) == 3_000_000
    assert wire.trips == before + 1
    assert wire.to_client > came + 3_000_000
    before = wire.trips
    assert pipeline(connection, [b"SELECT 0", b"SELECT 1", b"SELECT 2"]) == [b"0", b"1", b"2"]
    assert wire.trips == before + 1
    assert wire.connections == 1


def test_two_connections_are_counted_each_by_itself(wire, connection):
    """What one says between another's question and answer is a trip of its own."""
    with psycopg.connect(wire.url, autocommit=True) as other:
        before = wire.trips
        slow = threading.Thread(target=ask, args=(connection, "SELECT pg_sleep(0.2)"))
        slow.start()
        wait_until(lambda: wire.trips == before + 1)
        for _ in range(5):
            ask(other)
        slow.join()
        assert wire.trips == before + 6
        assert wire.connections == 2


def test_it_cuts_after_each_byte_of_a_question(wire, server_url):
    """The server has done what was asked if and only if it has got the whole; the client has no answer in any case."""
    with psycopg.connect(server_url, autocommit=True) as direct:
        direct.execute("CREATE TABLE done (value int)")
        with psycopg.connect(wire.url, autocommit=True) as connection:
            before = wire.to_server
            connection.execute("INSERT INTO done VALUES (1)")
            size = wire.to_server - before
        wait_until(lambda: ask(direct, CLIENTS) == 1)  # what a client says when it goes is not to be cut
        for count in (0, 1, size // 2, size - 1, size):
            with psycopg.connect(wire.url, autocommit=True) as connection:
                before = wire.to_server
                wire.cut(to_server=count)
                with pytest.raises(psycopg.OperationalError):
                    connection.execute("INSERT INTO done VALUES (2)")
                assert wire.to_server == before + count
                wait_until(lambda: ask(direct, CLIENTS) == 1)
            assert ask(direct, "SELECT count(*) FROM done") == (2 if count == size else 1)
        with psycopg.connect(wire.url) as connection:
            assert ask(connection) == 1


def test_it_cuts_after_each_byte_of_an_answer(wire, server_url):
    """The server has done it, and the client cannot know unless it got the whole."""
    with psycopg.connect(server_url, autocommit=True) as direct:
        direct.execute("CREATE TABLE done (value int)")
        for count in range(3):
            with psycopg.connect(wire.url, autocommit=True) as connection:
                wire.cut(to_client=count)
                with pytest.raises(psycopg.OperationalError):
                    connection.execute("INSERT INTO done VALUES (2)")
        assert ask(direct, "SELECT count(*) FROM done") == 3
        with psycopg.connect(wire.url, autocommit=True) as connection:
            before = wire.to_client
            assert ask(connection) == 1
            wire.cut(to_client=wire.to_client - before)
            assert ask(connection) == 1
            with pytest.raises(psycopg.OperationalError):
                ask(connection)
            wire.cut(to_client=10)
            wire.mend()
            with psycopg.connect(wire.url, autocommit=True) as again:
                assert ask(again) == 1


def test_it_cuts_all_at_once(wire, connection):
    """Those that come later are whole."""
    wire.cut()
    with pytest.raises(psycopg.OperationalError):
        ask(connection)
    with psycopg.connect(wire.url) as another:
        assert ask(another) == 1


def test_it_delays(wire, connection):
    """Each way by itself."""
    wire.delay = 0.05
    began = time.monotonic()
    assert ask(connection) == 1
    assert time.monotonic() - began >= 0.1


@pytest.mark.parametrize("direction", [{"to_client": False}, {"to_server": False}, {}])
def test_it_holds_in_silence(wire, connection, server_url, direction):
    """Nobody is told; what was held passes later. A question that arrived was answered, if into nothing."""
    with psycopg.connect(server_url, autocommit=True) as direct:
        direct.execute("CREATE TABLE done (value int)")
        wire.hold(**direction)
        asking = threading.Thread(target=connection.execute, args=("INSERT INTO done VALUES (1)",))
        asking.start()
        asking.join(0.1)
        assert asking.is_alive()
        if direction == {"to_server": False}:
            wait_until(lambda: ask(direct, "SELECT count(*) FROM done") == 1)
        else:
            assert ask(direct, "SELECT count(*) FROM done") == 0
        if not direction:  # once is enough for what takes two seconds
            with pytest.raises(psycopg.errors.ConnectionTimeout):
                psycopg.connect(wire.url, connect_timeout=2)
        wire.release()
        asking.join()
        assert ask(direct, "SELECT count(*) FROM done") == 1


def test_it_refuses(wire, connection):
    """New connections alone, until it takes them again."""
    for _ in range(3):
        wire.refuse()
        with pytest.raises(psycopg.OperationalError, match="refused"):
            psycopg.connect(wire.url)
        assert ask(connection) == 1
        wire.accept()
        with psycopg.connect(wire.url) as another:
            assert ask(another) == 1


def test_a_server_that_is_gone(servers):
    """Whoever connects is told, as without the wire."""
    server = servers.new()
    with Wire(server.url()) as wire:
        with psycopg.connect(wire.url, autocommit=True) as connection:
            server.stop()
            with pytest.raises(psycopg.OperationalError):
                ask(connection)
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(wire.url)
        server.start()
        with psycopg.connect(wire.url) as connection:
            assert ask(connection) == 1
    server.stop()


def test_a_port_has_a_wire_as_well(servers):
    """Listening on another port, with the same user and password."""
    server = servers.new(tcp=True)
    with Wire(server.url()) as wire:
        assert "127.0.0.1" in wire.url
        with psycopg.connect(wire.url) as connection:
            assert ask(connection, "SELECT inet_server_port()") == server.socket[1]
        wire.refuse()
        with pytest.raises(psycopg.OperationalError, match="refused"):
            psycopg.connect(wire.url)
        wire.accept()
        psycopg.connect(wire.url).close()
    server.stop()


def test_nothing_is_left(server_url):
    """Neither a thread nor a socket, also when connections are held while it ends."""
    before = threading.active_count()
    with Wire(server_url) as wire:
        held = psycopg.connect(wire.url, autocommit=True)
        wire.hold()
        held.pgconn.send_query(b"SELECT 1")
        held.pgconn.flush()
    assert threading.active_count() == before
    with pytest.raises(psycopg.OperationalError):
        ask(held)
    held.close()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(wire.url)
