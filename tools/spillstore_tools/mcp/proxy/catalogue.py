"""The names of the upstream server's tools, as far as they are known, and so the names of the proxy's own tools."""

from __future__ import annotations

import queue
import secrets
import threading
import time
from typing import TYPE_CHECKING

from spillstore_tools.mcp.proxy.listing import OwnToolNames, ToolListPage
from spillstore_tools.mcp.wire.messages import METHOD_NOT_FOUND, error_code, members_of
from spillstore_tools.mcp.wire.pending import PendingRequest
from spillstore_tools.mcp.wire.raw_json import RawJsonError, dump, join_array, join_object

if TYPE_CHECKING:
    from spillstore_tools.mcp.proxy.upstream import UpstreamServer
    from spillstore_tools.mcp.wire.pending import PendingRequests
    from spillstore_tools.mcp.wire.raw_json import RawJson

_PATIENCE = 5.0  # seconds for the server to list its tools


class ToolCatalogue:
    """Learns names of tools from lists that the client requests, or requests a list where a name is needed before.

    Its requests have ids that begin with 64 random bits, which no client uses.

    Args:
        upstream: the server that is asked.
        pending: the requests to it.
        structured: results of own tools have structured content.
    """

    def __init__(
        self, upstream: UpstreamServer, pending: PendingRequests, *, structured: bool = False
    ) -> None:
        self._upstream = upstream
        self._pending = pending
        self._structured = structured
        self._nonce = secrets.token_hex(8)
        self._requesting = threading.Lock()  # held while the server is asked; protects the number
        self._requests = 0
        self._lock = threading.Lock()  # protects what is below
        self._names: OwnToolNames | None = None
        self._taken: set[str] = set()  # names on the pages so far
        self._has_tools: bool | None = None  # None while nobody knows
        self._metadata: bytes | None = None
        self._changes = 0

    @property
    def known(self) -> OwnToolNames | None:
        """The names of the own tools; None while those of the server are not known."""
        return self._names

    @property
    def is_empty(self) -> bool:
        """Whether the server is known to have no tools at all."""
        return self._has_tools is False

    def note_capability(self, *, has_tools: bool) -> None:
        """Note whether the server announces tools."""
        self._has_tools = has_tools

    def note_metadata(self, metadata: RawJson) -> None:
        """Note the metadata of a client's request; in versions without a handshake the server needs it in every request."""
        self._metadata = bytes(metadata)

    def note_change(self) -> None:
        """Note that the server has changed its tools: their names are not known any more."""
        with self._lock:
            self._changes += 1
            self._names = None

    def note_page(self, page: ToolListPage, *, continued: bool) -> OwnToolNames | None:
        """Note a page that the server has sent to the client; after the last page the names of the own tools."""
        with self._lock:
            self._taken = self._taken | set(page.names) if continued else set(page.names)
            if page.cursor is None:
                self._names = OwnToolNames(self._taken, structured=self._structured)
                return self._names
            return None

    def own_list(self, *, modern: bool) -> dict[str, RawJson]:
        """The result of ``tools/list`` for a server without tools, which is noted: the own tools alone.

        Args:
            modern: for a version of the protocol without a handshake.
        """
        with self._lock:
            self._has_tools = False
            self._names = OwnToolNames((), structured=self._structured)
            fields: dict[str, RawJson] = {"tools": join_array(self._names.definitions())}
        return {**fields, "ttlMs": b"0", "cacheScope": b'"private"'} if modern else fields

    def names(self) -> OwnToolNames:
        """The names of the own tools. Asks the server if need be, for seconds at most; if it does not answer, only once."""
        with self._requesting:
            names = self._names
            if names is None:
                before = self._changes
                names = OwnToolNames(
                    () if self.is_empty else self._request_names(), structured=self._structured
                )
                with self._lock:
                    if self._changes == before:
                        self._names = names
            return names

    def _request_names(self) -> set[str]:
        """The names on all pages, or on those that come in time."""
        meta = {name: each for name, each in members_of(self._metadata).items() if name != "progressToken"}
        deadline = time.monotonic() + _PATIENCE
        params: dict[str, RawJson] = {"_meta": join_object(meta)} if meta else {}
        taken: set[str] = set()
        while (answer := self._request_page(params, deadline)) is not None:
            try:
                page = ToolListPage(answer["result"])
            except (RawJsonError, KeyError):
                if error_code(answer) == METHOD_NOT_FOUND:
                    self._has_tools = False
                break
            taken |= set(page.names)
            if page.cursor is None:
                break
            params["cursor"] = dump(page.cursor)
        return taken

    def _request_page(self, params: dict[str, RawJson], deadline: float) -> dict[str, RawJson] | None:
        """The answer to a request for a page of tools; None if it does not come in time."""
        answers: queue.SimpleQueue[dict[str, RawJson] | None] = queue.SimpleQueue()
        self._requests += 1
        identity = f"{self._nonce}-{self._requests}"
        if not self._pending.add(identity, PendingRequest(dump(identity), "tools/list", answers=answers)):
            return None
        request = {"jsonrpc": b'"2.0"', "id": dump(identity), "method": b'"tools/list"'}
        try:
            if not self._upstream.send(join_object({**request, "params": join_object(params)})):
                return None
            return answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            return None
        finally:
            self._pending.pop(identity)
