"""Sessions of clients over HTTP: how many there may be, and for how long one stays that was never used.

A client's session holds descriptors and memory, and whoever may connect can begin as many as there may be. So one that has
never called a tool or read a resource ends after minutes without a request, and gives way at once when there are too many;
one that was used stays as long as the SDK keeps it. They are ended as a client would: by a request of our own.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    App = Callable[[Any, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]]

BODY = 30.0  # seconds for the body of a request
_ID = b"mcp-session-id"
_USES = frozenset({"tools/call", "resources/read"})
_log = logging.getLogger("spillstore")


@dataclasses.dataclass(slots=True)
class _Visitor:
    """A client's session."""

    since: float  # when it was last heard of
    used: bool = False
    requests: int = 0  # being answered, streams among them


class Visitors:
    """An application that reads requests whole, in time and in bounds, and knows the sessions that they belong to.

    Args:
        app: answers them.
        host: what ``Host`` is right.
        most: sessions at once.
        unused: seconds without a request after which one that was never used ends.
        body: bytes of a request's body.
    """

    def __init__(self, app: App, host: str, *, most: int, unused: float, body: int) -> None:
        self._app = app
        self._host = host.encode()
        self._most = most
        self._unused = unused
        self._body = body
        self._known: dict[bytes, _Visitor] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        try:
            async with asyncio.timeout(BODY):
                body = await self._read(receive)
        except ConnectionError:
            return
        except TimeoutError:
            await refuse(send, 408, f"the body of a request must come within {BODY:g} seconds\n")
            return
        if body is None:
            await refuse(send, 413, f"the body of a request may have {self._body} bytes\n")
            return
        identity = _header(scope, _ID)
        if identity is None and scope["method"] == "POST" and len(self._known) >= self._most:
            await self.make_room()
        await self._answer(scope, _Replay(body, receive), send, identity, used=_uses(body))

    async def _read(self, receive: Any) -> bytes | None:
        """The body; None if it is too long."""
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise ConnectionError("the client has gone")
            body += message.get("body", b"")
            if len(body) > self._body:
                return None
            if not message.get("more_body", False):
                return bytes(body)

    async def _answer(
        self, scope: Any, receive: _Replay, send: Any, identity: bytes | None, *, used: bool
    ) -> None:
        visitor = None if identity is None else self._known.get(identity)
        visitor = visitor or _Visitor(_now())
        visitor.requests += 1
        visitor.used = visitor.used or used

        async def watched(message: Any) -> None:
            if message["type"] == "http.response.start":
                given = dict(message.get("headers", ())).get(_ID)
                if identity is None and given is not None and message["status"] < 400:  # noqa: PLR2004  # a new session
                    self._known[given] = visitor
                elif identity is not None and (message["status"] == 404 or scope["method"] == "DELETE"):  # noqa: PLR2004  # gone
                    self._known.pop(identity, None)
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            visitor.requests -= 1
            visitor.since = _now()

    async def watch(self) -> None:
        """End sessions that were never used, for ever."""
        while True:
            await asyncio.sleep(min(60.0, self._unused / 4))
            due = _now() - self._unused
            for identity, each in list(self._known.items()):
                if not each.used and not each.requests and each.since <= due:
                    await self._end(identity)

    async def make_room(self) -> bool:
        """End a session that was never used, rather one that nobody listens to; whether there is one."""
        unused = [
            (each.requests > 0, each.since, identity)
            for identity, each in self._known.items()
            if not each.used
        ]
        if unused:
            _log.warning("there is no more room for clients: a session that was never used ends")
            await self._end(min(unused)[2])
        return bool(unused)

    async def _end(self, identity: bytes) -> None:
        self._known.pop(identity, None)
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
            "headers": [(b"host", self._host), (_ID, identity)],
        }

        async def nothing(_: Any) -> None:
            pass

        await self._app(scope, _Replay(b"", asyncio.Event().wait), nothing)


class _Replay:
    """A body that was read, and then what comes."""

    def __init__(self, body: bytes, receive: Callable[[], Awaitable[Any]]) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Any:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


async def refuse(send: Any, status: int, words: str, *headers: tuple[bytes, bytes]) -> None:
    """Answer a request with a few words, and let its connection end."""
    told = [(b"content-type", b"text/plain"), (b"connection", b"close"), *headers]
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": words.encode()})


def _header(scope: Any, name: bytes) -> bytes | None:
    return next((value for each, value in scope["headers"] if each == name), None)


def _uses(body: bytes) -> bool:
    """Whether a request is one for which a session is kept."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return any(
        isinstance(each, dict) and each.get("method") in _USES
        for each in (said if isinstance(said, list) else [said])
    )


def _now() -> float:
    return asyncio.get_running_loop().time()
