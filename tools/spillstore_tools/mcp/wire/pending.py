"""Requests that a server has not answered yet."""

from __future__ import annotations

import dataclasses
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import queue

    from spillstore_tools.mcp.wire.messages import Id, ToolCall
    from spillstore_tools.mcp.wire.raw_json import RawJson


@dataclasses.dataclass(frozen=True, slots=True)
class PendingRequest:
    """A request that waits for its answer.

    Attributes:
        id: the id as it was sent.
        method: the method.
        call: the tool call, if the answer is the result of one.
        continued: the request is for another page of a list than the first.
        modern: the request is of a version of the protocol without a handshake.
        answers: where the answer is put, for a request of the proxy itself; None for one of the client.
    """

    id: RawJson
    method: str
    call: ToolCall | None = None
    continued: bool = False
    modern: bool = False
    answers: queue.SimpleQueue[dict[str, RawJson] | None] | None = None


class PendingRequests:
    """The requests by id, for any number of threads. Once it is closed it takes no more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # protects what is below
        self._requests: dict[Id, PendingRequest] = {}
        self._closed = False
        self._has_refused = False

    def add(self, identity: Id, request: PendingRequest) -> bool:
        """Add a request; False if the server has ended, and will not answer it."""
        with self._lock:
            if not self._closed:
                self._requests[identity] = request
            elif request.answers is None:
                self._has_refused = True
            return not self._closed

    def pop(self, identity: Id | None) -> PendingRequest | None:
        """Remove and return a request; None if there is none of that id."""
        with self._lock:
            return None if identity is None else self._requests.pop(identity, None)

    def clear(self) -> list[PendingRequest]:
        """Remove all requests; returns those of the client."""
        with self._lock:
            found = self._of_client()
            self._requests.clear()
            return found

    def has_clients(self) -> bool:
        """Whether a request of the client waits."""
        with self._lock:
            return bool(self._of_client())

    def has_left(self) -> bool:
        """Whether a request of the client waits, or one came once this was closed."""
        with self._lock:
            return self._has_refused or bool(self._of_client())

    def close(self) -> list[PendingRequest]:
        """Take no more requests, and end those of the proxy itself; returns those of the client, which stay."""
        with self._lock:
            self._closed = True
            for each in self._requests.values():
                if each.answers is not None:
                    each.answers.put(None)
            return self._of_client()

    def _of_client(self) -> list[PendingRequest]:
        return [each for each in self._requests.values() if each.answers is None]
