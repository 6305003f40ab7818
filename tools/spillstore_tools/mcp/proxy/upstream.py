"""The upstream server: a process in a session of its own, which ends, with all that it has started, when the proxy does."""

from __future__ import annotations

import dataclasses
import os
import signal
import threading
import time
from typing import TYPE_CHECKING

from spillstore_tools.mcp.proxy.client import SERVER_GONE
from spillstore_tools.mcp.wire.lines import LineWriter, OversizedLine, ProcessPipe, read_lines
from spillstore_tools.process import watchdog as _watchdog
from spillstore_tools.process.environment import MARK
from spillstore_tools.process.runners import start_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillstore_tools.mcp.proxy.client import ClientConnection
    from spillstore_tools.mcp.wire.messages import Id
    from spillstore_tools.mcp.wire.pending import PendingRequest, PendingRequests

_TERM_GRACE = 1.5  # seconds from SIGTERM to SIGKILL: clients wait two seconds before they kill the proxy
_ENDING = 0.5  # seconds in which a server that has stopped reading has ended, if it does
_KILL_GRACE = 5.0  # for the kernel to take away what was killed


class UpstreamServer:
    r"""A process that speaks the protocol on its stdin and stdout; its stderr is that of the proxy.

    Args:
        command: the program and its arguments.

    Raises:
        StartError: it cannot be started.

    Example:
        >>> server = UpstreamServer(["cat"])
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
        self._deaf_since: float | None = None
        self._input = LineWriter(write, self._note_deaf)
        self._output = ProcessPipe(self._started.stdout)
        self._status: int | None = None
        self._ended = threading.Event()
        threading.Thread(target=self._watch, name="spillstore-upstream", daemon=True).start()

    def _watch(self) -> None:
        self._status = self._started.wait()
        self._output.process_ended()
        self._ended.set()

    def _note_deaf(self) -> None:
        self._deaf_since = time.monotonic()

    def wait(self, seconds: float) -> int | None:
        """Wait for its end; the exit code, 128 + n if signal n ended it, or None if it still runs after ``seconds``."""
        self._ended.wait(seconds)
        status = self._status
        return status if status is None or status >= 0 else 128 - status

    def send(self, line: bytes | bytearray) -> bool:
        """Write a line to its stdin; False if it reads no more."""
        return self._input.write(line)

    def goes_on_deaf(self) -> bool:
        """Whether it lives though it reads no more: one that ends reads no more just before."""
        since = self._deaf_since
        left = 0.0 if since is None else max(0.0, since + _ENDING - time.monotonic())
        return not self._ended.wait(left)

    def close_input(self) -> None:
        """Close its stdin."""
        self._input.close()

    def lines(self, limit: int | None = None) -> Iterator[bytes | bytearray | OversizedLine]:
        """The lines of its stdout, to the end; to be called once.

        Args:
            limit: bytes of a line; a longer one is discarded.
        """
        try:
            yield from read_lines(self._output.read, limit)
        finally:
            self._output.close()

    def end(self) -> bool:
        """End it and all that it has started: SIGTERM, then SIGKILL for what is left; False if some processes remain."""
        left = self._signal(signal.SIGTERM, _TERM_GRACE) and self._signal(signal.SIGKILL, _KILL_GRACE)
        self._ended.wait(_TERM_GRACE)
        if not left:
            _watchdog.ends(self._started.pid, self._started.mark)
        return not left

    def _signal(self, number: int, seconds: float) -> int:
        """Signal the processes, and wait for their end; how many are left."""
        deadline = time.monotonic() + seconds
        left = self._started.signal_all(number)
        while left and time.monotonic() < deadline:
            time.sleep(0.01)
            left = self._started.signal_all(number if number == signal.SIGKILL else 0)
        return left


def gone(code: int | None) -> str:
    """What a client is told whose request is not answered any more.

    Args:
        code: the exit code of the server; None if it did not end by itself.
    """
    how = "was ended" if code is None else f"ended with exit code {code}"
    return f"the server {how} before it answered"


@dataclasses.dataclass(frozen=True, slots=True)
class Forwarder:
    """Sends messages to the upstream server, and answers requests with an error that it will not answer.

    Attributes:
        upstream: the upstream server.
        pending: the requests to it.
        client: the client.
    """

    upstream: UpstreamServer
    pending: PendingRequests
    client: ClientConnection

    def expect(self, identity: Id, request: PendingRequest) -> bool:
        """Note that the server is to answer a request; False if it has ended: then the request is answered with an error."""
        if self.pending.add(identity, request):
            return True
        self.client.send_error(request.id, SERVER_GONE, gone(self.upstream.wait(_ENDING)))
        return False

    def send(self, line: bytes | bytearray) -> None:
        """Send a message. If the server goes on and reads no more, all pending requests of the client are answered with an error."""
        if not self.upstream.send(line) and self.upstream.goes_on_deaf():
            for each in self.pending.clear():
                self.client.send_error(each.id, SERVER_GONE, "the server does not read any more")
