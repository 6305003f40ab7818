"""Limits on the sessions of clients over HTTP: how many there may be, and how long an unused one stays.

A client's session takes descriptors and memory, and anybody who can connect can begin one. So a session that has never called a
tool or read a resource ends after minutes without a request, or at once when there are too many sessions. A used one stays as
long as the SDK keeps it. A session is ended as a client would end it, by a request.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
from typing import TYPE_CHECKING, Any

from spillstore_tools.loopback.admission import header, refuse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from spillstore_tools.loopback.admission import App

BODY_TIMEOUT = 30.0  # seconds for the body of a request
_SESSION_ID = b"mcp-session-id"
_USE_METHODS = frozenset({"tools/call", "resources/read"})
_log = logging.getLogger("spillstore")


@dataclasses.dataclass(slots=True)
class _ClientSession:
    """A client's session."""

    last_request: float  # when it ended
    is_used: bool = False
    requests: int = 0  # that are being answered, streams among them


class ClientSessions:
    """An ASGI application that reads requests whole, within time and size limits, and tracks the sessions of clients.

    Args:
        app: answers the requests.
        host: the ``Host`` of requests that end a session.
        limit: sessions at once.
        unused: seconds without a request after which an unused session ends.
        max_body: bytes of a request's body.
    """

    def __init__(self, app: App, host: str, *, limit: int, unused: float, max_body: int) -> None:
        self._app = app
        self._host = host.encode()
        self._limit = limit
        self._unused = unused
        self._max_body = max_body
        self._sessions: dict[bytes, _ClientSession] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        try:
            async with asyncio.timeout(BODY_TIMEOUT):
                body = await self._read(receive)
        except ConnectionError:
            return
        except TimeoutError:
            await refuse(
                None, send, 408, f"the body of a request must come within {BODY_TIMEOUT:g} seconds\n"
            )
            return
        if body is None:
            await refuse(receive, send, 413, f"the body of a request may have {self._max_body} bytes\n")
            return
        identity = header(scope, _SESSION_ID)
        if identity is None and scope["method"] == "POST" and len(self._sessions) >= self._limit:
            await self.end_unused()
        await self._answer(scope, _Replay(body, receive), send, identity, is_use=_is_use(body))

    async def _read(self, receive: Any) -> bytes | None:
        """The body; None if it is too long."""
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise ConnectionError("the client has gone")
            body += message.get("body", b"")
            if len(body) > self._max_body:
                return None
            if not message.get("more_body", False):
                return bytes(body)

    async def _answer(
        self, scope: Any, receive: _Replay, send: Any, identity: bytes | None, *, is_use: bool
    ) -> None:
        session = None if identity is None else self._sessions.get(identity)
        session = session or _ClientSession(_now())
        session.requests += 1
        session.is_used = session.is_used or is_use

        async def send_watched(message: Any) -> None:
            if message["type"] == "http.response.start":
                given = dict(message.get("headers", ())).get(_SESSION_ID)
                if identity is None and given is not None and message["status"] < 400:  # noqa: PLR2004  # a new session
                    self._sessions[given] = session
                elif identity is not None and (message["status"] == 404 or scope["method"] == "DELETE"):  # noqa: PLR2004  # gone
                    self._sessions.pop(identity, None)
            await send(message)

        try:
            await self._app(scope, receive, send_watched)
        finally:
            session.requests -= 1
            session.last_request = _now()

    async def run(self) -> None:
        """End unused sessions when they are due; runs until it is cancelled."""
        while True:
            await asyncio.sleep(min(60.0, self._unused / 4))
            due = _now() - self._unused
            for identity, each in list(self._sessions.items()):
                if not each.is_used and not each.requests and each.last_request <= due:
                    await self._end(identity)

    async def end_unused(self) -> bool:
        """End an unused session, preferably one without a stream; False if there is none."""
        unused = [
            (each.requests > 0, each.last_request, identity)
            for identity, each in self._sessions.items()
            if not each.is_used
        ]
        if unused:
            _log.warning("there is no more room for clients: a session that was never used ends")
            await self._end(min(unused)[2])
        return bool(unused)

    async def _end(self, identity: bytes) -> None:
        self._sessions.pop(identity, None)
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "method": "DELETE",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "root_path": "",
            "query_string": b"",
            "headers": [(b"host", self._host), (_SESSION_ID, identity)],
        }

        async def nothing(_: Any) -> None:
            pass

        await self._app(scope, _Replay(b"", asyncio.Event().wait), nothing)


class _Replay:
    """Receives a body that was read already, and then what follows."""

    def __init__(self, body: bytes, receive: Callable[[], Awaitable[Any]]) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Any:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


def _is_use(body: bytes) -> bool:
    """Whether a request makes a session a used one."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return any(
        isinstance(each, dict) and each.get("method") in _USE_METHODS
        for each in (found if isinstance(found, list) else [found])
    )


def _now() -> float:
    return asyncio.get_running_loop().time()
