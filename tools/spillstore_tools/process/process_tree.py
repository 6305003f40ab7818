"""The process tree of a command: everything that it has started and that still runs, however it has detached itself.

A process group alone is not enough: a program that calls ``setsid`` leaves it, and a daemon has no living parent that
would lead to it. So a process belongs to the command if it is in its group or session, if it descends from one that
is, if it has the command's mark in its environment, which children inherit, or if it was started after the command,
not by us, and can write to the command's pipes. Only one that has left the group, lost its parent, dropped its
environment *and* closed the pipes escapes.

Process ids are used again. A member is known by its id and the time it started; it is signalled through a descriptor
(pidfd) that names this very process, where the kernel has such a thing. Once the command itself has been reaped, a
process with its id is a stranger, and so is that one's group.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from spillstore_tools.process.environment import MARK, for_commands

if TYPE_CHECKING:
    from collections.abc import Collection

_ZOMBIES = frozenset("ZX")
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})  # says nothing about a process


class Member(NamedTuple):
    """A process as the system lists it: ids, state, and start time as text."""

    pid: int
    parent: int
    group: int
    session: int
    state: str
    started: str

    def send(self, number: int) -> bool:
        """Send a signal, 0 for none; returns whether this process was there to receive it."""
        if sys.platform != "linux":
            return _kill(self.pid, number)
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return False
        except OSError:  # an old kernel, or no descriptor left
            return _kill(self.pid, number)
        try:
            now = _stat(self.pid)
            if now is None or now.started != self.started or now.state in _ZOMBIES:
                return False
            if number:
                signal.pidfd_send_signal(descriptor, number)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass  # it lives, and belongs to another user
        finally:
            os.close(descriptor)
        return True


class ProcessTree:
    """A command and its descendants.

    Args:
        pid: the id of the command's process, which began as the leader of its group and session.
        mark: its value of ``SPILLSTORE_JOB``, or an empty string. A command inside it has that value, a dot and more.
        leads: whether the process has not been reaped yet, so that no other process has its id.
        pipes: the inodes of the pipes for its output.
        began: the time of its start, in clock ticks since boot.
    """

    def __init__(
        self, pid: int, mark: str, *, leads: bool, pipes: Collection[int] = (), began: int = 0
    ) -> None:
        self._pid = pid
        self._mark = f"{MARK}={mark}".encode() if mark else None
        self._leads = leads
        self._pipes = {f"pipe:[{number}]" for number in pipes}
        self._began = began

    def members(self) -> list[Member]:
        """The processes that live now, without zombies.

        Raises:
            OSError: no descriptor is left to find out with.
        """
        table = _processes()
        # If another process has that id now, the group with that id belongs to it.
        leads = self._leads or all(each.pid != self._pid for each in table)
        found = {
            each.pid
            for each in table
            if (leads and self._pid in {each.pid, each.group, each.session})
            or self._marked(each.pid)
            or self._prints(each)
        }
        children: dict[int, list[int]] = {}
        for each in table:
            children.setdefault(each.parent, []).append(each.pid)
        todo = list(found)
        while todo:
            new = set(children.get(todo.pop(), ())) - found
            found |= new
            todo += new
        found.discard(os.getpid())
        return [each for each in table if each.pid in found and each.state not in _ZOMBIES]

    def _marked(self, pid: int) -> bool:
        if self._mark is None or sys.platform != "linux":
            return False
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123  # thousands of them
                entries = b"\0%b\0" % file.read()
        except OSError as error:  # of another user, or gone
            if error.errno in _EXHAUSTED:
                raise
            return False
        return any(b"\0%b%b" % (self._mark, end) in entries for end in (b"\0", b"."))

    def _prints(self, each: Member) -> bool:
        """Whether it can write to the command's pipes. One of our own session does not count: we have forked it."""
        if sys.platform != "linux" or not self._pipes:
            return False
        if int(each.started) < self._began or each.session == os.getsid(0):
            return False
        try:
            numbers = os.listdir(f"/proc/{each.pid}/fd")  # noqa: PTH208  # likewise
        except OSError as error:  # likewise
            if error.errno in _EXHAUSTED:
                raise
            return False
        for number in numbers:
            try:
                if os.readlink(f"/proc/{each.pid}/fd/{number}") not in self._pipes:  # noqa: PTH115  # likewise
                    continue
                with open(f"/proc/{each.pid}/fdinfo/{number}", encoding="ascii") as file:  # noqa: PTH123  # likewise
                    fields = dict(line.split(":", 1) for line in file if ":" in line)
                if int(fields["flags"], 8) & (os.O_WRONLY | os.O_RDWR):
                    return True
            except OSError as error:  # closed meanwhile; another descriptor may be a pipe of the command
                if error.errno in _EXHAUSTED:
                    raise
        return False


def _kill(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _processes() -> list[Member]:
    if sys.platform != "linux":
        return _listed()
    found = (_stat(int(name)) for name in os.listdir("/proc") if name.isdecimal())  # noqa: PTH208  # likewise
    return [each for each in found if each is not None]


def _stat(pid: int) -> Member | None:
    """``/proc/PID/stat``; the name, the second field, stands in brackets and may hold anything (proc(5))."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:  # noqa: PTH123  # likewise
            fields = file.read().rpartition(")")[2].split()
    except OSError as error:
        if error.errno in _EXHAUSTED:
            raise
        return None
    state, parent, group, session = fields[:4]
    if state in _ZOMBIES and int(fields[17]) > 1:
        state = "S"  # its first thread has ended, and others have not
    return Member(pid, int(parent), int(group), int(session), state, fields[19])


def _listed() -> list[Member]:
    """The processes as ``ps`` lists them, where there is no ``/proc``."""
    found = []
    with contextlib.suppress(OSError):
        columns = "pid=,ppid=,pgid=,sess=,state=,lstart="
        done = subprocess.run(
            ["ps", "-A", "-o", columns],
            capture_output=True,
            text=True,
            errors="replace",
            env=for_commands(os.environ),
            check=False,
        )
        for line in done.stdout.splitlines():
            pid, parent, group, _, state, started = line.split(None, 5)
            # macOS prints no useful session id; the group has to do.
            found.append(Member(int(pid), int(parent), int(group), int(group), state[:1], started))
    return found
