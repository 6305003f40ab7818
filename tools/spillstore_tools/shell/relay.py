"""Passes on what a command prints, and decides when that is too much: ``Relay``.

    at most 2,000 bytes in all     pass at once
    up to 8,000                    pass after a second, or at the end
    more                           a ``Capture`` takes everything from the first byte; its text is shown at the end

So little output passes to the byte, and of much output little is shown twice. What a configuration or another profile shows is
known only when those are imported, so the capture has it all from the first byte then, and little output is still passed on.
Whatever fails on our side, all that has not been passed on passes as it is, and so does all that comes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct
import termios
import time

TYPE_CHECKING = False  # that of ``typing`` would take longer to import than a small command runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore_tools.shell.capture import Capture

LIVE = 2000  # bytes that pass at once
SMALL = 8000  # bytes that pass; no more characters than the profile ``default`` shows
HELD = 1.0  # seconds that such bytes are held back at most
PATIENCE = 10.0  # seconds after which it is said how to look at what there is
GRACE = 0.5  # seconds of silence after the shell's end that others have to print more of what is stored
LINGER = 5.0  # and in all
_STREAMS = (1, 2)
_READ = 256 * 1024
_KEPT = 128 * 1024  # bytes that are kept here, until an artifact has them


class Relay:
    """The output of one command.

    Args:
        pipes: the descriptors to read, with the number of the stream (1 or 2) of each.
        wake: a descriptor that can be read when the command may have ended.
        capture: makes what takes output that is too much.
        is_known: whether the limits above are those that hold.
        ended: says whether the command has ended.
    """

    def __init__(
        self,
        pipes: dict[int, int],
        wake: int,
        capture: Callable[[], Capture],
        *,
        is_known: bool,
        ended: Callable[[], bool],
    ) -> None:
        self.pipes = pipes
        self.problem: str | None = None  # why nothing is stored
        self._wake = wake
        self._make = capture
        self._live, self._small = (LIVE, SMALL) if is_known else (0, 0)
        self._ended = ended
        self._capture: Capture | None = None
        self._failed = False
        self._pieces: list[tuple[int, bytes, float]] = []  # each with the time at which it came
        self._complete = True  # whether ``_pieces`` has all output
        self._total = 0
        self._passed = 0  # pieces
        self._shown = 0  # bytes of those
        self._last = b"\n"  # byte of stdout
        self._since: float | None = None  # when the first byte came that is held back
        self._patient = time.monotonic() + PATIENCE
        self._poll = select.poll()
        self._poll.register(wake, select.POLLIN)
        for pipe, stream in pipes.items():
            os.set_blocking(pipe, False)
            self._poll.register(pipe, select.POLLIN)
            self._poll.register(stream, 0)  # only that its reader is gone

    def run(self) -> None:
        """Return when the command has ended, and all that it printed itself was read."""
        while not self._ended():
            self._step(self._timeout())
        for pipe in list(self.pipes):
            owed = _waiting_in(pipe)
            while owed > 0 and pipe in self.pipes:
                owed -= self._read(pipe)
        if self._capture is not None:
            self._read_others()

    def _read_others(self) -> None:
        """Read what processes behind the command print soon after its end: it belongs to the text."""
        now = time.monotonic()
        until, silent = now + LINGER, now + GRACE
        while self.pipes and now < min(until, silent) and self._capture is not None:
            before = self._total
            self._step(min(until, silent) - now)
            now = time.monotonic()
            if self._total > before:
                silent = now + GRACE

    def finish(self, exit_code: int) -> None:
        """Show what has not been shown."""
        capture, self._capture = self._capture, None
        if capture is None:
            self._pass_all()
            return
        text: str | None
        try:
            if (
                self._complete
                and not capture.is_stored
                and capture.shows(data for _, data, _ in self._pieces)
            ):
                capture.drop()
                text = None
            else:
                text = capture.finish(exit_code, self._shown)
                if self._complete and (capture.problem is not None or not capture.is_stored):
                    text, self.problem = None, capture.problem
                elif self._complete and self._total <= self._small:
                    text = None  # it was asked for before its end, and is shown like any that is as small
        except Exception as error:  # noqa: BLE001  # whatever it is, what the command has printed is shown
            text, self.problem = None, _words(error)
        if text is None:
            self._pass_all()
        else:
            start = b"" if self._last == b"\n" else b"\n"
            self._write(1, start + text.encode(errors="replace"))

    def fail(self, error: Exception) -> None:
        """Go on after a defect: nothing more is stored. What only the store has is still shown at the end."""
        if self._capture is None or self._complete:
            self._fail(_words(error))
        else:
            self.problem = _words(error)

    # --- reading ----------------------------------------------------------------------------------------

    def _timeout(self) -> float | None:
        """Seconds until something is due, or None; what is due now is done."""
        now = time.monotonic()
        if self._since is not None and now >= self._since + HELD:
            self._pass_all()
        if self._patient and now >= self._patient:
            self._patient = 0.0
            self._say_where()
        due = [self._since + HELD] if self._since is not None else []
        if self._patient:
            due.append(self._patient)
        return max(0.0, min(due) - now) if due else None

    def _step(self, seconds: float | None) -> None:
        """Wait for output and take it."""
        wait = None if seconds is None else seconds * 1000 + 1
        for number, event in self._poll.poll(wait):
            if number in self.pipes:
                self._read(number)
            elif number == self._wake:
                os.read(number, 64)
            elif number in _STREAMS and event & (select.POLLERR | select.POLLHUP | select.POLLNVAL):
                self._give_up(number)

    def _read(self, pipe: int) -> int:
        """Read once from a pipe; returns how much, or more than any pipe holds at its end."""
        try:
            data = os.read(pipe, _READ)
        except BlockingIOError:
            return _READ
        stream = self.pipes[pipe]
        if data:
            self._take(stream, data)
            return len(data)
        self._close(pipe)
        return _READ

    def _give_up(self, stream: int) -> None:
        """Nobody reads a stream any more: the command learns of it as it would without us."""
        self._poll.unregister(stream)
        for pipe in [pipe for pipe, each in self.pipes.items() if each == stream]:
            self._close(pipe)

    def _close(self, pipe: int) -> None:
        self._poll.unregister(pipe)
        del self.pipes[pipe]
        os.close(pipe)

    # --- passing on -------------------------------------------------------------------------------------

    def _take(self, stream: int, data: bytes) -> None:
        self._total += len(data)
        if self._failed:
            self._write(stream, data)
            return
        now = time.monotonic()
        if self._complete:
            self._pieces.append((stream, data, now))
        if self._capture is not None:
            self._give(stream, data, now)
        elif self._total > self._small:
            self._hand_over()
        self._pass_little()

    def _pass_little(self) -> None:
        """Pass on what is little so far, or note since when it is held back."""
        if self._failed:
            return
        if self._total <= self._live:
            self._pass_all()
        elif self._total <= self._small:
            if self._since is None:
                self._since = time.monotonic()
        else:
            self._since = None

    def _hand_over(self) -> None:
        """Give everything to a capture."""
        try:
            self._capture = self._make()
        except Exception as error:  # noqa: BLE001  # a module, the configuration: the command's output passes
            self._fail(_words(error))
            return
        if not self._small:
            self._live = min(LIVE, self._capture.limit // 4)
            self._small = min(SMALL, self._capture.limit)
        for stream, data, at in list(self._pieces):
            if self._capture is not None:
                self._give(stream, data, at)

    def _give(self, stream: int, data: bytes, at: float) -> None:
        capture = self._capture
        assert capture is not None  # the caller has looked
        try:
            capture.write(stream, data, at)
        except Exception as error:  # noqa: BLE001  # likewise
            self._fail(_words(error))
            return
        if self._complete and capture.problem is not None and not capture.is_stored:
            self._fail(capture.problem)
        elif self._total > _KEPT:  # more than any profile holds back
            self._complete = False
            self._pieces = []

    def _fail(self, why: str) -> None:
        """Go on without the store."""
        self.problem = why
        capture, self._failed, self._capture = self._capture, True, None
        if capture is not None:
            with contextlib.suppress(Exception):  # why is told already
                capture.drop()
        self._pass_all()
        self._pieces = []

    def _pass_all(self) -> None:
        """Pass on what is held back."""
        self._since = None
        pieces = self._pieces[self._passed :]
        self._passed = len(self._pieces)
        for stream, data, _ in pieces:
            self._shown += len(data)
            self._write(stream, data)

    def _say_where(self) -> None:
        """Say where to look at what there is, which is stored from now on."""
        if self._failed:
            return
        if self._capture is None:
            self._hand_over()
        if self._capture is None:
            return
        try:
            artifact_id = self._capture.keep()
        except Exception as error:  # noqa: BLE001  # likewise
            self._fail(_words(error))
            return
        if artifact_id is None:
            self._fail(self._capture.problem or "the store made no artifact")
            return
        start = "" if self._last == b"\n" else "\n"
        self._write(1, f"{start}[running; artifact {artifact_id}: spillstore tail {artifact_id}]\n".encode())

    def _write(self, stream: int, data: bytes) -> None:
        if stream == 1 and data:
            self._last = data[-1:]
        if not write(stream, data):
            for pipe in [pipe for pipe, each in self.pipes.items() if each == stream]:
                self._close(pipe)


def write(stream: int, data: bytes) -> bool:
    """Write bytes to our stdout or stderr; whether somebody reads it."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(stream, rest) :]
        except BlockingIOError:  # another program has set it to this mode
            select.select([], [stream], [])
        except OSError:  # nobody reads it, or there is no room in its file
            return False
    return True


def pass_on(pipes: dict[int, int]) -> None:
    """Pass on what others print who hold the pipes, until the last of them has closed them."""
    poll = select.poll()
    for pipe in pipes:
        os.set_blocking(pipe, True)
        poll.register(pipe, select.POLLIN)
    for stream in set(pipes.values()):
        poll.register(stream, 0)
    while pipes:
        for number, _ in poll.poll():
            gone: list[int] = []
            if number in _STREAMS:  # nobody reads that stream any more
                poll.unregister(number)
                gone = [pipe for pipe, stream in pipes.items() if stream == number]
            elif number in pipes:
                data = os.read(number, _READ)
                gone = [] if data and write(pipes[number], data) else [number]
            for pipe in gone:
                poll.unregister(pipe)
                os.close(pipe)
                del pipes[pipe]


def _waiting_in(pipe: int) -> int:
    """The number of bytes that can be read from a pipe now."""
    (size,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * struct.calcsize("i")))
    return int(size)


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
