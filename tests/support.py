"""What several tests share and none owns."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import os
import random
import shutil
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from spillstore import _native

# How many times the usual number of examples a property is tried with, and how often a process is killed.
FACTOR = float(os.environ.get("SPILLSTORE_TEST_FACTOR", "1"))
ROUNDS = int(os.environ.get("SPILLSTORE_TEST_ROUNDS", "6"))
# What examples and damage are drawn with. Without a seed they are the same in every run, so that a change is judged by what
# it changes; a longer run without one draws its own, here in the first process, and the others inherit it.
if FACTOR > 1:
    os.environ.setdefault("SPILLSTORE_TEST_SEED", str(random.SystemRandom().randrange(1, 2**31)))
SEED = int(os.environ.get("SPILLSTORE_TEST_SEED", "0"))
# Of places, calls or rows that a test goes over one by one, every so-manyth is tried with fewer examples than usual.
STEP = max(1, round(1 / FACTOR))
DRAWN_WITH = f"SPILLSTORE_TEST_SEED={SEED} SPILLSTORE_TEST_FACTOR={FACTOR:g} SPILLSTORE_TEST_ROUNDS={ROUNDS}"

ROOT = Path(__file__).parents[1]  # of the project


def _why_not_native() -> str:
    """Why the native functions are not used by these tests; nothing where they are."""
    if os.environ.get("SPILLSTORE_NATIVE") == "0":
        return "SPILLSTORE_NATIVE=0 leaves the native functions alone"
    if _native.path() is None:
        return "the native functions were not built"
    return "" if _native.library() is not None else "the native functions were built for another platform"


# Without them there is nothing to test; a library of another version is no reason to skip, but makes tests fail.
WITHOUT_NATIVE = _why_not_native()
native = pytest.mark.skipif(WITHOUT_NATIVE != "", reason=WITHOUT_NATIVE or "they are there")

# What the machine happens to have free is not what these tests are about.
NO_FLOORS = {"free_disk_floor": 0, "artifacts_per_minute": 0}


def each_of(names, rows):
    """Tries a test with each row of a table of many small ones, and tells all that fail; else like ``pytest.mark.parametrize``.

    A test for each row would cost 5 ms more a row: in fixtures, reports, and messages between processes. Here the rows
    share their fixtures.
    """
    names = [name.strip() for name in names.split(",")]
    rows = list(rows)
    assert rows

    def decorate(function):
        @functools.wraps(function)
        def test(**fixtures):
            failed = []
            for row in rows:
                values = row if len(names) > 1 else (row,)
                try:
                    function(**fixtures, **dict(zip(names, values, strict=True)))
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"with {names} = {values!r}"[:2000])
                    failed.append(error)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(rows)} rows", failed)

        signature = inspect.signature(function)
        left = [each for name, each in signature.parameters.items() if name not in names]
        test.__signature__ = signature.replace(parameters=left)
        return test

    return decorate


TABLES = ("session", "artifact", "chunk", "event", "place")


@contextlib.contextmanager
def rows_of(where, session_id=None):
    """``execute(statement, *parameters)`` on the rows of one session, behind our back: its file's, or a server's.

    ``where`` is the session, or a store where ``session_id`` is given. The statement is one of SQLite and of PostgreSQL
    alike, with ``?`` for each parameter; it sees the rows of this session alone, and is committed at once. What it gives
    is a list of rows.
    """
    name, project = (where.id, where.project) if session_id is None else (session_id, None)
    if where.root is not None:
        path = where.root / (project or "_") / name / "session.db"
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            yield lambda statement, *parameters: connection.execute(statement, parameters).fetchall()
        return
    import psycopg  # an extra of the package

    with psycopg.connect(where.address, autocommit=True) as connection:
        [(key,)] = connection.execute(
            "SELECT session_key FROM spillstore.session WHERE session_id = %s AND project_id IS NOT DISTINCT FROM %s",
            (name, project),
        ).fetchall()
        for table in TABLES:  # a temporary name comes before all others
            connection.execute(
                f"CREATE TEMPORARY VIEW {table} AS SELECT * FROM spillstore.{table} WHERE session_key = {key}"
            )

        def execute(statement, *parameters):
            cursor = connection.execute(statement.replace("%", "%%").replace("?", "%s"), parameters)
            return cursor.fetchall() if cursor.description else []

        yield execute


def damage(session, statement, *parameters):
    """Execute one statement on the rows of a session, as ``rows_of`` does; the rows it gives."""
    with rows_of(session) as execute:
        return execute(statement, *parameters)


@contextlib.contextmanager
def locked(session):
    """Nobody can write into a session meanwhile: another holds what writers wait for."""
    with rows_of(session) as execute:
        if session.root is None:
            execute("BEGIN")
            execute("SELECT * FROM place FOR UPDATE")
        else:
            execute("BEGIN IMMEDIATE")
        yield
        execute("ROLLBACK")


def is_untouched(root):
    """Whether nothing was stored there: there is no folder, or the server has no session."""
    from spillstore import Store

    return not list(Store(root).sessions()) if isinstance(root, str) else not root.exists()


def outlive(store, but=""):
    """Who was killed is dead at once on the machine itself; for a server, when its lease has run out: it has, now.

    Not those who have the session ``but`` open.
    """
    if store.root is None:
        import psycopg

        with psycopg.connect(store.address) as connection:
            connection.execute(
                "UPDATE spillstore.claim SET beat = beat - interval '1 hour'"
                " WHERE session_key NOT IN (SELECT session_key FROM spillstore.place WHERE session_id = %s)",
                (but,),
            )


def make_old(session, age):
    """As if a session had last been written ``age`` seconds ago."""
    if session.root is None:
        damage(session, "UPDATE place SET used_at = now() - make_interval(secs => ?)", age)
        return
    for path in (session.root / (session.project or "_") / session.id).iterdir():
        os.utime(path, (time.time() - age, time.time() - age))


class ManualClock:
    """Time that stands still until a test moves it."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


