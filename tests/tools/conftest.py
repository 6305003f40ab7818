"""The command line as a process, and within this one where a process would only cost time."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
import tempfile
import threading
from typing import NamedTuple

import pytest
from support import replaced

from spillstore import Store
from spillstore_tools.cli import _invoke

PROGRAM = [sys.executable, "-m", "spillstore_tools.cli"]
TIMEOUT = 120


class Answer(NamedTuple):
    """What a command did."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def json(self):
        return json.loads(self.out)


def pytest_generate_tests(metafunc):
    """Tests with the mark ``everywhere`` run on a server, too."""
    marked = metafunc.definition.get_closest_marker
    if "root" in metafunc.fixturenames and marked("everywhere") and not marked("files"):
        metafunc.parametrize("root", ["folder", "server"], indirect=True)


@pytest.fixture
def root(request, tmp_path, monkeypatch):
    """The store that commands find by the environment; all that is left in it is checked when the test ends."""
    on_server = getattr(request, "param", "folder") == "server"
    root = request.getfixturevalue("server_url") if on_server else tmp_path / "root"
    monkeypatch.setenv("SPILLSTORE_ROOT", str(root))
    monkeypatch.setenv("SPILLSTORE_FREE_DISK_FLOOR", "0")
    monkeypatch.chdir(tmp_path)  # outside of any repository, so that the session is ``default``
    yield root
    Store(root).check()


@pytest.fixture
def store(root):
    return Store(root)


@pytest.fixture
def put(store):
    """Stores content in the default session and returns the artifact's id."""

    def put(data, **meta):
        with store.session("default") as session:
            return session.put(data, **meta).id

    return put


@pytest.fixture
def rolled(store):
    """An artifact of 1,000 lines of which the middle was dropped."""
    with store.session("default") as session:
        lines = b"".join(b"line %07d\n" % number for number in range(1, 1001))
        return session.put(lines, limit=4096, policy="roll").id


@pytest.fixture
def cli(root, capfdbinary):
    """Calls a command within this process."""

    def call(*arguments, env=None, stdin=None) -> Answer:
        capfdbinary.readouterr()
        with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryFile() as file:
            for name, value in (env or {}).items():
                patch.setenv(name, value)
            if stdin is None:
                code = invoked(arguments)
            else:
                file.write(stdin)
                file.seek(0)
                with replaced(file.fileno(), 0), open(0, closefd=False) as patched:
                    patch.setattr(sys, "stdin", patched)
                    code = invoked(arguments)
        out, err = capfdbinary.readouterr()
        return Answer(code, out, err.decode())

    return call


def invoked(arguments):
    """Call a command within this process; its exit code."""
    try:
        return _invoke([str(argument) for argument in arguments])
    except SystemExit as end:  # of what a shell asks for to complete a word
        return end.code


@pytest.fixture
def at_terminal(root):
    """Calls a command at a pseudo-terminal, within this process: what it prints, with plain line ends."""

    def call(*arguments, **environment) -> Answer:
        master, slave = pty.openpty()
        seen = []

        def read():
            with contextlib.suppress(OSError):  # nobody holds the other end any more
                while data := os.read(master, 65536):
                    seen.append(data)

        reader = threading.Thread(target=read)
        reader.start()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {"TERM": "xterm", "LESS": "", **environment}.items():
                patch.setenv(name, value)
            with (
                replaced(slave, 0, 1, 2),
                open(0, closefd=False) as stdin,
                open(1, "w", closefd=False) as stdout,
                open(2, "w", closefd=False, buffering=1) as stderr,
            ):
                os.close(slave)
                for name, stream in (("stdin", stdin), ("stdout", stdout), ("stderr", stderr)):
                    patch.setattr(sys, name, stream)
                code = invoked(arguments)
        reader.join()
        os.close(master)
        return Answer(code, b"".join(seen).replace(b"\r\n", b"\n"), "")

    return call


@pytest.fixture
def program(root):
    """Calls a command as a process of its own."""

    def call(*arguments, env=None, stdin=b"", timeout=TIMEOUT) -> Answer:
        done = subprocess.run(
            [*PROGRAM, *map(str, arguments)],
            input=stdin,
            env={**os.environ, **(env or {})},
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr.decode())

    return call


@pytest.fixture
def start(root):
    """Starts a command as a process of its own, which is ended with the test."""
    with contextlib.ExitStack() as stack:

        def call(*arguments, **options):
            options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
            process = subprocess.Popen([*PROGRAM, *map(str, arguments)], **options)
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield call
