"""The protocol over streamable HTTP, for this machine alone.

Whoever reaches the port can run commands. So only a loopback address is listened on, requests whose ``Host`` or ``Origin``
is not one that we serve, compared whole, are refused (a web page that makes its own name mean 127.0.0.1 is stopped by that), and
bodies are bounded. Other users of the machine are kept out by a token, where one is set; without one they can connect all
the same, so connections (``_door``) and sessions (``_visitors``) have limits and times.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import hmac
import socket
from typing import TYPE_CHECKING, Any

from mcp.server.transport_security import TransportSecuritySettings

from spillstore_tools.mcp._door import Web, most_connections
from spillstore_tools.mcp._lines import MAX_REQUEST
from spillstore_tools.mcp._visitors import Visitors, refuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.lowlevel import Server

PATH = "/mcp"
IDLE = (
    8 * 3600.0
)  # seconds without a request and without a stream to the client, after which its session is closed
UNUSED = 600.0  # the same for one that has never called a tool or read a resource
SESSIONS = 100  # at once: each holds some descriptors, of which processes often have 1,024
_LAST_WORDS = 2  # seconds that connections have to end
_NAMES = ("127.0.0.1", "localhost", "[::1]")
_WEB = 80  # the port that a Host need not name


@dataclasses.dataclass(frozen=True, kw_only=True)
class Admission:
    """Who is served over HTTP, and how many.

    Attributes:
        token: what clients must send as ``Authorization: Bearer``; None for nothing.
        hosts: besides our own addresses, what a request may have as its ``Host``, with the port.
        origins: besides our own, what it may have as its ``Origin``, such as ``http://localhost:6274``.
        connections: at once; None for a quarter of the descriptors that the process may have, and 1,000 at most.
        sessions: of clients at once.
        unused: seconds without a request after which a session ends that has never called a tool or read a resource.
    """

    token: str | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    connections: int | None = None
    sessions: int = SESSIONS
    unused: float = UNUSED


async def serve_http(
    server: Server[Any],
    address: str,
    port: int,
    stopped: asyncio.Event,
    announce: Callable[[str], object],
    admission: Admission,
) -> None:
    """Serve any number of clients until ``stopped`` is set.

    Args:
        server: what they are served.
        address: of this machine's loopback.
        port: 0 for one that is free.
        stopped: ends everything, calls that are being answered too.
        announce: told the URL when clients can connect.
        admission: who is served.

    Raises:
        OSError: the port cannot be had.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, port), family=family) as listening:
        where = f"[{address}]" if family == socket.AF_INET6 else address
        port = listening.getsockname()[1]
        hosts = _hosts(where, port)
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=MAX_REQUEST,
            session_idle_timeout=IDLE,
            max_sessions=admission.sessions,
            transport_security=TransportSecuritySettings(
                allowed_hosts=[*hosts, *admission.hosts],
                allowed_origins=[*(f"http://{each}" for each in hosts), *admission.origins],
            ),
        )
        visitors = Visitors(app, hosts[0], most=admission.sessions, unused=admission.unused, body=MAX_REQUEST)
        most = most_connections() if admission.connections is None else admission.connections
        guarded = visitors if admission.token is None else _guarded(visitors, admission.token)
        web = Web(guarded, listening, most, _LAST_WORDS, visitors.make_room)
        async with server.session_manager.run():
            serving = asyncio.create_task(web.serve())
            stopping = asyncio.create_task(stopped.wait())
            watching = asyncio.create_task(visitors.watch())
            announce(f"http://{where}:{port}{PATH}")
            try:
                await asyncio.wait([serving, stopping, watching], return_when=asyncio.FIRST_COMPLETED)
            finally:
                web.should_exit = True
                stopping.cancel()
                watching.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await watching
        await serving


def _hosts(where: str, port: int) -> list[str]:
    """What a request to us has as its ``Host``."""
    names = list(dict.fromkeys([where, *_NAMES]))
    return [*(f"{name}:{port}" for name in names), *(names if port == _WEB else ())]


def _guarded(app: Any, token: str) -> Any:
    """The application for who has the token; others are told what is missing, and nothing else."""
    wanted = f"Bearer {token}".encode()

    async def guard(scope: Any, receive: Any, send: Any) -> None:
        sent = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        if hmac.compare_digest(sent, wanted):
            await app(scope, receive, send)
            return
        words = "send the server's token: Authorization: Bearer TOKEN (SPILLSTORE_MCP_TOKEN)\n"
        await refuse(send, 401, words, (b"www-authenticate", b"Bearer"))

    return guard
