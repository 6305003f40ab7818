"""Nothing of SQLite is inherited by a forked child: its connections are closed before the fork and opened anew after it.

SQLite keeps a list of its locks for each process and file. A child inherits the list, but not the locks of the system that
stand behind it. So what it opens anew takes no locks, and the last process that closes the file takes what the child goes on to
write along. To close the connections before the fork is the only way out that SQLite's manual knows
(https://www.sqlite.org/howtocorrupt.html, 2.6); opening one again costs half a millisecond.

Whoever uses a connection is inside ``using`` for as long. A fork waits until nobody is, lets nobody in, and calls
``close_connections`` of all ``holders``. It cannot wait where the forking thread itself is inside, as in a signal handler,
and it does not wait for ever. Then the child inherits connections after all, and refuses the files that these belong to.
"""

from __future__ import annotations

import logging  # noqa: F401  # see where this registers what is done at a fork
import os
import threading
import weakref
from threading import get_ident
from typing import Protocol

from spillstore.exceptions import ForkError
from spillstore.runtime import fork_imports  # noqa: F401  # what waits for imports comes after what waits here

PATIENCE = 10.0  # seconds that a fork waits for others to come to the end of what they do


class Holder(Protocol):
    """Keeps connections open between calls."""

    def close_connections(self) -> None:
        """Close them; they are opened again when they are needed. Called while nobody uses any."""


class Gate:
    """Lets any number of threads in, or one that forks. A thread may enter more than once. Cost: a third of a microsecond.

    Each thread counts for itself, so that entering takes no lock: it writes down that it is inside and then looks whether
    the gate was closed, and the closer looks afterwards which threads are inside. The interpreter's lock orders the two.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """In a forked child: no other thread is there any more."""
        mine = get_ident()
        self._inside = {mine: count} if (count := getattr(self, "_inside", {}).get(mine)) else {}
        # Reentrant, because a signal handler that forks may interrupt any of the methods.
        self._changed = threading.Condition(threading.RLock())
        self._closed = 0  # by forks that wait or are under way

    def __enter__(self) -> None:
        inside, mine = self._inside, get_ident()
        if mine in inside:
            inside[mine] += 1
        else:
            inside[mine] = 1
            if self._closed:
                self._wait(mine)

    def _wait(self, mine: int) -> None:
        """Step back until the gate is open."""
        with self._changed:
            while self._closed:
                del self._inside[mine]
                self._changed.notify_all()
                while self._closed:
                    self._changed.wait()
                self._inside[mine] = 1

    def __exit__(self, *_: object) -> None:
        inside, mine = self._inside, get_ident()
        if inside[mine] > 1:
            inside[mine] -= 1
            return
        del inside[mine]
        if self._closed:
            with self._changed:
                self._changed.notify_all()

    def close(self) -> bool:
        """Let nobody in any more; returns whether nobody is inside. ``open`` follows in any case."""
        with self._changed:
            self._closed += 1
            return get_ident() not in self._inside and self._changed.wait_for(
                lambda: not self._inside, PATIENCE
            )

    def open(self) -> None:
        """Let all in again."""
        with self._changed:
            self._closed -= 1
            self._changed.notify_all()


using = Gate()
holders: weakref.WeakSet[Holder] = weakref.WeakSet()
_open: dict[tuple[int, int], int] = {}  # connections of this process, by (device, inode) of their files
_counting = threading.Lock()  # protects _open
_inherited: set[tuple[int, int]] = set()  # files that a parent had open when it forked this process


def opened(file: tuple[int, int]) -> None:
    """A connection to this file (device, inode) was opened."""
    with _counting:
        _open[file] = _open.get(file, 0) + 1


def closed(file: tuple[int, int]) -> None:
    """One of them was closed."""
    with _counting:
        _open[file] = _open.get(file, 1) - 1
        if not _open[file]:
            del _open[file]


def refuse_inherited(file: tuple[int, int], name: object) -> None:
    """Refuse a file that a parent had open at the fork and could not close.

    Raises:
        ForkError: it is one.
    """
    if file in _inherited:
        raise ForkError(
            f"{name} was in use in the parent process at the very moment of the fork, so this process cannot open it; "
            "fork while no call is under way, or start a new program"
        )


def _before() -> None:
    if using.close():
        for holder in list(holders):
            holder.close_connections()


def _after_in_child() -> None:
    global _counting  # noqa: PLW0603  # another thread of the parent may hold it
    _counting = threading.Lock()
    _inherited.update(_open)
    _open.clear()
    using.reset()


# What is registered last is done first before a fork. Logging, which takes its lock then, has to be registered earlier: who is
# inside the gate may need that lock to come out.
os.register_at_fork(before=_before, after_in_parent=using.open, after_in_child=_after_in_child)
