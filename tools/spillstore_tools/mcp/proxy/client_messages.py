"""Messages of the client: passed on to the upstream server, or answered by the proxy."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore_tools.mcp.proxy import tasks
from spillstore_tools.mcp.wire.messages import VERSION_KEY, id_of, members_of
from spillstore_tools.mcp.wire.pending import PendingRequest
from spillstore_tools.mcp.wire.raw_json import (
    RawJsonError,
    first_byte,
    items,
    join_array,
    members,
    string_or_none,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore_tools.mcp.proxy.catalogue import ToolCatalogue
    from spillstore_tools.mcp.proxy.client import ClientConnection
    from spillstore_tools.mcp.proxy.own_calls import OwnCalls
    from spillstore_tools.mcp.proxy.tasks import TaskCalls
    from spillstore_tools.mcp.proxy.upstream import Forwarder
    from spillstore_tools.mcp.wire.messages import Id, ToolCall
    from spillstore_tools.mcp.wire.pending import PendingRequests
    from spillstore_tools.mcp.wire.raw_json import RawJson
    from spillstore_tools.mcp.wire.request_threads import RequestThreads


@dataclasses.dataclass(frozen=True, slots=True)
class ClientMessages:
    """Handles the messages of the client, on the thread that reads them.

    Attributes:
        client: the client.
        forwarder: takes what the upstream server is to answer.
        pending: the requests to the upstream server.
        catalogue: the names of tools.
        own_calls: takes calls of own tools.
        task_calls: the tool calls of tasks.
        described: the tool call of a name, an id and arguments.
        threads: where the catalogue asks for names.
    """

    client: ClientConnection
    forwarder: Forwarder
    pending: PendingRequests
    catalogue: ToolCatalogue
    own_calls: OwnCalls
    task_calls: TaskCalls
    described: Callable[[str, Id, RawJson | None], ToolCall]
    threads: RequestThreads

    def handle(self, line: bytes | bytearray) -> None:
        """Handle a line. One that is no message is passed on, for the server to say so."""
        forwarded: bytes | bytearray | None = line
        try:
            if first_byte(line) == b"[":  # a batch, which one version of the protocol has
                batch = items(line)
                left = [each for each in batch if self._is_for_upstream(members(each))]
                if len(left) < len(batch):
                    forwarded = join_array(left) if left else None
            elif first_byte(line) and not self._is_for_upstream(members(line)):
                forwarded = None
        except RawJsonError:
            pass
        if forwarded is not None:
            self.forwarder.send(forwarded)

    def _is_for_upstream(self, message: dict[str, RawJson]) -> bool:
        """Whether a message is to be passed on; others are handled here."""
        method = string_or_none(message.get("method"))
        if method is None:
            return True  # an answer to a request of the server
        identity = id_of(message.get("id"))
        params = members_of(message.get("params"))
        if identity is None:
            return method != "notifications/cancelled" or self._cancel(params)
        meta = params.get("_meta")
        modern = VERSION_KEY in members_of(meta)
        request = PendingRequest(bytes(message["id"]), method, modern=modern)
        if modern and meta is not None:
            self.catalogue.note_metadata(meta)
        if method == "tools/call":
            name = string_or_none(params.get("name")) or ""
            if self.own_calls.take(request, identity, name, params, message):
                return False
            request = dataclasses.replace(
                request, call=self.described(name, identity, params.get("arguments"))
            )
            if self.catalogue.known is None:  # a notice may have to name own tools
                self.threads.put(self.catalogue.names, 0)
        elif method in tasks.METHODS:
            request = dataclasses.replace(request, call=self.task_calls.call(params))
        elif method == "tools/list":
            if self.catalogue.is_empty:
                self.client.send_result(request, self.catalogue.own_list(modern=modern))
                return False
            request = dataclasses.replace(request, continued=string_or_none(params.get("cursor")) is not None)
        return self.forwarder.expect(identity, request)

    def _cancel(self, params: dict[str, RawJson]) -> bool:
        """Cancel a call of an own tool, or forget a request to the server; whether the server is to know."""
        identity = id_of(params.get("requestId"))
        if identity is not None:
            if self.own_calls.cancel(identity):
                return False
            self.pending.pop(identity)
        return True
