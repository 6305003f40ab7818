"""The program ``spillstore-sh``.

The command is started first. Its standard input is ours, and so is its process group; its output comes through two pipes, or
through one where both streams go to the same place, so that their order stays. Nothing of the store is imported before there is
more output than passes. Where nothing is to be captured, or a terminal would be, the real shell takes our place.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

from spillstore_tools.configured import is_configured
from spillstore_tools.shell.call import NAME, Call, without_secrets
from spillstore_tools.shell.guard import Guard, close_others
from spillstore_tools.shell.relay import Relay, pass_on, write

TYPE_CHECKING = False  # that of ``typing`` would take longer to import than a small command runs

if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

    from spillstore_tools.shell.capture import Capture

_PASSED = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
    signal.SIGTSTP,
    signal.SIGCONT,
)
_NOT_FOUND = 127
_COERCED = frozenset({"C.UTF-8", "C.utf8", "UTF-8"})
_FIRST_SIGNAL = 128  # a shell's exit code for a death by signal n is this and n


def main() -> NoReturn:
    """Run it; ends as the command ends."""
    _restore_locale()
    call = Call(sys.argv[1:], os.environ)
    if not call.is_captured or not _is_capturable():
        _become(call)
    try:
        running = _Running(call)
    except OSError:  # no descriptor is left for a pipe, no room for more variables, no shell
        _become(call)
    status = running.run()
    sys.stdout = sys.stderr = (
        None  # nothing is in their buffers, and nothing of ours is to be seen from now on
    )
    if status < 0:
        _die(-status)
    if running.has_captured:
        sys.exit(status)
    os._exit(status)  # nothing was imported that must be ended


def _restore_locale() -> None:
    """Undo what Python does to the environment where the locale is C: it sets ``LC_CTYPE`` (PEP 538)."""
    if os.environ.get("LC_CTYPE") not in _COERCED or "LC_ALL" in os.environ:
        return
    before = b""
    try:
        with open("/proc/self/environ", "rb") as given:  # noqa: PTH123  # ``pathlib`` takes as long as all the rest
            before = given.read()
    except OSError:  # not on every system
        if "LANG" in os.environ:
            return
    found = [each for each in before.split(b"\0") if each.startswith(b"LC_CTYPE=")]
    if found:
        os.environ["LC_CTYPE"] = os.fsdecode(found[0].partition(b"=")[2])
    else:
        del os.environ["LC_CTYPE"]


def _is_capturable() -> bool:
    """Whether both streams are open, and neither is a terminal."""
    try:
        return all(os.fstat(number) and not os.isatty(number) for number in (1, 2))
    except OSError:
        return False


def _become(call: Call) -> NoReturn:
    """Let the real shell take our place, with all that is ours."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
        signal.signal(number, signal.SIG_DFL)
    environment = os.environ if call.line is None else without_secrets(os.environ)
    error: OSError | None = None
    for shell in call.shells:
        try:
            os.execve(shell, [shell, *call.arguments], environment)  # noqa: S606  # it is a shell
        except OSError as failed:
            error = failed
    write(2, f"{NAME}: no shell can be run: {error or 'there is none'}\n".encode(errors="replace"))
    os._exit(_NOT_FOUND)


