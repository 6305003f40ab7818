"""Connections of an HTTP server: how many there may be, and how long one may say nothing.

Whoever is on this machine can connect, also without the token, and a process has few descriptors. So there is a limit; at
it the connection that has been without a whole request for the longest time gives way to the next one; where there is none,
a session that was never used. A request's head must come within seconds. asyncio's own accepting, which is not used, tries again as often as the queue is long when descriptors
run out, and logs each; here it waits. Uvicorn's ``limit_concurrency`` answers whoever comes late with 503, which is what a
flood is after.
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

HEAD = 10.0  # seconds for the head of a request, from the beginning of the connection or the end of the request before
_AGAIN = 1.0  # seconds until a connection is accepted again after that has failed
_SHARE = 4  # this part of the descriptors may be connections; the rest is for sessions
_MOST = 1000
_log = logging.getLogger("spillstore")


def most_connections() -> int:
    """How many there may be where nobody says: a quarter of the descriptors, and 1,000 at most."""
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MOST if descriptors == resource.RLIM_INFINITY else max(1, min(_MOST, descriptors // _SHARE))


class Connection(H11Protocol):
    """One connection, which ends if a request's head does not come in time."""

    def __init__(self, config: uvicorn.Config, server_state: ServerState, app_state: dict[str, Any]) -> None:
        super().__init__(config, server_state, app_state)
        self._late: asyncio.TimerHandle | None = None
        self.gone = asyncio.Event()
        self.idle_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """As uvicorn's."""
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """As uvicorn's."""
        self._stop()
        super().connection_lost(exc)
        self.gone.set()

    def handle_events(self) -> None:
        """As uvicorn's; with the head of a request the time is stopped, and with its body it is in use."""
        super().handle_events()
        if self.cycle is not None and not self.cycle.response_complete:
            if self._late is not None:
                self._late.cancel()
            if not self.cycle.more_body:
                self.idle_since = None

    def on_response_complete(self) -> None:
        """As uvicorn's; the next request is waited for."""
        self._watch()
        super().on_response_complete()

    def timeout_keep_alive_handler(self) -> None:
        """As uvicorn's, and what nobody reads is not kept."""
        if self.transport.get_write_buffer_size():
            self.drop()
        else:
            super().timeout_keep_alive_handler()

    def drop(self) -> None:
        """End it now."""
        self._stop()
        self.transport.abort()

    def _watch(self) -> None:
        self._stop()
        self.idle_since = self.loop.time()
        self._late = self.loop.call_later(HEAD, self.drop)

    def _stop(self) -> None:
        self.idle_since = None
        if self._late is not None:
            self._late.cancel()
            self._late = None


class Door:
    """Accepts connections as long as there is room.

    Args:
        listening: the socket, which it closes.
        web: the server that has the connections.
        most: connections at once.
    """

    def __init__(self, listening: socket.socket, web: Web, most: int) -> None:
        self._listening = listening
        self._web = web
        self._most = most
        listening.setblocking(False)
        self._accepting = asyncio.get_running_loop().create_task(self._accept())

    def close(self) -> None:
        """Accept no more."""
        self._accepting.cancel()

    async def wait_closed(self) -> None:
        """Return when nothing more is accepted."""
        with contextlib.suppress(asyncio.CancelledError):
            await self._accepting

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(self._listening)
            except OSError as error:  # no descriptor, no memory, or it was gone before
                _log.warning("a connection cannot be accepted: %s", error)
                await self._one_less()
                continue
            try:
                while len(self._web.connections) >= self._most:
                    await self._one_less()
                await loop.connect_accepted_socket(self._web.connection, accepted)
            except OSError as error:
                _log.warning("a connection cannot be served: %s", error)
                accepted.close()
            except BaseException:
                accepted.close()
                raise

    async def _one_less(self) -> None:
        """End the connection that has had no request for the longest time; if all are in use, wait until one ends."""
        idle = [each for each in self._web.connections if each.idle_since is not None]
        if idle:
            oldest = min(idle, key=lambda each: each.idle_since or 0.0)
            oldest.drop()
            await oldest.gone.wait()
            return
        if not await self._web.make_room():
            _log.warning("all %d connections are in use; the next one waits", len(self._web.connections))
        ends = [each.gone.wait() for each in self._web.connections]
        gone = [asyncio.ensure_future(each) for each in (asyncio.sleep(_AGAIN, result=True), *ends)]
        try:
            await asyncio.wait(gone, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in gone:
                each.cancel()


class Web(uvicorn.Server):
    """Uvicorn's server behind a door of ours; it leaves signals to its caller.

    Args:
        app: what it serves.
        listening: the socket.
        most: connections at once.
        last_words: seconds that they have to end.
        make_room: asked to end what holds some of them, where all are in use; whether there was any.
    """

    def __init__(
        self,
        app: Any,
        listening: socket.socket,
        most: int,
        last_words: int,
        make_room: Callable[[], Awaitable[bool]],
    ) -> None:
        config = uvicorn.Config(
            app,
            http=Connection,
            ws="none",
            lifespan="off",  # it is the caller's: streams to clients end with it, and no connection before they do
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=last_words,
        )
        super().__init__(config)
        self._listening = listening
        self._most = most
        self.make_room = make_room

    @property
    def connections(self) -> list[Connection]:
        """Those that are open."""
        return [each for each in self.server_state.connections if isinstance(each, Connection)]

    def connection(self) -> Connection:
        """What answers on a new one."""
        return Connection(self.config, self.server_state, {})

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open the door."""
        del sockets  # we have ours
        self.servers = [Door(self._listening, self, self._most)]  # type: ignore[list-item]  # as much of one as it needs
        self.started = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing is captured."""
        yield
