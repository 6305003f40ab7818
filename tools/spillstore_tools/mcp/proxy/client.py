"""The connection to the client of the proxy: lines from it, and lines and answers to it."""

from __future__ import annotations

import contextlib
import os
import select
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

    def lines(self) -> Iterator[bytes | bytearray | OversizedLine]:
        """The lines of the client, of any length, until it closes its end."""
        with contextlib.suppress(OSError):  # a terminal that was closed
            yield from read_lines(lambda: os.read(self._input, _READ))

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
