"""Connections of an HTTP server: how many there may be, and how long one may be silent.

Anybody on this machine can connect, also without the token, and a process has few descriptors. So connections are limited. At
the limit the connection that has been without a whole request for the longest time is closed for the next one; if all have
requests, a client's session that was never used is ended. The head of a request must come within seconds. asyncio's own
accepting is not used: when descriptors run out, it tries again and logs once for each place in the backlog; here it waits.
Uvicorn's ``limit_concurrency`` is not used: it answers late clients with 503, which is what a flood is after.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable, Iterator

    from uvicorn.server import ServerState

HEAD_TIMEOUT = (
    10.0  # seconds for the head of a request, from the start of the connection or the end of the last request
)
_RETRY = 1.0  # seconds until the next attempt to accept a connection after one has failed
_SHARE = 4  # one of so many descriptors may be a connection; the rest is for sessions
_MAX = 1000
_log = logging.getLogger("spillstore")


def default_limit() -> int:
    """The default number of connections: a quarter of the descriptors, and 1,000 at most."""
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MAX if descriptors == resource.RLIM_INFINITY else max(1, min(_MAX, descriptors // _SHARE))


class Connection(H11Protocol):
    """A connection, which is closed if the head of a request does not come in time.

    Attributes:
        closed: set when the connection has ended.
        idle_since: when it began to wait for a request, on the loop's clock; None while it has one.
    """

    def __init__(self, config: uvicorn.Config, server_state: ServerState, app_state: dict[str, Any]) -> None:
        super().__init__(config, server_state, app_state)
        self._timeout: asyncio.TimerHandle | None = None
        self.closed = asyncio.Event()
        self.idle_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """As uvicorn's."""
        super().connection_made(transport)
        self._start_timeout()

    def connection_lost(self, exc: Exception | None) -> None:
        """As uvicorn's."""
        self._stop_timeout()
        super().connection_lost(exc)
        self.closed.set()

    def handle_events(self) -> None:
        """As uvicorn's; the timeout ends with the head of a request, the idle time with its body."""
        super().handle_events()
        if self.cycle is not None and not self.cycle.response_complete:
            if self._timeout is not None:
                self._timeout.cancel()
            if not self.cycle.more_body:
                self.idle_since = None

    def _unsupported_upgrade_warning(self) -> None:
        """Instead of uvicorn's, which says what to install."""
        _log.warning("a request asks for another protocol, such as WebSocket; it is answered over HTTP")

    def on_response_complete(self) -> None:
        """As uvicorn's; the timeout for the next request begins."""
        self._start_timeout()
        super().on_response_complete()

    def timeout_keep_alive_handler(self) -> None:
        """As uvicorn's, but a connection whose client does not read is dropped."""
        if self.transport.get_write_buffer_size():
            self.drop()
        else:
            super().timeout_keep_alive_handler()

    def drop(self) -> None:
        """Close it now, with what is not sent."""
        self._stop_timeout()
        self.transport.abort()

    def _start_timeout(self) -> None:
        self._stop_timeout()
        self.idle_since = self.loop.time()
        self._timeout = self.loop.call_later(HEAD_TIMEOUT, self.drop)

    def _stop_timeout(self) -> None:
        self.idle_since = None
        if self._timeout is not None:
            self._timeout.cancel()
            self._timeout = None


class Acceptor:
    """Accepts connections up to a limit.

    Args:
        listening: the listening socket.
        server: the server that has the connections.
        limit: connections at once.
    """

    def __init__(self, listening: socket.socket, server: HttpServer, limit: int) -> None:
        self._listening = listening
        self._server = server
        self._limit = limit
        listening.setblocking(False)
        self._accepting = asyncio.get_running_loop().create_task(self._accept())

    def close(self) -> None:
        """Accept no more connections."""
        self._accepting.cancel()

    async def wait_closed(self) -> None:
        """Wait until it has ended."""
        with contextlib.suppress(asyncio.CancelledError):
            await self._accepting

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(self._listening)
            except OSError as error:  # no descriptor, no memory, or the client has gone
                _log.warning("a connection cannot be accepted: %s", error)
                await self._make_room()
                continue
            try:
                while len(self._server.connections) >= self._limit:
                    await self._make_room()
                await loop.connect_accepted_socket(self._server.connection, accepted)
            except OSError as error:
                _log.warning("a connection cannot be served: %s", error)
                accepted.close()
            except BaseException:
                accepted.close()
                raise

    async def _make_room(self) -> None:
        """Close the connection that has been idle for the longest time; if all are in use, wait until one ends."""
        idle = [each for each in self._server.connections if each.idle_since is not None]
        if idle:
            oldest = min(idle, key=lambda each: each.idle_since or 0.0)
            oldest.drop()
            await oldest.closed.wait()
            return
        if not await self._server.end_session():
            _log.warning("all %d connections are in use; the next one waits", len(self._server.connections))
        ends = [each.closed.wait() for each in self._server.connections]
        waits = [asyncio.ensure_future(each) for each in (asyncio.sleep(_RETRY, result=True), *ends)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()


class HttpServer(uvicorn.Server):
    """Uvicorn's server with limited connections; it leaves signals to its caller.

    Args:
        app: the ASGI application.
        listening: the listening socket.
        limit: connections at once.
        grace: seconds that they have to end.
        end_session: called if all connections are in use, to end a session that holds one; returns whether there was any.
    """

    def __init__(
        self,
        app: Any,
        listening: socket.socket,
        limit: int,
        grace: int,
        end_session: Callable[[], Awaitable[bool]],
    ) -> None:
        config = uvicorn.Config(
            app,
            http=Connection,
            ws="none",
            lifespan="off",  # the caller handles it: streams to clients end with it, and connections after them
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=grace,
        )
        super().__init__(config)
        self._listening = listening
        self._limit = limit
        self.end_session = end_session

    @property
    def connections(self) -> list[Connection]:
        """The open connections."""
        return [each for each in self.server_state.connections if isinstance(each, Connection)]

    def connection(self) -> Connection:
        """A protocol for a new connection."""
        return Connection(self.config, self.server_state, {})

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        del sockets  # there is one already
        self.servers = [Acceptor(self._listening, self, self._limit)]  # type: ignore[list-item]  # it needs no more of one
        self.started = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield
