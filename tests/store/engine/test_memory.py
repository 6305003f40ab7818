"""Stores in memory: where they lie, who may look, and that they end with their process."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from spillstore import Store, aio
from spillstore.engine.sqlite import tmpfs_root
from spillstore.engine.sqlite.database import file_system
from spillstore.exceptions import SpillstoreError, UnsupportedError, UsageError

pytestmark = pytest.mark.skipif(file_system("/dev/shm") != "tmpfs", reason="there is no /dev/shm")

PROGRAM = """
import os, signal, sys
from spillstore import Store
store = Store(None if "SPILLSTORE_ROOT" in os.environ else "memory:")
session = store.session("test")
artifact = session.put("secret")
writer = session.create()
writer.write("open to the end")
print(store.root, flush=True)
if sys.argv[1] == "fork" and not os.fork():
    inner = Store("memory:")
    assert inner.root != store.root
    assert list(inner.sessions()) == []
    print(inner.root, flush=True)
    sys.exit()
if sys.argv[1] == "fork":
    os.wait()
    assert session.artifact(artifact.id).read_bytes(0, 9) == b"secret"
if sys.argv[1] == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
"""


def run(how, **environment):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, how],
        capture_output=True,
        text=True,
        check=False,
        env={**{key: value for key, value in os.environ.items() if key != "SPILLSTORE_ROOT"}, **environment},
    )
    assert "" == done.stderr
    return done.returncode, [Path(line) for line in done.stdout.split()]


def test_it_lies_in_memory_for_its_owner_alone(tmp_path, monkeypatch):
    """One private folder a process, on a tmpfs; all that a store can do can be done there."""
    monkeypatch.chdir(tmp_path)
    store = Store("memory:")
    assert store.root == Store("memory:").root == aio.Store("memory:").root
    assert "tmpfs" == file_system(store.address)
    assert 0o700 == stat.S_IMODE(store.root.stat().st_mode)
    with store.session("test") as session:
        assert b"two\n" == session.put("one\ntwo\n").read_lines(2, 2)
        session.check()
        session.delete()
    assert [] == list(tmp_path.iterdir())


def test_it_takes_no_more_than_its_share():
    """The quotas are at most half of what was free; a smaller one that is set counts."""
    found = os.statvfs("/dev/shm")
    settings = Store("memory:").settings
    assert 0 < settings.store_quota <= found.f_blocks * found.f_frsize // 2
    assert settings.session_quota <= settings.store_quota
    assert 2**20 == Store("memory:", session_quota=2**20).settings.session_quota


@pytest.mark.long
@pytest.mark.parametrize("environment", [{}, {"SPILLSTORE_ROOT": "memory:"}])
def test_it_goes_with_its_process(environment):
    """When the interpreter exits nothing is left, though a writer was open."""
    code, (root,) = run("end", **environment)
    assert 0 == code
    assert "/dev/shm/spillstore-" in str(root)
    assert not root.exists()


@pytest.mark.long
def test_a_forked_child_has_its_own():
    """The end of a child takes the child's folder along and leaves the parent's."""
    code, roots = run("fork")
    assert 0 == code
    assert 2 == len(set(roots))
    assert not any(root.exists() for root in roots)


@pytest.mark.fault
def test_the_next_process_removes_what_a_killed_one_left(monkeypatch):
    """After kill -9 the folder is there until another process makes one; that of a living process stays."""
    living = Store("memory:").root
    code, (root,) = run("kill")
    assert -signal.SIGKILL == code
    assert root.is_dir()
    run("end")
    assert not root.exists()
    assert living.is_dir()


def test_without_memory_it_is_refused(monkeypatch, tmp_path):
    """Where no file system lies in memory the error names the places and the way out."""
    monkeypatch.setattr(tmpfs_root, "_made", None)
    monkeypatch.setattr(tmpfs_root, "file_system", lambda _: "ext4")
    with pytest.raises(UnsupportedError, match=r"/dev/shm .* name a folder"):
        Store("memory:")
    assert issubclass(UnsupportedError, SpillstoreError)


def test_a_name_behind_memory_is_refused(tmp_path, monkeypatch):
    """It would be a folder on the disk, where somebody meant a store in memory."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        UsageError, match=r"'memory:mine' is no store: .* for a folder of that name, \./memory:mine"
    ):
        Store("memory:mine")
    Store("./memory:mine").session("s").close()
    assert (tmp_path / "memory:mine").is_dir()
