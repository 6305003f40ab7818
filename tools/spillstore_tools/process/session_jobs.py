"""All commands of a session: found by their pids, and ended when it is closed or the interpreter ends."""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING

from spillstore.exceptions import ClosedError
from spillstore_tools.process.jobs import drop_together

if TYPE_CHECKING:
    from spillstore import Session
    from spillstore_tools.output.session_opener import Opened
    from spillstore_tools.process.jobs import Job

_HOOKS = 1.0  # seconds that the hooks of commands which have ended may hold up the end of the session
_REMEMBERED = 100  # commands that have ended and were in the background


class Jobs:
    """The commands of one session.

    Args:
        session: they are ended when it is closed.
    """

    def __init__(self, session: Session | Opened) -> None:
        self.cwd = _here()
        self.forget()
        session.on_close(self.end)

    def forget(self) -> None:
        """In a forked child: the commands are the parent's, and so may be the thread that holds the lock."""
        self._lock = threading.Lock()  # protects all of the below
        self._closed = False
        self._live: set[Job] = set()
        self._background: dict[int, Job] = {}

    def add(self, job: Job) -> None:
        """A command that begins.

        Raises:
            ClosedError: the session is closed.
        """
        with self._lock:
            if self._closed:
                raise ClosedError("the session was closed; open it again with Store.session")
            self._live = {each for each in self._live if not each.finished.is_set()} | {job}

    def keep(self, job: Job) -> None:
        """A command that goes on in the background, and can be asked for by its pid."""
        assert job.pid is not None  # it runs
        with self._lock:
            self._background.pop(job.pid, None)  # an older one, if the system has used its number again
            self._background[job.pid] = job
            ended = [pid for pid, each in self._background.items() if each.state == "ended"]
            for pid in ended[:-_REMEMBERED]:
                del self._background[pid]

    def find(self, pid: int) -> Job | None:
        """The command in the background with that pid, also if it has ended since."""
        with self._lock:
            return self._background.get(pid)

    def background(self) -> list[Job]:
        """The jobs that have not ended."""
        with self._lock:
            return [job for job in self._background.values() if job.state != "ended"]

    def end(self) -> None:
        """End all of them at once, and return when what they printed has been stored."""
        with self._lock:
            self._closed = True
            jobs = list(self._live)
        drop_together(jobs, "closed")
        until = time.monotonic() + _HOOKS
        for job in jobs:
            if not job.is_here:
                job.finished.wait(max(0.0, until - time.monotonic()))


def _here() -> str:
    try:
        return os.getcwd()  # noqa: PTH109  # no link is followed
    except FileNotFoundError:  # it was removed, and yet commands can be run in it
        return os.curdir


_sessions: weakref.WeakKeyDictionary[Session | Opened, Jobs] = weakref.WeakKeyDictionary()
_guard = threading.Lock()  # protects _sessions


def jobs_of(session: Session | Opened) -> Jobs:
    """The commands of a session, or of what opens it anew: those that run when it does so stay what they are.

    Raises:
        ClosedError: it is closed.
    """
    with _guard:
        jobs = _sessions.get(session)
        if jobs is None:
            jobs = _sessions[session] = Jobs(session)
        return jobs


def _end_all() -> None:
    with _guard:
        everything = list(_sessions.values())
    for jobs in everything:
        jobs.end()


def _forget_all() -> None:
    """In a forked child: the commands are the parent's."""
    global _guard  # noqa: PLW0603  # another thread of the parent may hold it
    _guard = threading.Lock()
    for jobs in list(_sessions.values()):
        jobs.forget()


atexit.register(_end_all)
os.register_at_fork(after_in_child=_forget_all)
