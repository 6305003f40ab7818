"""What is under way when a session is closed, deleted or forked leaves nothing open and nothing counted."""

from __future__ import annotations

import os
import shutil
import threading

import pytest
from support import NO_FLOORS, wait_until

from spillstore import Store
from spillstore.engine.sqlite import fork_safety
from spillstore.engine.sqlite.session_file import is_open
from spillstore.exceptions import ClosedError, SessionDeletedError
from spillstore.ingest.open_sessions import count_open


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


@pytest.mark.files
@pytest.mark.parametrize("end", ["close", "delete"])
@pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="this system does not tell what a process has open"
)
def test_a_read_that_outlives_its_session_keeps_nothing_open(root, tmp_path, end):
    """What it gives back is closed; a later session of the name is opened in a forked child as if there had been none."""
    store = Store(root, **NO_FLOORS)
    session = store.session("test")
    session.put(b"one\n")
    file = session.path.stat()
    with session._engine.reader() as rows:
        getattr(session, end)()
        assert rows.newest_event() >= 0
    assert [] == descriptors(tmp_path)
    assert (file.st_dev, file.st_ino) not in fork_safety._open
    with pytest.raises((ClosedError, SessionDeletedError)):
        session.put(b"two\n")


@pytest.mark.long
@pytest.mark.files
def test_a_child_has_none_of_its_parents_files_open(root):
    """So it repairs and deletes them as any other process does."""
    with Store(root, **NO_FLOORS).session("test") as session:
        path = session.path
        assert is_open(path)
        child = os.fork()
        if not child:
            os._exit(is_open(path))
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.files
def test_a_session_that_was_removed_stays_removed(root):
    """Once a read has found that its folder is gone, no other read goes on from what was open before."""
    with Store(root, **NO_FLOORS).session("test") as session:
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


def test_what_a_process_has_open_is_counted(root):
    """Sessions, whoever writes or only reads, artifacts that are being written, and bytes that wait; no more once they are closed."""
    store, before = Store(root, **NO_FLOORS), count_open()
    with store.session("one") as session, store.session("two"), session.create() as writer:
        writer.write(b"text\n")
        writer.flush()
        with store.session("one", read_only=True):
            now = count_open()
        assert (3, 1, 0) == tuple(after - each for after, each in zip(now, before, strict=True))
    assert before == count_open()


class AsItIs:
    """A filter that changes nothing."""

    def feed(self, data):
        return data

    def finish(self):
        return b""


class SlowEnd(AsItIs):
    """A filter whose last bytes come late: when somebody else has closed the writer, or after half a second."""

    def __init__(self):
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.closed_elsewhere = threading.Event()

    def feed(self, data):
        self.begun.set()
        self.go_on.wait(120)
        return data

    def finish(self):
        self.closed_elsewhere.wait(0.5)
        return b"last\n"


@pytest.mark.parametrize("other", ["writer", "session"])
def test_what_is_closed_on_two_threads_is_closed_once(root, other):
    """Both wait for the end of the artifact, which is the one that the first has said."""
    store = Store(root, **NO_FLOORS)
    session = store.session("test")
    slow = SlowEnd()
    writer = session.create(redact=False, filters=lambda stream: slow if stream == "stdout" else AsItIs())
    writer.write(b"first\n")
    assert slow.begun.wait(120)  # so whoever closes waits for the filter

    def close_elsewhere():
        (writer if other == "writer" else session).close()
        slow.closed_elsewhere.set()

    first = threading.Thread(target=writer.close, kwargs={"exit_code": 3}, daemon=True)
    first.start()
    wait_until(lambda: writer.closed)
    second = threading.Thread(target=close_elsewhere, daemon=True)
    second.start()
    slow.go_on.set()
    first.join(120)
    second.join(120)
    assert not first.is_alive()
    assert not second.is_alive()
    with store.session("test") as again:
        artifact = again.artifact(writer.id)
        assert b"first\nlast\n" == artifact.read()
        assert ("sealed", 3) == (artifact.info.state, artifact.info.exit_code)
    session.close()
