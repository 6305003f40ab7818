"""What a store is called: a folder, a name of no folder, or a URL, whose password nobody is told."""

from __future__ import annotations

import os
import pickle
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from support import NO_FLOORS

from spillstore import Store, aio
from spillstore.exceptions import SessionNotFoundError, StorageError, UsageError
from spillstore.store import address_of, default_root


@pytest.fixture
def password():
    return f"Zq7{secrets.token_hex(8)}"


@pytest.mark.files
def test_a_folder_is_named_by_its_path(plain_store, tmp_path):
    """The folder, the name for messages and the address for other processes are one path."""
    path = tmp_path / "root"
    assert (path, str(path), str(path)) == (plain_store.root, plain_store.name, plain_store.address)
    assert f"Store({str(path)!r})" == repr(plain_store)
    with plain_store.session("s") as session:
        assert (path, str(path)) == (session.root, session.address)
        with Store.open_file(session.path) as alone:
            assert (None, None, session.path) == (alone.root, alone.address, alone.path)


def test_a_relative_folder_has_an_absolute_address(tmp_path, monkeypatch):
    """Another process may work in another folder."""
    monkeypatch.chdir(tmp_path)
    assert str(tmp_path / "kept") == Store("kept").address == address_of("kept") == address_of(Path("kept"))


def test_a_folder_may_be_below_the_home(tmp_path, monkeypatch):
    """A text with ``~`` that no shell has read names the user's home; a path is taken as it is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert str(tmp_path / "home" / "kept") == Store("~/kept").address == address_of("~/kept")
    assert str(tmp_path / "~" / "kept") == Store("./~/kept").address == address_of(Path("~/kept"))
    monkeypatch.setenv("SPILLSTORE_ROOT", "~/kept")
    assert str(tmp_path / "home" / "kept") == Store().address == address_of()


@pytest.mark.parametrize("name", ["", b"kept", 5, "a\0b"])
def test_what_is_no_name_is_refused(name):
    """An empty text would be the working directory, which nobody means."""
    for make in (Store, address_of):
        with pytest.raises(UsageError, match="a store is named by a path or a URL, not"):
            make(name)


@pytest.mark.files
def test_a_folder_may_have_any_name(tmp_path):
    """Bytes that are no UTF-8 too, as file systems of Linux have them, and characters that mean something in a URI."""
    root = f"{tmp_path}/" + os.fsdecode(b"\xff ?#%41")
    try:
        os.mkdir(root)
    except OSError:
        pytest.skip("this file system has names in UTF-8 alone")
    store = Store(root, **NO_FLOORS)
    with store.session("s") as session:
        session.put(b"kept\n")
    with Store(Path(root)).session("s", read_only=True) as session:
        assert [b"kept\n"] == [artifact.read() for artifact in session.artifacts()]
    assert [os.path.basename(root)] == os.listdir(tmp_path)


@pytest.mark.parametrize("make", [Store, aio.Store])
def test_a_store_in_no_folder(make):
    """It has no root, and neither have its sessions; its name is a text, which leads to it, and stands in messages."""
    store = make("dict:names", **NO_FLOORS)
    plain = getattr(store, "plain", store)
    assert (None, "dict:names", "dict:names") == (store.root, store.name, store.address)
    assert "Store('dict:names')" == repr(plain)
    with plain.session("s", "p") as session:
        assert (None, "dict:names", None) == (session.root, session.address, session.path)
        assert "<Session 's' of project 'p' in dict:names/s>" == repr(session)
        assert ["s"] == [info.id for info in Store(session.address).sessions()]
        if make is aio.Store:
            held = aio.Session(session)
            assert (None, "dict:names", None) == (held.root, held.address, held.path)
    with pytest.raises(SessionNotFoundError, match="no session 'x' of project None in dict:names; "):
        plain.session("x", create=False)


def test_the_default_store_may_be_a_server(monkeypatch, tmp_path, password):
    """A URL in the environment stays a URL: no folder is made of it, and its address has no password."""
    monkeypatch.chdir(tmp_path)
    url = f"postgresql://agent:{password}@db.example/spill?connections=2"
    monkeypatch.setenv("SPILLSTORE_ROOT", url)
    assert url == default_root()
    assert "postgresql://agent@db.example/spill?connections=2" == address_of() == address_of(url)
    monkeypatch.setenv("SPILLSTORE_ROOT", url.replace("postgresql", "mysql"))
    with pytest.raises(UsageError, match="no engine for mysql://") as caught:
        Store()
    assert password not in str(caught.value)
    assert [] == os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("root", "message"),
    [
        ("sqlite:////tmp/x", "named by the path of their folder"),
        ("mysql://u:{}@h/d", "no engine for mysql://"),
        ("postgresql+asyncpg://u:{}@h/d", "the driver is psycopg 3"),
        ("postgresql://u:{}/@h/d", "is written %40, %2F or %3F"),
        ("postgresql://u:{}@h/d?conections=1", "did you mean connections"),
        (Path("postgresql://u:{}@h/d"), "with two slashes"),
        (Path("postgresql+psycopg://u:{}@h/d"), "with two slashes"),
    ],
)
def test_urls_that_name_no_store(tmp_path, monkeypatch, password, root, message):
    """Each is refused with its reason, without its password, and nothing is made on the disk."""
    monkeypatch.chdir(tmp_path)
    named = type(root)(str(root).format(password))
    for make in (Store, aio.Store, address_of):
        with pytest.raises(UsageError, match=message) as caught:
            make(named)
        assert password not in str(caught.value)
    assert [] == os.listdir(tmp_path)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
@pytest.mark.parametrize("form", [str, Path])
def test_a_url_is_no_file(password, scheme, form):
    """A session's file is named by its path alone."""
    with pytest.raises(UsageError, match=r"Store\(URL\) opens it") as caught:
        Store.open_file(form(f"{scheme}://u:{password}@h/d"))
    assert password not in str(caught.value)


