"""A root that others can write in: links, pipes, second names, foreign owners and planted files lead nowhere."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import hostile
import pytest
from support import NO_FLOORS, tries

from spillstore import Store
from spillstore.engine.sqlite import folders
from spillstore.exceptions import (
    IntegrityError,
    SpillstoreError,
    TargetExistsError,
    UnsafeRootError,
)

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give files away")
NOBODY = 65534


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "root", **NO_FLOORS)
    with store.session("test", project="web") as session:
        session.put(b"kept\n")
    return store


def folder_of(store):
    return store.root / "web" / "test"


def in_time(action):
    """What ``action`` returns or raises; a test that waits for a pipe fails instead of hanging."""
    out = []

    def work():
        try:
            out.append((action(), None))
        except SpillstoreError as error:
            out.append((None, error))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(120)
    assert out, "it waits for ever"
    value, error = out[0]
    if error is not None:
        raise error
    return value


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("part", ["root", "project", "session", "file"])
@pytest.mark.parametrize("kind", ["link", "pipe", "file"])
def test_what_is_no_folder_or_file_is_refused(store, tmp_path, part, kind, read_only):
    """A link, a pipe or a file in place of the root, a project or a session, and a link, pipe or folder in place of its file."""
    folder = folder_of(store)
    target = {"root": store.root, "project": folder.parent, "session": folder, "file": folder / "session.db"}[
        part
    ]
    elsewhere = tmp_path / "elsewhere"
    target.rename(elsewhere)
    if kind == "link":
        target.symlink_to(elsewhere)
    elif kind == "pipe":
        os.mkfifo(target)
    elif part == "file":
        target.mkdir()
    else:
        target.write_bytes(b"")
    with pytest.raises(UnsafeRootError):
        in_time(lambda: store.session("test", project="web", read_only=read_only))


@as_root
@pytest.mark.parametrize("part", ["project", "session", "file"])
def test_what_belongs_to_somebody_else_is_refused(store, part):
    """A project, a session or its file that belongs neither to us nor to who owns the root; a whole foreign root is read."""
    folder = folder_of(store)
    target = {"project": folder.parent, "session": folder, "file": folder / "session.db"}[part]
    os.chown(target, NOBODY, NOBODY)
    for read_only in (True, False):
        with pytest.raises(UnsafeRootError, match="belongs to user 65534"):
            store.session("test", project="web", read_only=read_only)
    os.chown(store.root, NOBODY, NOBODY)
    with store.session("test", project="web", read_only=True) as session:
        session.check()


@pytest.mark.parametrize("part", ["session", "file"])
def test_what_everybody_can_write_is_refused(store, part):
    """A session's folder or file that everybody may write: it is named with the command that puts it right."""
    target = folder_of(store) if part == "session" else folder_of(store) / "session.db"
    target.chmod(0o777)
    with pytest.raises(UnsafeRootError, match="chmod o-w"):
        store.session("test", project="web")
    target.chmod(0o700)
    store.session("test", project="web").close()


def test_a_root_that_everybody_can_write_is_used_safely(tmp_path):
    """As ``/tmp`` is: sessions made in it are private, with any umask."""
    root = tmp_path / "shared"
    root.mkdir()
    root.chmod(0o1777)
    old = os.umask(0)
    try:
        with Store(root, **NO_FLOORS).session("x" * 200, project="Y" * 200) as session:
            session.put(b"x")
            for path in root.rglob("*"):
                expected = 0o700 if path.is_dir() else 0o600
                assert expected == stat.S_IMODE(path.lstat().st_mode), path
    finally:
        os.umask(old)


def test_a_file_with_two_names_is_not_written(store):
    """A hard link of a session's file: it can be read, as from a backup, and not be written, which would change both."""
    os.link(folder_of(store) / "session.db", store.root / "backup.db")
    with pytest.raises(UnsafeRootError, match="2 names"):
        store.session("test", project="web")
    with store.session("test", project="web", read_only=True) as session:
        session.check()


@pytest.mark.parametrize("how", ["link", "copy", "folder"])
def test_a_session_in_anothers_place_is_refused(store, how):
    """One session's file or folder put where another's belongs: it says whose it is, and nothing is read or written."""
    with store.session("victim", project="web") as session:
        session.put(b"secret of the victim")
    victim = store.root / "web" / "victim"
    attacker = store.root / "web" / "test"
    if how == "folder":
        shutil.rmtree(attacker)
        victim.rename(attacker)
    else:
        (attacker / "session.db").unlink()
        (os.link if how == "link" else shutil.copy)(victim / "session.db", attacker / "session.db")
    with pytest.raises(IntegrityError, match="holds session 'victim'"):
        store.session("test", project="web", read_only=True)
    with pytest.raises((IntegrityError, UnsafeRootError)):
        store.session("test", project="web")


