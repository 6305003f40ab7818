"""Runs a process and hands on what it prints, both streams, as it comes.

Starting and draining are apart. ``Process.start`` needs nothing but a few light modules of the standard library, so a
command can run already while its caller imports a database; the pipes hold up to a megabyte each until ``drain`` reads
them. ``drain`` is one loop over both pipes in the caller's thread. A sink that is slow blocks it, the pipes fill, and
the process waits: back-pressure, without a buffer of ours in between.

The sink may fail and the process must not notice. From the first error on nothing more is written to it, but the pipes
are read to their end, and a bounded head and tail of everything that was received is kept in memory.

A process that has ended may leave heirs that hold its pipes open (``server &``). What it printed itself is read for
certain: its end is noticed first, then the pipes are asked how many bytes they hold. Beyond that the heirs get until
they have been silent for a while, or have talked for too long; then the pipes are closed.

Reads of 256 KiB from a pipe of 1 MiB took 2.3 GB/s on two shared cores, 64 KiB from a pipe of the usual size 2.0, and
256 KiB from that 0.9: a buffer that is mostly left empty costs more than it saves.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import fcntl
import os
import selectors
import signal
import struct
import subprocess
import termios
import threading
import time
from collections import deque
from typing import IO, TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spillstore.exceptions import SpillstoreError

OutputStream = Literal["stdout", "stderr"]

KEEP = 64 * 1024
GRACE = 0.5
LINGER = 5.0
_PIPE_SIZE = 1024 * 1024
_READ_LARGE, _READ = 256 * 1024, 64 * 1024
_TICK = 0.1  # seconds between two looks whether the process has ended
_SET_PIPE_SIZE: int | None = getattr(fcntl, "F_SETPIPE_SZ", None)  # Linux alone has it

NOT_FOUND = 127
NOT_EXECUTABLE = 126


class Sink(Protocol):
    """Where output goes; a ``spillstore.Writer`` is one."""

    def write(self, data: bytes, stream: OutputStream = "stdout") -> int:
        """Take bytes of one stream; may block."""
        ...


class StartError(Exception):
    """The command could not be started.

    Attributes:
        exit_code: what a shell would answer, 127 (not found) or 126 (not executable).
    """

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a process ended and what became of its output.

    Attributes:
        exit_code: its own, or 128 + n if signal n ended it.
        signal: the name of that signal, or None.
        duration: seconds from its start to its end.
        stdout: bytes received.
        stderr: likewise.
        taken: bytes that the sink took; fewer than were received if it failed.
        storage_error: why the sink failed, or None.
        held_open: streams that something else still held open when reading was given up.
        head: the first bytes of both streams, in the order in which they were read.
        tail: the last bytes that are not in ``head``; together they are everything unless ``omitted`` is positive.
    """

    exit_code: int
    signal: str | None
    duration: float
    stdout: int
    stderr: int
    taken: int
    storage_error: SpillstoreError | None
    held_open: tuple[OutputStream, ...]
    head: bytes
    tail: bytes

    @property
    def received(self) -> int:
        """Bytes received of both streams."""
        return self.stdout + self.stderr

    @property
    def omitted(self) -> int:
        """Bytes between ``head`` and ``tail`` that were not kept in memory."""
        return self.received - len(self.head) - len(self.tail)