class _Running:
    """A command that runs, and the signals that come meanwhile."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._guard: Guard | None = None
        self._status: int | None = None
        self._began = time.monotonic()
        self.has_captured = False
        wake, self._waker = os.pipe()
        ignored = [number for number in _PASSED if signal.getsignal(number) == signal.SIG_IGN]
        self._signals = [number for number in _PASSED if number not in ignored]
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {*self._signals, signal.SIGCHLD})
        signal.signal(signal.SIGCHLD, _nothing)  # who ignores it never learns how a command ended
        try:
            pipes = self._start(before)
        except OSError:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            raise
        os.set_blocking(self._waker, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        try:
            self._guard = Guard(self._pid, self._signals)
        except OSError:  # the command runs already; signals reach it, if twice
            self._guard = None
        for number in self._signals:
            signal.signal(number, self._on_signal)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        known = not os.environ.get("SPILLSTORE_PROFILE") and not _is_configured()
        self._relay = Relay(pipes, wake, self._capture, is_known=known, ended=self._has_ended)

    def _start(self, mask: set[int | signal.Signals]) -> dict[int, int]:
        """Start the shell; returns the pipes to read, with the stream of each.

        Raises:
            OSError: there is no shell that starts, or no descriptor left.
        """
        ours, theirs = os.pipe()
        pipes, actions = {ours: 1}, [(os.POSIX_SPAWN_DUP2, theirs, 1)]
        ends = [theirs]
        if os.path.sameopenfile(1, 2):
            actions.append((os.POSIX_SPAWN_DUP2, theirs, 2))
        else:
            ours, theirs = os.pipe()
            pipes[ours] = 2
            ends.append(theirs)
            actions.append((os.POSIX_SPAWN_DUP2, theirs, 2))
        environment = self._call.environment()
        for shell in self._call.shells:
            try:
                self._pid = os.posix_spawn(
                    shell,
                    [shell, *self._call.arguments],
                    environment,
                    file_actions=actions,
                    setsigmask=mask,
                    setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),
                )
            except OSError:
                continue
            for number in ends:
                os.close(number)
            return pipes
        raise OSError("no shell can be started")

    def run(self) -> int:
        """Return when all is shown: the exit code, or -n if signal n has ended it."""
        relay = self._relay
        try:
            relay.run()
        except Exception as error:  # noqa: BLE001  # a defect of ours, and the command's output passes all the same
            relay.fail(error)
            pass_on(relay.pipes)
        while not self._has_ended():
            time.sleep(0.01)
        assert self._status is not None  # it has ended
        relay.finish(self._status if self._status >= 0 else _FIRST_SIGNAL - self._status)
        if relay.problem is not None:
            words = " ".join(relay.problem.split())
            write(2, f"{NAME}: the output is not stored: {words}\n".encode(errors="replace"))
        if self._guard is not None:
            self._guard.end()
        if relay.pipes:
            self._leave_behind(relay.pipes)
        return self._status

    def _capture(self) -> Capture:
        from spillstore_tools.shell.capture import Capture  # noqa: PLC0415  # where there is much output

        self.has_captured = True
        assert self._call.line is not None  # or nothing would be captured
        return Capture(self._call.line, self._call.session, self._began)

    def _has_ended(self) -> bool:
        if self._status is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
        return self._status is not None

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        """Send a signal on to the shell, unless it has it already."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, self._signals)
        came_to_all = self._guard is not None and self._guard.saw(number)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if self._status is None and not came_to_all:
            with contextlib.suppress(OSError):  # it has gone, or belongs to another user by now
                os.kill(self._pid, number)
        if number == signal.SIGTSTP:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            signal.signal(number, self._on_signal)

    def _leave_behind(self, pipes: dict[int, int]) -> None:
        """Start a process that passes on what the command's children print, as long as they hold the pipes."""
        try:
            if os.fork():
                return
        except (OSError, Warning):  # of threads that there are no more, where the user makes warnings errors
            return
        try:
            signal.set_wakeup_fd(-1)
            for number in self._signals:
                signal.signal(number, signal.SIG_IGN)
            close_others({1, 2, *pipes})
            pass_on(pipes)
        finally:
            os._exit(0)


def _is_configured() -> bool:
    try:
        os.getcwd()  # noqa: PTH109  # no link is followed
    except OSError:  # it was removed, and nothing is to be found there
        return False
    return is_configured()


def _nothing(_: int, __: FrameType | None) -> None:
    """The pipe that wakes us has been written to before this is called."""


def _die(number: int) -> NoReturn:
    """Die by a signal, as the command has."""
    import resource  # noqa: PLC0415  # few commands die

    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))
    if number not in {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
    os._exit(_FIRST_SIGNAL + number)  # one that does not end us
