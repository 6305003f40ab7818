"""A second process beside the relay, which sees what the relay cannot see: its own death, and whom a signal was for.

If the relay is killed, the shell must die as it would have died itself: agents kill what they have started. The guard waits
for the end of a pipe that only the relay holds, and then kills the shell, and no other process.

A signal for the process group has reached the shell already, and one for the relay alone has not. The guard is in the group,
too. It tells the relay which signals have come to it; what did not come to the guard, the relay passes on. A signal for a group
is pending in all of it before the relay can ask, and the guard answers only after it has taken what is pending: so no clock
decides, and a busy machine gives the same answer.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal

TYPE_CHECKING = False  # that of ``typing`` would take longer to import than a small command runs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from types import FrameType

_QUESTION, _ANSWER, _END = b"?", b"\0", b"."
_SECONDS = 2.0  # to wait for a guard that somebody has stopped


class Guard:
    """The guard of a shell. Signals are blocked while it is made.

    Args:
        pid: the shell's.
        signals: those of which it tells.

    Raises:
        OSError: no process or descriptor is left.
    """

    def __init__(self, pid: int, signals: Iterable[int]) -> None:
        ours: list[int] = []
        try:
            ours += os.pipe()
            ours += os.pipe()
            self._pid = os.fork()
        except OSError:
            for number in ours:
                os.close(number)
            raise
        alive, self._life, self._heard, tell = ours
        if self._pid == 0:
            _watch(pid, alive, tell, signals)
        os.close(alive)
        os.close(tell)
        os.set_blocking(self._heard, False)
        self._poll = select.poll()
        self._poll.register(self._heard, select.POLLIN)
        self._seen: list[int] = []
        self._asked = self._answered = 0

    def saw(self, number: int) -> bool:
        """Whether a signal came to the whole group; called with the signals blocked."""
        try:
            os.write(self._life, _QUESTION)
        except OSError:  # somebody has killed it
            return False
        self._asked += 1
        question = self._asked
        while self._answered < question and self._poll.poll(_SECONDS * 1000):
            with contextlib.suppress(BlockingIOError):
                told = os.read(self._heard, 64)
                if not told:
                    break
                self._answered += told.count(_ANSWER)
                self._seen += told.replace(_ANSWER, b"")
        if number not in self._seen:
            return False
        self._seen.remove(number)
        return True

    def end(self) -> None:
        """End it; the shell has ended."""
        with contextlib.suppress(OSError):  # somebody has killed it
            os.write(self._life, _END)
        os.close(self._life)
        with contextlib.suppress(OSError):
            os.waitpid(self._pid, 0)


def _watch(pid: int, alive: int, tell: int, signals: Iterable[int]) -> None:
    """The life of the guard. It holds nothing else open, or others would wait for it."""
    try:
        os.dup2(alive, 0)
        os.dup2(tell, 1)
        close_others({0, 1})
        process = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1
        os.set_blocking(1, False)
        signal.set_wakeup_fd(1, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in signals:
            signal.signal(number, _nothing)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        while (word := os.read(0, 1)) == _QUESTION:
            os.write(1, _ANSWER)
        if not word:
            if process >= 0:
                signal.pidfd_send_signal(process, signal.SIGKILL)
            else:
                os.kill(pid, signal.SIGKILL)
    finally:
        os._exit(0)


def _nothing(_: int, __: FrameType | None) -> None:
    """The number is written to the pipe before this is called."""


def close_others(kept: Collection[int]) -> None:
    """Close all descriptors of this process but some."""
    try:
        numbers = [int(name) for name in os.listdir("/dev/fd")]  # noqa: PTH208  # numbers, and no paths
    except OSError:  # there is no such folder
        numbers = list(range(256))
    for number in numbers:
        if number not in kept:
            with contextlib.suppress(OSError):  # the folder's own
                os.close(number)