def tries(count: int) -> int:
    """How often a test tries what ``count`` times is usual for: of examples, or of races that must never be lost."""
    return max(round(count * FACTOR), min(count, 5))


def places_to_cut(size: int, shift: int = 0) -> range:
    """Every place between the bytes of a text, or with fewer examples than usual every ``STEP``-th, the first one by ``shift``."""
    return range(1 + shift % STEP, size, STEP)


def examples(count: int = 60, **options) -> settings:
    """The settings of a property that is tried with ``count`` examples."""
    return settings(
        max_examples=tries(count),
        derandomize=not SEED,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        **options,
    )


def dice(number: object = 0) -> random.Random:
    """Numbers drawn for a test of that name or number: the same in each run without a seed, others with each seed."""
    return random.Random(f"{SEED} {number}" if SEED else number)


def alive(pid):
    """Whether a process runs, zombies not counted."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


def soon(condition, seconds=120.0):
    """Wait for what must come, however slow the machine is; whether it came before a test would seem to hang."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def wait_until(condition, seconds=120.0):
    """Wait for what must come; how soon is not what a test is about."""
    assert soon(condition, seconds), "it never came"


@contextlib.contextmanager
def not_for_ever(seconds=60.0):
    """What is computed within ends. The bound is no measure of speed: it tells seconds of a processor from hours."""
    began = time.process_time()
    yield
    assert time.process_time() - began < seconds


@contextlib.contextmanager
def rolling(root, limit):
    """A session and the id of its artifact, which drops its middle all the while: line N is ``line N-1`` in nine digits."""
    from spillstore import Store  # most who need this module need no store

    ended = threading.Event()
    store = Store(root, artifact_limit=limit, **NO_FLOORS)
    with store.session("rolls") as session, session.create(source="x") as writer:

        def write():
            number = 0
            while not ended.is_set():
                writer.write(b"".join(b"line %09d\n" % each for each in range(number, number + 5000)))
                number += 5000

        thread = threading.Thread(target=write)
        thread.start()
        try:
            yield session, writer.id
        finally:
            ended.set()
            thread.join()


@contextlib.contextmanager
def small_disk(folder, size):
    """A disk of its own for a folder, of ``size`` as mount understands it; skips the test where this user may not mount."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this user may not mount")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def compiler_here(*names):
    """The first of these commands, or of those that build the package, that this machine has; None where it has none."""
    return next(filter(None, map(shutil.which, names or ("cc", "gcc", "clang"))), None)


def a_compiler(*names):
    """The same; skips the test where there is none."""
    found = compiler_here(*names)
    if found is None:
        pytest.skip("this machine has no C compiler")
    return found


def compiled_library(folder, source):
    """A shared library of this C source."""
    (folder / "made.c").write_text(source)
    library = folder / "made.so"
    subprocess.run([a_compiler(), "-shared", "-fPIC", "-o", str(library), str(folder / "made.c")], check=True)
    return library


def fill(folder):
    """Take what is free on the disk of a folder, to the last byte."""
    with contextlib.suppress(OSError), open(os.path.join(folder, "fill"), "ab", buffering=0) as file:
        while True:
            file.write(bytes(4096))


@contextlib.contextmanager
def replaced(descriptor, *numbers):
    """Let another file stand at these numbers for a while."""
    saved = {number: os.dup(number) for number in numbers}
    for number in numbers:
        os.dup2(descriptor, number)
    try:
        yield
    finally:
        for number, before in saved.items():
            os.dup2(before, number)
            os.close(before)


def imported(name):
    """A module of ours; None for an adapter whose framework is not installed."""
    try:
        return importlib.import_module(name)
    except (
        ImportError
    ) as error:  # a folder of our tests has the name ``agents``, as a framework has, and lacks what that has
        if not name.startswith("spillstore_tools.adapters.") or (error.name or "").startswith("spillstore"):
            raise
        return None
