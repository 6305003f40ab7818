"""What is under way when a session is closed, deleted or forked leaves nothing open and nothing counted."""

from __future__ import annotations

import os
import shutil

import pytest
from support import NO_FLOORS

from spillstore import Store
from spillstore.engine.sqlite import forks
from spillstore.engine.sqlite.session_file import is_open
from spillstore.exceptions import ClosedError, SessionDeletedError


def descriptors(root):
    """Files below a folder that this process has open."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            continue
        if target.startswith(str(root)):
            found.append(target)
    return found


@pytest.mark.parametrize("end", ["close", "delete"])
@pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="this system does not tell what a process has open"
)
def test_a_read_that_outlives_its_session_keeps_nothing_open(tmp_path, end):
    """What it gives back is closed; a later session of the name is opened in a forked child as if there had been none."""
    store = Store(tmp_path, **NO_FLOORS)
    session = store.session("test")
    session.put(b"one\n")
    file = session.path.stat()
    with session._engine.reader() as rows:
        getattr(session, end)()
        assert rows.newest_event() >= 0
    assert [] == descriptors(tmp_path)
    assert (file.st_dev, file.st_ino) not in forks._open
    with pytest.raises((ClosedError, SessionDeletedError)):
        session.put(b"two\n")


def test_a_child_has_none_of_its_parents_files_open(tmp_path):
    """So it repairs and deletes them as any other process does."""
    with Store(tmp_path, **NO_FLOORS).session("test") as session:
        path = session.path
        assert is_open(path)
        child = os.fork()
        if not child:
            os._exit(is_open(path))
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_session_that_was_removed_stays_removed(tmp_path):
    """Once a read has found that its folder is gone, no other read goes on from what was open before."""
    with Store(tmp_path, **NO_FLOORS).session("test") as session:
        sealed = session.put(b"one\n")
        assert b"one\n" == sealed.read_bytes(0, 4)
        writer = session.create()
        shutil.rmtree(session.path.parent)
        with pytest.raises(SessionDeletedError):
            session.artifact(writer.id).read_bytes(0, 1)
        with pytest.raises(SessionDeletedError):
            sealed.read_bytes(0, 4)
        with pytest.raises(SessionDeletedError):
            writer.close()
