"""The connection to the client of the proxy: lines from it, and lines and answers to it."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from typing import TYPE_CHECKING

from spillstore_tools.mcp.wire.lines import LineWriter, read_lines
from spillstore_tools.mcp.wire.raw_json import dump, join_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore_tools.mcp.wire.lines import OversizedLine
    from spillstore_tools.mcp.wire.pending import PendingRequest
    from spillstore_tools.mcp.wire.raw_json import RawJson

SERVER_GONE = -32000
_READ = 256 * 1024


class ClientConnection:
    """A pair of descriptors that lead to the client.

    Args:
        streams: the descriptors to read from and to write to.
        on_broken: called once, when the client reads no more.

    Attributes:
        write: writes a line, as ``LineWriter.write``.
    """

    def __init__(self, streams: tuple[int, int], on_broken: Callable[[], object]) -> None:
        self._input, self._output = streams
        self._writer = LineWriter(self._output, on_broken)
        self.write = self._writer.write
        self._handling = threading.Condition()  # protects what is below
        self._is_handling = False  # bytes were read, and their lines are not handled yet
        self._has_ended = False

    def lines(self) -> Iterator[bytes | bytearray | OversizedLine]:
        """The lines of the client, of any length, until it closes its end."""
        try:
            with contextlib.suppress(OSError):  # a terminal that was closed
                yield from read_lines(self._read)
        finally:
            with self._handling:
                self._has_ended = True
                self._handling.notify_all()

    def _read(self) -> bytes:
        """The next bytes; all lines before are handled."""
        with self._handling:
            self._is_handling = False
            self._handling.notify_all()
        _has_come(self._input)
        with self._handling:
            self._is_handling = True
        return os.read(self._input, _READ)

    def wait_until_handled(self, seconds: float) -> bool:
        """Wait until all that the client has sent so far is handled, ``seconds`` at most; whether it is."""
        with self._handling:
            return self._handling.wait_for(
                lambda: self._has_ended or not (self._is_handling or _has_come(self._input, 0)), seconds
            )

    def is_reading(self) -> bool:
        """Whether somebody has the other end of a pipe to the client open."""
        poll = select.poll()
        poll.register(self._output, 0)
        return not poll.poll(0)

    def send_result(self, request: PendingRequest, fields: dict[str, RawJson]) -> None:
        """Answer a request with a result of these members."""
        if request.modern:
            fields = {**fields, "resultType": b'"complete"'}
        self.write(join_object({"jsonrpc": b'"2.0"', "id": request.id, "result": join_object(fields)}))

    def send_error(self, identity: RawJson, code: int, message: str) -> None:
        """Answer the request of that id with an error."""
        error = {"code": code, "message": message}
        self.write(join_object({"jsonrpc": b'"2.0"', "id": identity, "error": dump(error)}))


def _has_come(descriptor: int, seconds: float | None = None) -> bool:
    """Whether there is something to read, or the end; waits ``seconds`` for it, None for any time."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(None if seconds is None else seconds * 1000))
