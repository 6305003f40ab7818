"""Runners start commands: with bash on this machine, or wherever a runner of your own starts them.

A runner gets the text of a command, a folder and an environment, and returns a ``Started``: two descriptors to read, a
way to wait for the end, a way to send signals. The tool ``bash`` needs no more, so a runner for a container, a machine
behind ssh or a sandbox takes a few lines. Where ``docker exec`` or ``ssh`` in front of the command is enough, a
``LocalRunner`` with that prefix does it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Literal, Protocol

from spillstore_tools.process.environment import MARK, for_commands

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spillstore_tools.process.read_ahead import Piece, ReadAhead

NOT_FOUND = 127
NOT_EXECUTABLE = 126
_LONGEST = 128 * 1024 - 1  # bytes of one argument that Linux takes, its NUL included


class StartError(Exception):
    """The command could not be started.

    Attributes:
        exit_code: the exit code that a shell would give, 127 (not found) or 126 (not executable).
    """

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Started(Protocol):
    """A command that was started.

    Attributes:
        pid: its process id, or another number that identifies it while it runs and for a while after.
        mark: the value of ``SPILLSTORE_JOB`` that only it and its descendants have, if it is a process of this machine;
            else an empty string, and the watchdog does not signal ``pid``.
        stdout: the descriptor of its standard output; the reader closes it.
        stderr: the descriptor of its standard error, or -1; the reader closes it.
    """

    @property
    def pid(self) -> int:
        """Its process id, or another number that identifies it."""
        ...

    @property
    def mark(self) -> str:
        """Its ``SPILLSTORE_JOB``, or an empty string."""
        ...

    @property
    def stdout(self) -> int:
        """The descriptor of its standard output."""
        ...

    @property
    def stderr(self) -> int:
        """The descriptor of its standard error, or -1."""
        ...

    def wait(self) -> int:
        """Wait for its end; returns its exit code, or -n if signal n ended it. Called once.

        A class that knows more exactly than its caller when the command began and ended has the attributes ``began_at``
        and ``ended_at``, readings of ``time.monotonic``. One that has read some of the output has a method ``read_ahead``, which
        gives it as a list of ``Piece``; who reads calls it before the pipes are read.
        """
        ...

    def send_signal(self, number: int) -> None:
        """Send a signal to it and its process group."""

    def signal_all(self, number: int) -> int:
        """Send a signal (0 is none) to it and to everything that it has started; returns how many processes live."""
        ...

    def close(self) -> None:
        """Release what belongs to it; it is neither read nor signalled any more."""


class Runner(Protocol):
    """Starts commands."""

    def start(self, command: str, *, cwd: str, env: Mapping[str, str]) -> Started:
        """Start a shell command.

        Args:
            command: its text.
            cwd: the folder in which it runs.
            env: its whole environment, without our secrets (``for_commands``).

        Raises:
            StartError: it cannot be started.
        """
        ...


class LocalRunner:
    """Starts commands as processes of this machine, each in a session and process group of its own.

    Args:
        prefix: the program and its arguments before the command's text: ``["docker", "exec", "box", "bash", "-c"]``.

    Example:
        >>> started = LocalRunner().start("exit 3", cwd="/", env={})
        >>> started.wait(), started.signal_all(0)
        (3, 0)
        >>> started.close()
    """

    def __init__(self, prefix: Sequence[str] = ("bash", "-c")) -> None:
        self._prefix = tuple(prefix)

    def start(self, command: str, *, cwd: str, env: Mapping[str, str]) -> Started:
        """Start a command, as in ``Runner``. A text too long for an argument goes to bash as a script."""
        mark = os.urandom(8).hex()
        marked = {**env, MARK: mark}
        text = command.encode(errors="surrogateescape")
        if self._prefix != ("bash", "-c") or len(text) < _LONGEST or b"\0" in text:
            return start_program([*self._prefix, command], cwd=cwd, env=marked, mark=mark)
        import tempfile  # noqa: PLC0415  # few commands are as long as this

        try:
            with tempfile.TemporaryFile() as script:
                script.write(text)
                script.seek(0)
                number = script.fileno()
                return start_program(
                    ["bash", f"/dev/fd/{number}"], cwd=cwd, env=marked, mark=mark, pass_fds=(number,)
                )
        except OSError as error:  # no room for a file, no folder for it, no descriptor
            raise StartError(f"cannot keep a command as long as this: {error}", NOT_EXECUTABLE) from error


def start_program(
    command: Sequence[str],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    stdin: Literal["inherit", "empty"] | int = "empty",
    stderr: Literal["inherit", "pipe"] = "pipe",
    own_group: bool = True,
    mark: str = "",
    watched: bool = True,
    read_ahead: bool = False,
    pass_fds: tuple[int, ...] = (),
) -> Started:
    """Start a program without a shell.

    Args:
        command: the program and its arguments.
        cwd: the folder in which it runs; None for the current one.
        env: its whole environment; None for ours. ``for_commands`` removes our secrets from it.
        stdin: ``inherit`` for ours, ``empty`` for one without content, or a descriptor.
        stderr: ``pipe``, or ``inherit`` for ours; then the descriptor to read is -1.
        own_group: whether it runs in a session and process group of its own, which ``send_signal`` then reaches as a
            whole. False for a command that must stay in the foreground of our terminal.
        mark: the value of ``SPILLSTORE_JOB`` in ``env``, or an empty string.
        watched: whether the watchdog ends it if we are killed; it needs a mark.
        read_ahead: whether a thread reads what it prints until somebody else does.
        pass_fds: more descriptors that it inherits.

    Raises:
        StartError: there is no such program, or it cannot be executed.
    """
    pipes: list[int] = []  # made first: whatever can fail fails before anything runs
    began, now = _ticks(), time.monotonic()
    try:
        pipes += os.pipe()
        if stderr == "pipe":
            pipes += os.pipe()
        popen = subprocess.Popen(
            list(command),
            bufsize=0,
            stdin=None if stdin == "inherit" else subprocess.DEVNULL if stdin == "empty" else stdin,
            stdout=pipes[1],
            stderr=pipes[3] if stderr == "pipe" else None,
            cwd=cwd,
            env=for_commands(os.environ if env is None else env),
            start_new_session=own_group,
            pass_fds=pass_fds,
        )
    except BaseException as error:
        for number in pipes:
            os.close(number)
        if isinstance(error, (OSError, ValueError)):
            raise _start_error(command, cwd, error) from error
        raise
    for number in pipes[1::2]:
        os.close(number)
    read = [*pipes[::2], -1]
    started = _Local(
        popen, read[0], read[1], own_group=own_group, mark=mark, watched=watched, began=(began, now)
    )
    if read_ahead:
        from spillstore_tools.process.read_ahead import ReadAhead  # noqa: PLC0415  # most are read at once

        started.ahead = ReadAhead({started.stdout: "stdout", started.stderr: "stderr"})
    return started


class _Local:
    """A process of this machine."""

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        stdout: int,
        stderr: int,
        *,
        own_group: bool,
        mark: str,
        watched: bool,
        began: tuple[int, float],
    ) -> None:
        self._popen = popen
        self._own_group = own_group
        self._mark = mark
        self._began, self.began_at = began
        self.ended_at: float | None = None
        self._pipes = {os.fstat(pipe).st_ino for pipe in (stdout, stderr) if pipe >= 0}
        self.pid = popen.pid
        self.mark = mark if watched else ""
        self.stdout = stdout
        self.stderr = stderr
        self.ahead: ReadAhead | None = None

    def read_ahead(self) -> list[Piece]:
        return [] if self.ahead is None else self.ahead.take()

    def wait(self) -> int:
        status = self._popen.wait()
        if self.ended_at is None:  # the first call has the time
            self.ended_at = time.monotonic()
        return status

    def send_signal(self, number: int) -> None:
        if self._popen.returncode is not None:
            return  # its number may belong to another process by now
        with contextlib.suppress(ProcessLookupError):
            if self._own_group:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)

    def signal_all(self, number: int) -> int:
        from spillstore_tools.process.process_tree import ProcessTree  # noqa: PLC0415  # few commands are killed

        leads = self._popen.returncode is None
        try:
            members = ProcessTree(
                self.pid, self._mark, leads=leads, pipes=self._pipes, began=self._began
            ).members()
            if number == signal.SIGKILL and members:
                self.send_signal(number)  # at once, before any of them can start another
            return sum(member.send(number) for member in members)
        except OSError:  # no descriptor is left to find out with
            self.send_signal(number)
            return 1

    def close(self) -> None:
        pass  # the process is reaped by ``wait``


def _ticks() -> int:
    """The current time in the unit of a process's start time; 0 where the system has none."""
    if sys.platform != "linux":
        return 0
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def _start_error(
    command: Sequence[str], cwd: str | os.PathLike[str] | None, error: OSError | ValueError
) -> StartError:
    name = command[0] if command else ""
    if not isinstance(error, OSError):
        return StartError(f"cannot run {name!r}: {error}", NOT_EXECUTABLE)
    if cwd is not None and error.filename == cwd:
        return StartError(f"cannot run {name!r} in {os.fspath(cwd)!r}: {error.strerror}", NOT_EXECUTABLE)
    if not name or (error.errno == errno.ENOENT and not ("/" in name and os.path.lexists(name))):
        return StartError(f"cannot run {name!r}: command not found", NOT_FOUND)
    detail = {
        errno.ENOENT: "its interpreter, or what it links to, is not there",
        errno.ENOEXEC: "it is no program and has no #! line; run it with its interpreter, such as sh",
    }.get(error.errno or 0, error.strerror)
    return StartError(f"cannot run {name!r}: {detail}", NOT_EXECUTABLE)
