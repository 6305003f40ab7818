"""The protocol over streamable HTTP, for this machine alone.

Whoever reaches the port can run commands. So only a loopback address is listened on, requests whose ``Host`` or ``Origin``
is not one are refused (a web page that makes its own name mean 127.0.0.1 is stopped by that), and bodies are bounded. Other
users of the machine are kept out by a token, where one is set.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import socket
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from spillstore_tools.mcp._shared import MAX_REQUEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcp.server.lowlevel import Server

PATH = "/mcp"
IDLE = (
    8 * 3600.0
)  # seconds without a request and without a stream to the client, after which its session is closed
_CLIENTS = 100  # sessions at once: each holds some descriptors, of which processes often have 1,024
_LAST_WORDS = 2  # seconds that connections have to end
_NAMES = ("127.0.0.1", "localhost", "[::1]")


async def serve_http(
    server: Server[Any],
    address: str,
    port: int,
    stopped: asyncio.Event,
    announce: Callable[[str], object],
    *,
    token: str | None = None,
) -> None:
    """Serve any number of clients until ``stopped`` is set.

    Args:
        server: what they are served.
        address: of this machine's loopback.
        port: 0 for one that is free.
        stopped: ends everything, calls that are being answered too.
        announce: told the URL when clients can connect.
        token: what clients must send as ``Authorization: Bearer``; None for nothing.

    Raises:
        OSError: the port cannot be had.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, port), family=family) as listening:
        where = f"[{address}]" if family == socket.AF_INET6 else address
        names = dict.fromkeys([where, *_NAMES])
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=MAX_REQUEST,
            session_idle_timeout=IDLE,
            max_sessions=_CLIENTS,
            transport_security=TransportSecuritySettings(
                allowed_hosts=[each for name in names for each in (name, f"{name}:*")],
                allowed_origins=[each for name in names for each in (f"http://{name}", f"http://{name}:*")],
            ),
        )
        web = _Web(
            uvicorn.Config(
                app if token is None else _guarded(app, token),
                lifespan="off",  # it is ours, below: streams to clients end with it, and no connection before they do
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=_LAST_WORDS,
            )
        )
        async with server.session_manager.run():
            serving = asyncio.create_task(web.serve(sockets=[listening]))
            stopping = asyncio.create_task(stopped.wait())
            announce(f"http://{where}:{listening.getsockname()[1]}{PATH}")
            try:
                await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
            finally:
                web.should_exit = True
                stopping.cancel()
        await serving


def _guarded(app: Any, token: str) -> Any:
    """The application for who has the token; others are told what is missing, and nothing else."""
    wanted = f"Bearer {token}".encode()

    async def guard(scope: Any, receive: Any, send: Any) -> None:
        sent = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        if hmac.compare_digest(sent, wanted):
            await app(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        words = b"send the server's token: Authorization: Bearer TOKEN (SPILLSTORE_MCP_TOKEN)\n"
        await send({"type": "http.response.body", "body": words})

    return guard


class _Web(uvicorn.Server):
    """Uvicorn's, which leaves signals to its caller."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing is captured."""
        yield