@pytest.mark.parametrize("name", [".trash", ".gone-0123", "linked"])
def test_what_a_link_leads_to_is_never_emptied(store, tmp_path, name):
    """A link in the root, whatever its name: neither deleting nor collecting touches what it leads to."""
    victim = tmp_path / "victim"
    (victim / ".gone-0123").mkdir(parents=True)
    (victim / ".gone-0123" / "file").write_bytes(b"precious")
    (store.root / name).symlink_to(victim)
    store.collect(older_than=0)
    with store.session("test", project="web") as session:
        session.delete()
    assert b"precious" == (victim / ".gone-0123" / "file").read_bytes()
    assert [".gone-0123"] == os.listdir(victim)


EXCHANGER = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
if os.geteuid() == 0:
    os.setgid(65534); os.setuid(65534)
root, name = int(sys.argv[1]), sys.argv[2].encode()
print(flush=True)
while True:
    libc.renameat2(root, name, root, b"swap", 2)  # RENAME_EXCHANGE
"""


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RENAME_EXCHANGE is Linux's")
@pytest.mark.parametrize(
    ("mode", "name"), [(0o777, ".trash"), (0o777, "web"), (0o770, "web"), (0o770, ".trash")]
)
def test_what_is_exchanged_all_the_time_is_never_removed_through(tmp_path, mode, name):
    """Somebody who can write in the root exchanges a folder of it with a link to ours while we collect: all stays there.

    A root that everybody can write and rename in is refused; in that of a group, links are not followed at any moment.
    """
    root, home = tmp_path / "root", tmp_path / "home"
    store = Store(root, **NO_FLOORS)
    with store.session("test", project="web") as session:
        session.put(b"kept")
    (root / ".trash").mkdir(exist_ok=True)
    for number in range(3):
        (home / f".gone-{number}").mkdir(parents=True)
        (home / f"documents{number}").mkdir()
    (root / "swap").symlink_to(home)
    os.chmod(root, mode)
    if os.geteuid() == 0:
        os.chown(root, 0, NOBODY)
    descriptor = os.open(root, os.O_RDONLY)  # whatever lies above
    command = [sys.executable, "-c", EXCHANGER, str(descriptor), name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[descriptor]) as attacker:
        os.close(descriptor)
        attacker.stdout.readline()
        try:
            for _ in range(tries(300)):
                with contextlib.suppress(UnsafeRootError):
                    store.collect(older_than=1e9)
        finally:
            attacker.kill()
    assert 6 == len(os.listdir(home))


def test_a_root_in_which_everybody_can_rename_is_refused(store):
    """Without the sticky bit the next folder opened may be somebody else's; the command that puts it right is named."""
    store.root.chmod(0o777)
    with pytest.raises(UnsafeRootError, match=r"chmod \+t"):
        store.session("test", project="web")
    with pytest.raises(UnsafeRootError, match=r"chmod \+t"):
        store.collect()
    store.root.chmod(0o1777)
    store.session("test", project="web").close()


def plant(path, kind, victim):
    """Put something in place of one of the store's own files."""
    path.unlink(missing_ok=True)
    if kind == "link":
        path.symlink_to(victim)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "second name":
        os.link(victim, path)
    else:
        path.write_bytes(b"99999999999999999 %r 0.000001\n" % time.time())
        path.chmod(0o666 if kind == "open" else 0o644)
        if kind == "foreign":
            os.chown(path, NOBODY, NOBODY)


PLANTED = ["link", "pipe", "folder", "second name", "open", pytest.param("foreign", marks=as_root)]


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_size_is_neither_believed_nor_written_through(store, tmp_path, caplog, kind):
    """In place of the file with the store's size: nobody waits, nothing else is emptied, and it is told once."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious" * 100)
    plant(store.root / ".size", kind, victim)
    full = Store(store.address, store_quota=10**9, **NO_FLOORS)
    with in_time(lambda: full.session("new")) as session:
        in_time(lambda: session.put(b"x"))
    in_time(full.collect)
    assert b"precious" * 100 == victim.read_bytes()
    assert 1 == [record.getMessage() for record in caplog.records].count("a file of the store is not used")


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize("where", ["root", "project"])
def test_planted_kept_events_are_neither_used_nor_in_the_way(tmp_path, where, kind):
    """In place of the file with events of deleted sessions: deleting works, ours are kept, theirs are not touched."""
    store = Store(tmp_path / "root", audit_keep=True, **NO_FLOORS)
    with store.session("test", project="web") as session:
        session.put(b"x")
        victim = tmp_path / "victim"
        victim.write_bytes(b"precious" * 100)
        plant(store.root / "audit.db" if where == "root" else store.root / "web" / ".audit.db", kind, victim)
        in_time(session.delete)
    found = in_time(lambda: store.deleted_events("test", "web"))
    assert ["delete_session", "seal", "create"] == [event.kind for event in found]
    assert b"precious" * 100 == victim.read_bytes()
    assert (where == "project") == bool(store.collect().damaged)


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_planted_mark_of_the_last_collection_is_not_followed(store, tmp_path, kind):
    """A link, pipe or folder in place of the file whose time says when was collected last: nothing else gets a new time."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"x")
    os.utime(victim, (1, 1))
    stamp = store.root / ".collected"
    stamp.unlink(missing_ok=True)
    if kind == "link":
        stamp.symlink_to(victim)
    elif kind == "pipe":
        os.mkfifo(stamp)
    else:
        stamp.mkdir()
    os.utime(stamp, (1, 1), follow_symlinks=False)
    in_time(lambda: store.session("new")).close()
    assert 1 == victim.stat().st_mtime


