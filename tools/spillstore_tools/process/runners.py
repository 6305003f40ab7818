"""How a command is started: here with bash, or wherever a runner of your own starts it.

A runner gets the text of a command, a folder and an environment, and gives back what it has started: two descriptors to
read, a way to wait for the end, a way to end it. The tool needs no more than that, so a container, a machine behind ssh
or a sandbox is a matter of a few lines; where the usual ``docker exec`` or ``ssh`` will do, ``LocalRunner`` with other
words in front of the command is enough.
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

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NOT_FOUND = 127
NOT_EXECUTABLE = 126
MARK = "SPILLSTORE_JOB"
# What opens something to who has it: commands do not need it, and what they print is shown to models.
_WITHHELD = ("SPILLSTORE_MCP_TOKEN", "SPILLSTORE_DIGEST_KEY")  # beginnings of names
_LONGEST = 128 * 1024 - 1  # bytes of one argument that Linux takes, its NUL included


def for_commands(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment as a command gets it: without what is nobody's but ours.

    Left out are the token of a server of ours and where the key of the digests is. Whatever starts a process goes through here.

    Example:
        >>> for_commands({"HOME": "/root", "SPILLSTORE_MCP_TOKEN": "x", "SPILLSTORE_DIGEST_KEY_FILE": "y"})
        {'HOME': '/root'}
    """
    return {name: value for name, value in environment.items() if not name.startswith(_WITHHELD)}


class StartError(Exception):
    """The command could not be started.

    Attributes:
        exit_code: what a shell would answer, 127 (not found) or 126 (not executable).
    """

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Started(Protocol):
    """A command that was started.

    Attributes:
        pid: a number that names it, as long as it runs and for a while after.
        mark: where it is a process of this machine, the value of ``SPILLSTORE_JOB`` that only it and its descendants
            have; else an empty string, and the watchdog leaves ``pid`` alone.
        stdout: a descriptor to read; the reader closes it.
        stderr: likewise.
    """

    @property
    def pid(self) -> int:
        """Its process id, or another number that names it."""
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
        """Return when it has ended: its exit code, or -n if signal n ended it. Called once.

        What knows better than its caller when it began and ended says so in ``began_at`` and ``ended_at``, by
        ``time.monotonic``.
        """
        ...

    def send_signal(self, number: int) -> None:
        """Send it a signal, and what runs with it."""

    def signal_all(self, number: int) -> int:
        """Send a signal (0 is none) to it and to everything that it has started; return how many processes live."""
        ...

    def close(self) -> None:
        """Nobody reads or signals it any more."""


class Runner(Protocol):
    """Starts commands."""

    def start(self, command: str, *, cwd: str, env: Mapping[str, str]) -> Started:
        """Start a shell command.

        Args:
            command: its text.
            cwd: where it runs.
            env: its whole environment, from which ``for_commands`` has taken what is not for commands.

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
        """As in ``Runner``. A text too long for an argument goes to bash as a script."""
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
    pass_fds: tuple[int, ...] = (),
) -> Started:
    """Start a program without a shell.

    Args:
        command: the program and its arguments.
        cwd: where it runs; None for here.
        env: its whole environment; None for ours. ``for_commands`` says what of it does not get there.
        stdin: ``inherit`` ours, ``empty`` for one that is at its end at once, or a descriptor.
        stderr: ``inherit`` ours, and have -1 in place of a descriptor to read.
        own_group: run it in a session and process group of its own, which ``send_signal`` then reaches as a whole. Leave
            it out for a command that shall stay in the foreground of our terminal.
        mark: what ``SPILLSTORE_JOB`` is in ``env``, if anything.
        watched: whether the watchdog looks after a process with a mark.
        pass_fds: descriptors that it gets.

    Raises:
        StartError: there is no such program, or it cannot be executed.
    """
    pipes: list[int] = []  # all that may be missing is had before anything runs
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
    return _Local(
        popen, read[0], read[1], own_group=own_group, mark=mark, watched=watched, began=(began, now)
    )


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

    def wait(self) -> int:
        status = self._popen.wait()
        if self.ended_at is None:  # who waited first knows when it was
            self.ended_at = time.monotonic()
        return status

    def send_signal(self, number: int) -> None:
        if self._popen.returncode is not None:
            return  # its number may be another's by now
        with contextlib.suppress(ProcessLookupError):
            if self._own_group:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)

    def signal_all(self, number: int) -> int:
        from spillstore_tools.process.process_tree import Tree  # noqa: PLC0415  # few commands are killed

        leads = self._popen.returncode is None
        try:
            members = Tree(self.pid, self._mark, leads=leads, pipes=self._pipes, began=self._began).members()
            if number == signal.SIGKILL and members:
                self.send_signal(number)  # at once, before any of them can start another
            return sum(member.send(number) for member in members)
        except OSError:  # no descriptor is to be had, so nobody knows
            self.send_signal(number)
            return 1

    def close(self) -> None:
        pass  # the process is reaped by ``wait``


def _ticks() -> int:
    """Now, as the system counts it for a process's start; 0 where it does not."""
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