class Process:
    r"""A process that was started, and its two pipes. Made by ``start``; drained once, by one thread.

    Example:
        >>> outcome = Process.start(["sh", "-c", "echo out; echo err >&2; exit 3"]).drain()
        >>> outcome.exit_code, outcome.stdout, outcome.stderr, sorted(outcome.head.split())
        (3, 4, 4, [b'err', b'out'])
    """

    def __init__(self, popen: subprocess.Popen[bytes], *, own_group: bool) -> None:
        self._popen = popen
        self._own_group = own_group
        self._started = time.monotonic()
        self._ended_at: float | None = None
        # A process may end long before it is drained: somebody must look at the clock then.
        self._watcher = threading.Thread(
            target=self._watch, name=f"spillstore-watch-{popen.pid}", daemon=True
        )
        self._watcher.start()
        self._pipes = _pipes_of(popen)
        enlarged = [_enlarge(pipe) for pipe in self._pipes.values()]
        self._read_size = _READ_LARGE if all(enlarged) else _READ
        self._sizes: dict[OutputStream, int] = {"stdout": 0, "stderr": 0}

    @classmethod
    def start(
        cls,
        command: Sequence[str],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        stdin: Literal["inherit", "empty"] = "empty",
        own_group: bool = True,
    ) -> Process:
        """Start a command without a shell.

        Args:
            command: the program and its arguments.
            cwd: where it runs; None for here.
            env: its whole environment; None for ours.
            stdin: ``inherit`` ours, or ``empty`` for one that is at its end at once.
            own_group: run it in a session and process group of its own, which ``send_signal`` then reaches as a
                whole. Leave it out for a command that shall stay in the foreground of our terminal.

        Returns:
            The running process. Its output waits in the pipes until ``drain``.

        Raises:
            StartError: there is no such program, or it cannot be executed.
        """
        try:
            popen = subprocess.Popen(
                list(command),
                bufsize=0,
                stdin=None if stdin == "inherit" else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env=env,
                start_new_session=own_group,
            )
        except (OSError, ValueError) as error:
            raise _start_error(command, cwd, error) from error
        return cls(popen, own_group=own_group)

    def __repr__(self) -> str:
        return f"<Process {self.pid}>"

    @property
    def pid(self) -> int:
        """Its id; that of its group, too, if it has one of its own."""
        return self._popen.pid

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, or to its whole group if it has its own. One that has ended gets none."""
        if self._popen.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            if self._own_group:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)

    def _watch(self) -> None:
        self._popen.wait()
        self._ended_at = time.monotonic()

    def drain(
        self, sink: Sink | None = None, *, grace: float = GRACE, linger: float = LINGER, keep: int = KEEP
    ) -> Outcome:
        """Read both streams until the process has ended and nothing more is to come, however its sink fares.

        Args:
            sink: what takes the output; None for nothing but the head and tail in memory.
            grace: seconds of silence, once the process has ended, after which reading is given up although something
                else holds a pipe open.
            linger: seconds after its end after which reading is given up even though something else still writes.
            keep: bytes of head, and of tail, that are kept in memory.

        Returns:
            What happened. A ``SpillstoreError`` of the sink is in there and is not raised.
        """
        receiver = _Receiver(sink, keep)
        ended: _Ended | None = None
        with selectors.DefaultSelector() as selector:
            for stream, pipe in self._pipes.items():
                selector.register(pipe, selectors.EVENT_READ, stream)
            while self._pipes and not (ended and ended.over(time.monotonic())):
                for key, _ in selector.select(_TICK):
                    data = os.read(key.fd, self._read_size)
                    if data:
                        self._sizes[key.data] += len(data)
                        receiver.take(key.data, data)
                    else:
                        selector.unregister(key.fileobj)
                        self._pipes.pop(key.data).close()
                    if ended:
                        ended.read(key.data, len(data), time.monotonic())
                if not ended and self._ended_at is not None:
                    ended = _Ended(time.monotonic(), self._pipes, grace, linger)
        held_open = tuple(self._pipes)
        self.close()
        self._watcher.join()
        assert self._ended_at is not None  # the watcher's last act
        duration = self._ended_at - self._started
        return receiver.outcome(self._popen.returncode, duration, self._sizes, held_open)

    def close(self) -> None:
        """Close the pipes; whoever still writes to them gets SIGPIPE."""
        for pipe in self._pipes.values():
            pipe.close()
        self._pipes.clear()


class _Ended:
    """What is still read after the process has ended: its own bytes for certain, those of its heirs for a while."""

    def __init__(
        self, now: float, pipes: Mapping[OutputStream, IO[bytes]], grace: float, linger: float
    ) -> None:
        self._owed = {stream: _waiting_in(pipe) for stream, pipe in pipes.items()}
        self._grace = grace
        self._deadline = now + linger
        self._last_read = now

    def read(self, stream: OutputStream, size: int, now: float) -> None:
        """Note that bytes were read; none is the stream's end."""
        self._owed[stream] = self._owed[stream] - size if size else 0
        self._last_read = now

    def over(self, now: float) -> bool:
        """Whether to give up."""
        if any(owed > 0 for owed in self._owed.values()):
            return False
        return now >= self._deadline or now - self._last_read >= self._grace


class _Receiver:
    """Hands bytes to the sink for as long as that works, and keeps a head and a tail of all of them."""

    def __init__(self, sink: Sink | None, keep: int) -> None:
        # Not at the top: it must not delay the start of the command.
        from spillstore.exceptions import SpillstoreError  # noqa: PLC0415

        self._failure = SpillstoreError
        self._sink = sink
        self._error: SpillstoreError | None = None
        self._taken = 0
        self._ends = _Ends(keep)

    def take(self, stream: OutputStream, data: bytes) -> None:
        self._ends.add(data)
        if self._sink is None:
            return
        try:
            self._sink.write(data, stream)
        except self._failure as error:
            self._error = error
            self._sink = None
        else:
            self._taken += len(data)

    def outcome(
        self,
        status: int,
        duration: float,
        sizes: Mapping[OutputStream, int],
        held_open: tuple[OutputStream, ...],
    ) -> Outcome:
        head, tail = self._ends.get()
        return Outcome(
            exit_code=status if status >= 0 else 128 - status,
            signal=_signal_name(-status) if status < 0 else None,
            duration=duration,
            stdout=sizes["stdout"],
            stderr=sizes["stderr"],
            taken=self._taken,
            storage_error=self._error,
            held_open=held_open,
            head=head,
            tail=tail,
        )


class _Ends:
    """The first and the last ``keep`` bytes of a sequence, by reference: nothing is copied before ``get``."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._head: list[bytes] = []
        self._room = keep
        self._tail: deque[bytes] = deque()
        self._tail_size = 0

    def add(self, data: bytes) -> None:
        if self._room > 0:
            self._head.append(data[: self._room])
            data, self._room = data[self._room :], self._room - len(data)
        if not data:
            return
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= self._keep:
            self._tail_size -= len(self._tail.popleft())

    def get(self) -> tuple[bytes, bytes]:
        tail = b"".join(self._tail)
        return b"".join(self._head), tail[max(0, len(tail) - self._keep) :]


def _pipes_of(popen: subprocess.Popen[bytes]) -> dict[OutputStream, IO[bytes]]:
    assert popen.stdout is not None  # both are PIPE
    assert popen.stderr is not None
    return {"stdout": popen.stdout, "stderr": popen.stderr}


def _enlarge(pipe: IO[bytes]) -> bool:
    """Whether the pipe could be made to hold a megabyte; a user's pipes may take only so much together."""
    if _SET_PIPE_SIZE is None:
        return False
    try:
        fcntl.fcntl(pipe, _SET_PIPE_SIZE, _PIPE_SIZE)
    except OSError:
        return False
    return True


def _waiting_in(pipe: IO[bytes]) -> int:
    """How many bytes can be read from a pipe now."""
    (size,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * struct.calcsize("i")))
    return int(size)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most real-time signals have no name
        return f"signal {number}"


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
