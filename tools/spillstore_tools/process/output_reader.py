"""Reads the output of a process, both streams as they come, until it has ended.

Starting and draining are apart. ``Process.start`` needs nothing but a few light modules of the standard library, so a
command can run already while its caller imports a database; the pipes hold up to a megabyte each until ``drain`` reads
them. ``drain`` is one loop over both pipes in the caller's thread. A sink that is slow blocks it, the pipes fill, and
the process waits: back-pressure, without a buffer of ours in between.

A process that has ended may leave child processes that hold its pipes open (``server &``). All of its own output is
read: its end is noticed first, and then the pipes are asked how many bytes they hold. Output of the children is read
until they have been silent for ``grace`` seconds, or ``linger`` seconds have passed. Then the pipes are closed, or
``drain_rest`` continues to read them.

Reads of 256 KiB from a pipe of 1 MiB took 2.3 GB/s on two shared cores, 64 KiB from a pipe of the usual size 2.0, and
256 KiB from that 0.9: a buffer that is mostly left empty costs more than it saves.
"""

from __future__ import annotations

import dataclasses
import fcntl
import os
import select
import selectors
import signal
import struct
import termios
import threading
import time
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from spillstore_tools.process.runners import NOT_EXECUTABLE, StartError, start_program

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from spillstore_tools.process.read_ahead import Piece
    from spillstore_tools.process.runners import Started

OutputStream = Literal["stdout", "stderr"]

GRACE = 0.5
LINGER = 5.0
TERM_GRACE = 2.0
_KILL_GRACE = 5.0  # for the kernel to take away what was killed
_SETTLE = 1.0  # until the end of a killed process is noticed
_PIPE_SIZE = 1024 * 1024
_READ_LARGE, _READ = 256 * 1024, 64 * 1024
_SET_PIPE_SIZE: int | None = getattr(fcntl, "F_SETPIPE_SZ", None)  # Linux alone has it


class LeftRunningError(Exception):
    """A process could not be ended, and is left alone."""