LACKING = """
import sys
sys.modules["psycopg"] = None  # as if it were not installed
from spillstore import Store
from spillstore.exceptions import UnsupportedError
try:
    Store(sys.stdin.read())
except UnsupportedError as error:
    print(error)
"""


@pytest.mark.long
def test_a_server_needs_psycopg(password):
    """Without it the error says what is to be installed; a folder needs none of it."""
    done = subprocess.run(
        [sys.executable, "-c", LACKING],
        input=f"postgresql://u:{password}@h/d",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "pip install 'spillstore[postgres]'" in done.stdout
    assert password not in done.stdout + done.stderr


@pytest.mark.long
def test_a_folder_imports_nothing_of_servers(tmp_path):
    """Neither the driver, nor what reads URLs."""
    script = (
        "import sys, spillstore; spillstore.Store(sys.argv[1]).session('s').close(); "
        "print([name for name in sys.modules if 'postgres' in name or 'psycopg' in name])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "root"], capture_output=True, text=True, check=True
    )
    assert "[]\n" == done.stdout


def test_a_server_that_does_not_answer(password):
    """It is an error of the environment, which has no password in it."""
    url = f"postgresql://agent:{password}@127.0.0.1:1/spill?connect_timeout=2"
    for use in (lambda store: store.session("s"), lambda store: list(store.sessions()), Store.check):
        with pytest.raises(StorageError) as caught:
            use(Store(url))
        error = caught.value
        while error is not None:
            assert password not in f"{error} {error!r}"
            error = error.__cause__ or error.__context__


def test_a_store_on_a_server_is_not_pickled(password):
    """Bytes that go through a queue or a file have no password in them; a folder's store may go."""
    store = Store(f"postgresql://agent:{password}@127.0.0.1:1/spill")
    with pytest.raises(TypeError, match="hand on its URL") as caught:
        pickle.dumps(store)
    assert password not in str(caught.value)
