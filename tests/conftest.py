"""What every test stands on: an empty environment, a clock to turn, stores whose sessions are checked at the end."""

from __future__ import annotations

import asyncio
import gc
import inspect
import itertools
import os
import signal
import threading
from pathlib import Path

import pytest
from hypothesis import settings
from postgres import own_server, server, server_url, servers  # noqa: F401 - fixtures
from support import DRAWN_WITH, NO_FLOORS, SEED, ManualClock, examples

from spillstore import Store, aio
from spillstore.info import Page

settings.register_profile("default", examples())
settings.load_profile("default")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """Properties draw with our seed. Signals reach what is started, also where the tests were begun in the background, or by ``nohup``."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if SEED and config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = str(SEED)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Nothing of ten thousand tests is garbage: looking for some took a third of collecting them, and later longer than many tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_report_header():
    """What to set for the same examples."""
    return f"drawn with: {DRAWN_WITH}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Whatever fails says what it was drawn with."""
    report = yield
    if report.failed:
        report.sections.append(("drawn with", DRAWN_WITH))
    return report


@pytest.fixture(scope="session")
def default_roots(tmp_path_factory):
    """Names of roots, one for each test; none is made before somebody uses it, which takes longer than most tests."""
    folder = tmp_path_factory.mktemp("default-roots")
    return (str(folder / f"{number}") for number in itertools.count())


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch, default_roots):
    ours = {name for name in os.environ if name.startswith("SPILLSTORE_") and "TEST" not in name}
    for name in ours - {"SPILLSTORE_NATIVE"}:  # which says what a whole run is about
        monkeypatch.delenv(name)
    # Whoever forgets to name a root must not write into the user's own store.
    monkeypatch.setenv("SPILLSTORE_ROOT", next(default_roots))


@pytest.fixture
def clock():
    return ManualClock()


class Loop:
    """An event loop on a thread, for tests that speak to ``spillstore.aio`` as if it were the plain store."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def run(self, awaitable):
        async def wait():
            return await awaitable

        return asyncio.run_coroutine_threadsafe(wait(), self._loop).result()

    def stop(self) -> None:
        self.run(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Blocking:
    """Looks like the plain object of the same name: awaits whatever the async one returns."""

    def __init__(self, inner, loop: Loop) -> None:
        self._inner, self._loop = inner, loop

    def __getattr__(self, name):
        return self._finish(getattr(self._inner, name))

    def _finish(self, value):
        if inspect.ismethod(value) or inspect.isfunction(value):
            return lambda *args, **kwargs: self._finish(value(*args, **kwargs))
        if inspect.isasyncgen(value):
            return self._iterate(value)
        if inspect.isawaitable(value):
            value = self._loop.run(value)
        if isinstance(value, Page):
            return Page([self._finish(item) for item in value], value.cursor)
        return Blocking(value, self._loop) if type(value).__module__ == "spillstore.aio" else value

    def _iterate(self, values):
        while True:
            try:
                yield self._loop.run(anext(values))
            except StopAsyncIteration:
                return

    def __enter__(self):
        self._loop.run(self._inner.__aenter__())
        return self

    def __exit__(self, *error):
        self._loop.run(self._inner.__aexit__(*error))


@pytest.fixture(scope="session")
def loop():
    loop = Loop()
    yield loop
    loop.stop()


# Who asks for one of these starts a server, or a program of ours.
LONG = {"server", "servers", "server_url", "own_server", "program", "start"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Tests of what is on the disk need an engine that puts something there; those of tools, and slow ones, repeat on a server those of folders."""
    gone = []
    for item in items:
        spec = getattr(item, "callspec", None)
        given = spec.params.values() if spec else ()
        if LONG & set(getattr(item, "fixturenames", ())) or any(
            each == "server" for each in given if isinstance(each, str)
        ):
            item.add_marker("long")
        kinds = {spec.params.get(name) for name in ("make_store", "root", "module_root")} if spec else set()
        if item.get_closest_marker("files") and kinds & {"dict", "server"}:
            gone.append(item)
        elif "server" in kinds:
            everywhere = item.get_closest_marker("everywhere")
            if everywhere is not None:
                item.add_marker("slow")
            if item.get_closest_marker("slow"):
                item.add_marker("repeat")
    config.hook.pytest_deselected(items=gone)
    items[:] = [item for item in items if item not in set(gone)]


@pytest.fixture(params=["plain", pytest.param("aio", marks=pytest.mark.slow), "dict", "server"])
def make_store(request, tmp_path, loop):
    """Makes stores of all kinds (``dict``: of dictionaries); when the test ends, every session left in them is checked.

    ``spillstore.aio`` hands each call on to the plain store, so it is not among the quick tests but where it is the subject.
    """
    roots: set[str | Path] = set()
    databases = {}

    def make(root=None, **options):
        if request.param == "server":
            databases_of = request.getfixturevalue("server")
            if root not in databases:
                databases[root] = databases_of.new_database()
            url = databases_of.url(databases[root])
            roots.add(url)
            return Store(url, **options)
        root = Path(root or tmp_path / "root")
        options = {**NO_FLOORS, **options}
        if request.param == "dict":
            roots.add(f"dict:{root}")
            return Store(f"dict:{root}", **options)
        roots.add(root)
        return (
            Store(root, **options) if request.param == "plain" else Blocking(aio.Store(root, **options), loop)
        )

    make.databases = databases
    yield make
    for root in roots:
        Store(root).check()
    for name in databases.values():
        request.getfixturevalue("server").drop_database(name)


@pytest.fixture
def elapse(request, make_store, clock):
    """Lets seconds pass, for clients by their clock and for servers, which have their own, by what they have noted."""

    def elapse(seconds):
        clock.advance(seconds)
        for name in make_store.databases.values():
            sql = f"UPDATE spillstore.place SET used_at = used_at - make_interval(secs => {seconds})"
            request.getfixturevalue("server").execute(sql, name)

    return elapse


@pytest.fixture
def store(make_store):
    return make_store()


@pytest.fixture(params=["folder", "server"])
def root(request, tmp_path):
    """Where a store can be: a folder that is not there yet, and the database of a server. ``Store(root)`` is a store there."""
    return tmp_path / "root" if request.param == "folder" else request.getfixturevalue("server_url")


@pytest.fixture(scope="module", params=["folder", pytest.param("server", marks=pytest.mark.slow)])
def module_root(request, tmp_path_factory):
    """The same for all tests of a module, which share what is stored in it; what takes so many reads is slow on a server."""
    if request.param == "folder":
        yield tmp_path_factory.mktemp("module") / "root"
        return
    databases = request.getfixturevalue("server")
    name = databases.new_database()
    yield databases.url(name)
    databases.drop_database(name)


@pytest.fixture
def plain_store(root):
    """A plain store, in a folder and on a server, for what has no async form, or where both forms would test the same twice.

    When the test ends, every session in it is checked.
    """
    store = Store(root, **NO_FLOORS)
    yield store
    store.check()


@pytest.fixture
def session(store):
    with store.session("test", project="tests") as session:
        yield session