@pytest.mark.parametrize("kind", ["pipe", "link", "dangling", "folder", "device", "noise", "deep"])
def test_a_planted_lock_file_confuses_nobody(store, tmp_path, kind):
    """What looks like an owner's file and is none: nobody waits for it or takes it for alive, and the session works."""
    planted = folder_of(store) / "owner-0123456789abcdef.lock"
    if kind == "pipe":
        os.mkfifo(planted)
    elif kind == "folder":
        planted.mkdir()
    elif kind in {"link", "dangling", "device"}:
        planted.symlink_to(
            {"link": folder_of(store) / "session.db", "dangling": "nowhere", "device": "/dev/zero"}[kind]
        )
    else:
        planted.write_bytes(b"[" * 10**6 if kind == "deep" else os.urandom(1000))
    assert [False] == in_time(lambda: [info.live for info in store.sessions()])
    (folder_of(store) / "owner-.lock").write_bytes(b"")
    (folder_of(store) / "owner-evil\n.lock").write_bytes(b"")

    def use():
        with store.session("test", project="web") as session:
            session.check()
            return session.put(b"more").id

    assert in_time(use).startswith("art_")


@pytest.mark.parametrize("kind", ["pipe", "link", "other", "huge", "none"])
def test_a_planted_id_file_names_no_other_session(tmp_path, kind):
    """The file with a long id: a pipe, a link, another id or a gigabyte in its place, and the folder is nobody's."""
    store = Store(tmp_path / "root", **NO_FLOORS)
    name = "X" * 150
    store.session(name).close()
    (folder,) = [path.parent for path in store.root.rglob("session.db")]
    file = folder / "id"
    file.unlink()
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "link":
        (tmp_path / "id").write_text(name)
        file.symlink_to(tmp_path / "id")
    elif kind == "other":
        file.write_text("another")
    elif kind == "huge":
        with file.open("wb") as out:
            out.truncate(2**30)
    assert [] == in_time(lambda: list(store.sessions()))


@pytest.mark.parametrize("overwrite", [True, False])
def test_an_export_never_follows_a_link(store, tmp_path, overwrite):
    """A link where an export goes: it is replaced, or the export refused; what it leads to stays as it was."""
    victim, target = tmp_path / "victim", tmp_path / "out"
    victim.write_bytes(b"precious")
    target.symlink_to(victim)
    with store.session("test", project="web") as session:
        (artifact,) = session.artifacts()
        if overwrite:
            artifact.export(target, overwrite=True)
            assert b"kept\n" == target.read_bytes()
            assert not target.is_symlink()
        else:
            with pytest.raises(TargetExistsError):
                artifact.export(target)
    assert b"precious" == victim.read_bytes()


def test_an_export_replaces_a_second_name_and_not_its_content(store, tmp_path):
    """A hard link or a pipe where an export goes is replaced; the other name keeps its content, nobody waits."""
    victim, target = tmp_path / "victim", tmp_path / "out"
    victim.write_bytes(b"precious")
    os.link(victim, target)
    with store.session("test", project="web") as session:
        (artifact,) = session.artifacts()
        artifact.export(target, overwrite=True)
        os.mkfifo(tmp_path / "pipe")
        in_time(lambda: artifact.export(tmp_path / "pipe", overwrite=True))
    assert b"precious" == victim.read_bytes()
    assert b"kept\n" == target.read_bytes() == (tmp_path / "pipe").read_bytes()


def test_a_uid_that_is_a_path_moves_nothing(store, tmp_path):
    """The name under which a deleted session goes to the trash is in its file; one that climbs out is refused."""
    path = folder_of(store) / "session.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE session SET uid = '../../../escaped', deleted_us = 1")
        hostile.reseal(connection)
    with pytest.raises(IntegrityError, match="uid"):
        store.session("test", project="web")
    store.collect(older_than=-1)
    assert not list(tmp_path.rglob("escaped"))
    assert Path(path).exists()


def test_a_file_of_the_store_that_is_a_link_is_told_as_unsafe(tmp_path):
    """Not as an error of the system; one that is missing is."""
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with folders.open_root(tmp_path) as root:
        with pytest.raises(UnsafeRootError, match="none of the store's own files"):
            root.own("link", os.O_RDONLY)
        with pytest.raises(FileNotFoundError):
            root.own("missing", os.O_RDONLY)
