"""The transport over streamable HTTP, for this machine alone.

Anybody who reaches the port can run commands. So the server listens on a loopback address alone, refuses requests whose ``Host``
or ``Origin`` is not a known one (which stops web pages that give 127.0.0.1 a name of their own), and bounds bodies. A token, if
one is set, keeps other users of the machine out. Without one they can connect all the same, so connections (``connections``) and
sessions (``client_sessions``) have limits and timeouts.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import hmac
import socket
from typing import TYPE_CHECKING, Any

from mcp.server.transport_security import TransportSecuritySettings

from spillstore_tools.loopback.admission import Admitted, header, own_hosts, refuse
from spillstore_tools.loopback.connections import HttpServer, default_limit
from spillstore_tools.mcp.server.client_sessions import ClientSessions
from spillstore_tools.mcp.server.requests import MAX_REQUEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.lowlevel import Server

PATH = "/mcp"
IDLE_TIMEOUT = (
    8 * 3600.0
)  # seconds without a request and without a stream, after which a client's session ends
UNUSED_TIMEOUT = 600.0  # the same for a session that has never called a tool or read a resource
MAX_SESSIONS = 100  # each takes some descriptors, of which processes often have 1,024
_GRACE = 2  # seconds that connections have to end


@dataclasses.dataclass(frozen=True, kw_only=True)
class Admission:
    """Limits and access rules of the HTTP server.

    Attributes:
        token: what clients must send as ``Authorization: Bearer``; None for no token.
        hosts: values of ``Host``, with the port, that requests may have besides the server's own addresses.
        origins: values of ``Origin`` that requests may have besides the server's own, such as ``http://localhost:6274``.
        connections: connections at once; None for a quarter of the descriptors that the process may have, and 1,000 at most.
        sessions: sessions of clients at once.
        unused: seconds without a request after which a session ends that has never called a tool or read a resource.
    """

    token: str | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    connections: int | None = None
    sessions: int = MAX_SESSIONS
    unused: float = UNUSED_TIMEOUT


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
        server: the SDK's server.
        address: a loopback address.
        port: 0 for one that is free.
        stopped: ends everything, also calls that are being answered.
        announce: called with the URL when clients can connect.
        admission: which clients are served.

    Raises:
        OSError: the port cannot be had.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, port), family=family) as listening:
        where = f"[{address}]" if family == socket.AF_INET6 else address
        port = listening.getsockname()[1]
        hosts = own_hosts(where, port)
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=MAX_REQUEST,
            session_idle_timeout=IDLE_TIMEOUT,
            max_sessions=admission.sessions,
            transport_security=TransportSecuritySettings(
                enable_dns_rebinding_protection=False
            ),  # ours does it
        )
        sessions = ClientSessions(
            app, hosts[0], limit=admission.sessions, unused=admission.unused, max_body=MAX_REQUEST
        )
        limit = default_limit() if admission.connections is None else admission.connections
        guarded = sessions if admission.token is None else _guarded(sessions, admission.token)
        admitted = Admitted(guarded, [*hosts, *admission.hosts], admission.origins)
        http = HttpServer(admitted, listening, limit, _GRACE, sessions.end_unused)
        async with server.session_manager.run():
            serving = asyncio.create_task(http.serve())
            stopping = asyncio.create_task(stopped.wait())
            ending = asyncio.create_task(sessions.run())
            announce(f"http://{where}:{port}{PATH}")
            try:
                await asyncio.wait([serving, stopping, ending], return_when=asyncio.FIRST_COMPLETED)
            finally:
                http.should_exit = True
                stopping.cancel()
                ending.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await ending
        await serving


def _guarded(app: Any, token: str) -> Any:
    """The application for clients that send the token; others get status 401."""
    expected = f"Bearer {token}".encode()

    async def guard(scope: Any, receive: Any, send: Any) -> None:
        sent = header(scope, b"authorization") or b""
        if hmac.compare_digest(sent, expected):
            await app(scope, receive, send)
            return
        words = "send the server's token: Authorization: Bearer TOKEN (SPILLSTORE_MCP_TOKEN)\n"
        await refuse(receive, send, 401, words, (b"www-authenticate", b"Bearer"))

    return guard
