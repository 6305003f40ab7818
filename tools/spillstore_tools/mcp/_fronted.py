r"""The server that a proxy fronts: a process in a session of its own, which ends with everything it has started when we do."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING

from spillstore_tools.mcp._lines import LineWriter, Pipe, TooLong, lines
from spillstore_tools.process import watchdog as _watchdog
from spillstore_tools.process.environment import MARK
from spillstore_tools.process.runners import start_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TERM_GRACE = 1.5  # seconds from SIGTERM to SIGKILL: clients give us two, and must find nothing left to end
_KILL_GRACE = 5.0  # for the kernel to take away what was killed


class Fronted:
    r"""A process that speaks the protocol on its stdin and stdout; its stderr is ours.

    Args:
        command: the program and its arguments.

    Raises:
        StartError: it cannot be started.

    Example:
        >>> server = Fronted(["cat"])
        >>> server.send(b'{"method": "ping"}')
        True
        >>> server.close_input()
        >>> [bytes(line) for line in server.lines()], server.wait(5.0)
        ([b'{"method": "ping"}\n'], 0)
        >>> server.end()
        True
    """

    def __init__(self, command: Sequence[str]) -> None:
        mark = os.urandom(8).hex()
        read, write = os.pipe()
        try:
            self._started = start_program(
                command, env={**os.environ, MARK: mark}, stdin=read, stderr="inherit", mark=mark
            )
        except BaseException:
            os.close(write)
            raise
        finally:
            os.close(read)
        _watchdog.begins(self._started.pid, mark)
        self._input = LineWriter(write)
        self._output = Pipe(self._started.stdout)
        self._status: int | None = None
        self._over = threading.Event()
        threading.Thread(target=self._watch, name="spillstore-fronted", daemon=True).start()

    def _watch(self) -> None:
        self._status = self._started.wait()
        self._output.ended()
        self._over.set()

    def wait(self, seconds: float) -> int | None:
        """Its exit code, 128 + n if signal n ended it; None if it still runs then."""
        self._over.wait(seconds)
        status = self._status
        return status if status is None or status >= 0 else 128 - status

    def send(self, line: bytes | bytearray) -> bool:
        """Give it a line; whether it takes any."""
        return self._input.write(line)

    def close_input(self) -> None:
        """Tell it that nothing more will come."""
        self._input.close()

    def lines(self, most: int | None = None) -> Iterator[bytes | bytearray | TooLong]:
        """What it says, line by line, to the end. For one thread, once.

        Args:
            most: bytes of a line; a longer one is thrown away, and told.
        """
        try:
            yield from lines(self._output.read, most)
        finally:
            self._output.close()

    def end(self) -> bool:
        """End it with everything it has started: SIGTERM, then SIGKILL for what is left; whether all of it is gone."""
        left = self._signal(signal.SIGTERM, _TERM_GRACE) and self._signal(signal.SIGKILL, _KILL_GRACE)
        self._over.wait(_TERM_GRACE)
        if not left:
            _watchdog.ends(self._started.pid, self._started.mark)
        return not left

    def _signal(self, number: int, seconds: float) -> int:
        """How many processes are left."""
        deadline = time.monotonic() + seconds
        left = self._started.signal_all(number)
        while left and time.monotonic() < deadline:
            time.sleep(0.01)
            left = self._started.signal_all(number if number == signal.SIGKILL else 0)
        return left