class Sink(Protocol):
    """Takes the output of a process; ``spillstore.Writer`` and ``Spill`` are sinks."""

    def write(self, data: bytes, stream: OutputStream = "stdout", *, at: float | None = None) -> int:
        """Take bytes of one stream; it may block. ``at`` says when they came, by ``time.monotonic``, if that was before."""
        ...


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a process ended.

    Attributes:
        exit_code: its exit code, or 128 + n if signal n ended it.
        signal: the name of the signal that ended it, or None.
        duration: seconds from its start to its end.
        stdout: bytes received of standard output.
        stderr: bytes received of standard error.
        held_open: streams that other processes still held open when reading stopped.
    """

    exit_code: int
    signal: str | None
    duration: float
    stdout: int
    stderr: int
    held_open: tuple[OutputStream, ...] = ()

    @property
    def received(self) -> int:
        """Bytes received of both streams."""
        return self.stdout + self.stderr


class Process:
    r"""A process that was started, and its two pipes; drained by one thread.

    Args:
        started: the command, as a runner has started it.

    Raises:
        StartError: no thread or descriptor was left to watch it, so it was killed.

    Example:
        >>> class Printed(dict):
        ...     def write(self, data, stream="stdout", at=None):
        ...         self[stream] = self.get(stream, b"") + data
        >>> printed = Printed()
        >>> outcome = Process.start(["sh", "-c", "echo out; echo err >&2; exit 3"]).drain(printed)
        >>> outcome.exit_code, outcome.stdout, outcome.stderr, printed
        (3, 4, 4, {'stdout': b'out\n', 'stderr': b'err\n'})
    """

    def __init__(self, started: Started) -> None:
        self._started = started
        # The duration includes the time before this object was made.
        self._began: float = getattr(started, "began_at", None) or time.monotonic()
        self._ended_at: float | None = None
        self._status = 0
        self._given_up: _ReadingLimit | None = None
        self._sizes: dict[OutputStream, int] = {"stdout": 0, "stderr": 0}
        self._pipes: dict[OutputStream, int] = {"stdout": started.stdout, "stderr": started.stderr}
        self._guard = threading.Lock()  # protects the pipes from being closed while another thread polls them
        self._over = threading.Event()  # it has ended, or reading was given up
        self._wakers: tuple[int, ...] = ()
        self._selector: selectors.BaseSelector | None = None
        try:
            self._wakers = os.pipe()
            self._selector = (
                selectors.DefaultSelector()
            )  # Linux reports events in the order in which they came
            self._selector.register(self._wakers[0], selectors.EVENT_READ)
            # A process may end long before it is drained: this thread notes the time.
            threading.Thread(target=self._watch, name=f"spillstore-watch-{started.pid}", daemon=True).start()
        except (OSError, RuntimeError) as error:
            started.signal_all(signal.SIGKILL)
            self.close()
            raise StartError(f"cannot watch the command: {error}", NOT_EXECUTABLE) from error
        enlarged = [_enlarge(pipe) for pipe in self._pipes.values()]
        self._read_size = _READ_LARGE if all(enlarged) else _READ

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
        """Start a program without a shell; see ``runners.start_program``.

        Returns:
            The running process. Its output waits in the pipes until ``drain``.

        Raises:
            StartError: there is no such program, or it cannot be executed.
        """
        return cls(start_program(command, cwd=cwd, env=env, stdin=stdin, own_group=own_group))

    def __repr__(self) -> str:
        return f"<Process {self.pid}>"

    @property
    def pid(self) -> int:
        """Its id; also the id of its group, if it has a group of its own."""
        return self._started.pid

    @property
    def ended(self) -> bool:
        """Whether it has ended; its children may still hold the pipes."""
        return self._ended_at is not None

    def _watch(self) -> None:
        self._status = self._started.wait()
        self._ended_at = getattr(self._started, "ended_at", None) or time.monotonic()
        self._over.set()
        self._wake_up()

    def _wake_up(self) -> None:
        with self._guard:
            if self._wakers:  # or nobody reads any more
                os.write(self._wakers[1], b"\0")

    # --- reading ----------------------------------------------------------------------------------------

    def drain(self, sink: Sink, *, grace: float = GRACE, linger: float = LINGER) -> Outcome:
        """Read both streams until the process has ended and nothing more is to come.

        Args:
            sink: takes the output; what it raises is raised.
            grace: seconds of silence after the end of the process, after which reading stops although another process
                holds a pipe open.
            linger: seconds after the end of the process, after which reading stops although another process still writes.

        Returns:
            How it ended. Where ``held_open`` names a stream, ``drain_rest`` or ``close`` must follow.

        Raises:
            LeftRunningError: it runs on, and ``give_up`` was called.
        """
        self._read(sink, _ReadingLimit(grace, linger))
        self._over.wait()
        if not self._pipes or not self.ended:
            self.close()
        if not self.ended:
            raise LeftRunningError(f"process {self.pid} could not be ended and is left alone")
        return self.outcome()

    def drain_rest(self, sink: Sink) -> Outcome:
        """Read the output of the process's children, until the last of them has closed the pipes, or ``give_up``."""
        self._read(sink, None)
        self.close()
        return self.outcome()

    def outcome(self) -> Outcome:
        """How it ended, and how much it has printed so far. Call it only after its end."""
        assert self._ended_at is not None  # the callers waited for that
        number = -self._status
        return Outcome(
            exit_code=self._status if number <= 0 else 128 + number,
            signal=_signal_name(number) if number > 0 else None,
            duration=self._ended_at - self._began,
            stdout=self._sizes["stdout"],
            stderr=self._sizes["stderr"],
            held_open=tuple(self._pipes),
        )

    def _read(self, sink: Sink, ended: _ReadingLimit | None) -> None:
        """Read until both streams end, or ``ended`` says to stop."""
        self._pass_on_ahead(sink)
        selector = self._selector
        assert selector is not None  # or there would be no object
        for stream, pipe in self._pipes.items():
            selector.register(pipe, selectors.EVENT_READ, stream)
        try:
            while self._pipes:
                left = None
                ended = self._given_up or ended
                if ended is not None and self._over.is_set():
                    left = ended.left(time.monotonic(), self._pipes)
                    if left is not None and left <= 0:
                        return
                for key, _ in selector.select(left):
                    if key.data is None:
                        os.read(self._wakers[0], 1)
                        continue
                    data = os.read(key.fd, self._read_size)
                    if data:
                        self._sizes[key.data] += len(data)
                        sink.write(data, key.data)
                    else:
                        selector.unregister(key.fd)
                        with self._guard:
                            os.close(self._pipes.pop(key.data))
                    if ended is not None:
                        ended.read(key.data, len(data), time.monotonic())
        finally:
            for pipe in self._pipes.values():
                selector.unregister(pipe)

    def _pass_on_ahead(self, sink: Sink) -> None:
        """Give what was read before this began."""
        for stream, data, at in self._read_ahead():
            self._sizes[stream] += len(data)
            sink.write(data, stream, at=at)

    def _read_ahead(self) -> list[Piece]:
        """End the reading ahead, if there is one; what it has read."""
        pieces: list[Piece] = getattr(self._started, "read_ahead", list)()
        return pieces

    def held(self) -> bool:
        """Whether another process can still print, although all known ones are gone."""
        deadline = time.monotonic() + _SETTLE
        self._over.wait(_SETTLE)
        while (held := not self.ended or self._has_writer()) and time.monotonic() < deadline:
            time.sleep(0.01)
        return held

    def _has_writer(self) -> bool:
        with self._guard:
            poll = select.poll()
            for pipe in self._pipes.values():
                poll.register(pipe, 0)  # poll reports a pipe without a writer all the same
            return len(poll.poll(0)) < len(self._pipes)

    def give_up(self) -> None:
        """Let ``drain`` and ``drain_rest`` read what is in the pipes now and return, although something still runs."""
        self._given_up = _ReadingLimit(0, 0)
        self._over.set()
        self._wake_up()

    def close(self) -> None:
        """Close the pipes; a process that still writes to them gets SIGPIPE."""
        self._read_ahead()  # no thread reads from a pipe that is closed
        with self._guard:
            while self._pipes:
                os.close(self._pipes.popitem()[1])
        self._close_own()
        self._started.close()

    def _close_own(self) -> None:
        with self._guard:
            wakers, self._wakers = self._wakers, ()
            for number in wakers:
                os.close(number)
            if self._selector is not None:
                self._selector.close()

    def __del__(self) -> None:
        self._close_own()

    # --- ending it --------------------------------------------------------------------------------------

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, or to its whole group if it has its own; nothing after its end."""
        if self._ended_at is None:
            self._started.send_signal(number)

    def end(self, grace: float = TERM_GRACE) -> bool:
        """End the process with everything it has started: SIGTERM, and SIGKILL for what is left of it then.

        Args:
            grace: seconds between the two.

        Returns:
            Whether all of it is gone. What is left sleeps inside the kernel, or belongs to another user.
        """
        return not end_together([self], grace)

    def signal_all(self, number: int) -> int:
        """Send a signal, 0 for none, to everything that it has started; returns how many processes live."""
        return self._started.signal_all(number)


class Signalled(Protocol):
    """Anything that has started processes: a ``Process``, or a ``Started``."""

    def signal_all(self, number: int) -> int:
        """Send a signal, 0 for none, to everything that it has started; returns how many processes live."""
        ...


S = TypeVar("S", bound=Signalled)


def end_together(processes: Iterable[S], grace: float = TERM_GRACE) -> list[S]:
    """``Process.end`` for many at once, on one thread; returns those of which a process is left."""
    left = _end(processes, signal.SIGTERM, grace)
    return _end(left, signal.SIGKILL, _KILL_GRACE) if left else left


def _end(processes: Iterable[S], number: int, seconds: float) -> list[S]:
    deadline = time.monotonic() + seconds
    pause = 0.001
    left = [each for each in processes if each.signal_all(number)]
    while left and time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(0.05, 2 * pause)
        # What appears after a SIGKILL was being started when it came; a SIGTERM is sent once.
        left = [each for each in left if each.signal_all(number if number == signal.SIGKILL else 0)]
    return left


class _ReadingLimit:
    """How long to read after the end of the process: all of its own bytes, and those of its children for a while."""

    def __init__(self, grace: float, linger: float) -> None:
        self._grace = grace
        self._linger = linger
        self._owed: dict[OutputStream, int] | None = None
        self._deadline = self._last_read = 0.0

    def read(self, stream: OutputStream, size: int, now: float) -> None:
        """Note that ``size`` bytes were read; 0 is the end of the stream."""
        if self._owed is not None:
            self._owed[stream] = self._owed.get(stream, 0) - size if size else 0
        self._last_read = now

    def left(self, now: float, pipes: Mapping[OutputStream, int]) -> float | None:
        """Seconds until reading stops; None while bytes of the process itself are left."""
        if self._owed is None:
            self._owed = {stream: _waiting_in(pipe) for stream, pipe in pipes.items()}
            self._deadline, self._last_read = now + self._linger, now
        if any(owed > 0 for owed in self._owed.values()):
            return None
        return min(self._deadline, self._last_read + self._grace) - now


def _enlarge(pipe: int) -> bool:
    """Let a pipe hold a megabyte; returns whether the system allowed it."""
    if _SET_PIPE_SIZE is None:
        return False
    try:
        fcntl.fcntl(pipe, _SET_PIPE_SIZE, _PIPE_SIZE)
    except OSError:
        return False
    return True


def _waiting_in(pipe: int) -> int:
    """The number of bytes that can be read from a pipe now."""
    (size,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * struct.calcsize("i")))
    return int(size)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most real-time signals have no name
        return f"signal {number}"
