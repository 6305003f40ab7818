"""What goes from the client to the upstream server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.mcp.proxy.client import SERVER_GONE

if TYPE_CHECKING:
    from spillstore_tools.mcp.proxy.client import ClientConnection
    from spillstore_tools.mcp.proxy.upstream import UpstreamServer
    from spillstore_tools.mcp.wire.messages import Id
    from spillstore_tools.mcp.wire.pending import PendingRequest, PendingRequests


class Forwarder:
    """Sends messages to the upstream server, and answers requests with an error that it will not answer.

    Args:
        upstream: the server.
        pending: the requests to it.
        client: the client.
    """

    def __init__(self, upstream: UpstreamServer, pending: PendingRequests, client: ClientConnection) -> None:
        self._upstream = upstream
        self._pending = pending
        self._client = client

    def expect(self, identity: Id, request: PendingRequest) -> bool:
        """Note that the server is to answer a request; False if it has ended, which the client is told."""
        if self._pending.add(identity, request):
            return True
        self._client.send_error(request.id, SERVER_GONE, "the server has ended")
        return False

    def send(self, line: bytes | bytearray) -> None:
        """Send a message. If the server reads no more, all pending requests of the client are answered with an error."""
        if not self._upstream.send(line):
            for each in self._pending.clear():
                self._client.send_error(each.id, SERVER_GONE, "the server does not read any more")
