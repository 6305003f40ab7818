"""Which requests a server on loopback admits: those that name it, and that no foreign page has sent.

A web page can reach a port of this machine under a name of its own (DNS rebinding); then ``Host`` is that name. And it can send
requests to an address of this machine; then ``Origin`` is the page's.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    App = Callable[[Any, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]]

FORBIDDEN, MISDIRECTED = 403, 421
_NAMES = ("127.0.0.1", "localhost", "[::1]")
_HTTP_PORT = 80  # which a Host need not name
_PATIENCE = 2.0  # seconds for which the rest of a refused request is taken
_log = logging.getLogger("spillstore")


def own_hosts(where: str, port: int) -> list[str]:
    """The values of ``Host`` in requests to a server; ``where`` is its address as it stands in a URL.

    Example:
        >>> own_hosts("127.0.0.1", 8765)
        ['127.0.0.1:8765', 'localhost:8765', '[::1]:8765']
    """
    names = list(dict.fromkeys([where, *_NAMES]))
    return [*(f"{name}:{port}" for name in names), *(names if port == _HTTP_PORT else ())]


class Admitted:
    """An ASGI application for requests whose ``Host`` and ``Origin`` are known ones, to the letter; others are refused.

    Args:
        app: answers the requests that are admitted.
        hosts: values of ``Host``, with the port.
        origins: values of ``Origin`` besides those of ``hosts``. A request without one is admitted.
        misdirected: the status for another ``Host``: 421, by which clients may try again elsewhere, or 403.
    """

    def __init__(
        self, app: App, hosts: Iterable[str], origins: Iterable[str] = (), *, misdirected: int = MISDIRECTED
    ) -> None:
        hosts = list(hosts)
        self._app = app
        self._hosts = {each.encode() for each in hosts}
        self._origins = {each.encode() for each in (*(f"http://{host}" for host in hosts), *origins)}
        self._misdirected = misdirected

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        if header(scope, b"host") not in self._hosts:
            _log.warning("a request names another host than this server")
            await refuse(
                receive, send, self._misdirected, "ask for it by an address of this machine, and the port\n"
            )
        elif header(scope, b"origin") not in {None, b"", *self._origins}:
            _log.warning("a request comes from a page of another origin")
            await refuse(receive, send, FORBIDDEN, "requests of pages of another origin are refused\n")
        else:
            await self._app(scope, receive, send)


def header(scope: Any, name: bytes) -> bytes | None:
    """The value of a request's header; None without it, and all values, joined, of one that is there several times."""
    found = [value for key, value in scope["headers"] if key == name]
    return b", ".join(found) if found else None


async def refuse(
    receive: Any | None, send: Any, status: int, words: str, *headers: tuple[bytes, bytes]
) -> None:
    """Answer a request with a text, and close its connection.

    Args:
        receive: brings the rest of the request, which is taken before: a client that still sends when its connection is closed may
            never see the answer. None where that was waited for in vain.
        send: takes the answer.
        status: of the answer.
        words: its text.
        headers: more of them.
    """
    if receive is not None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                while (await receive()).get("more_body", False):
                    pass
    fields = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close"), *headers]
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": words.encode()})
