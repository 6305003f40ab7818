"""The life of the server: from a port to a signal."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from typing import TYPE_CHECKING, Any, Final

from spillstore_tools.loopback.admission import FORBIDDEN, Admitted, own_hosts
from spillstore_tools.loopback.connections import HttpServer, default_limit
from spillstore_tools.viewer.web.access import Access
from spillstore_tools.viewer.web.application import application
from spillstore_tools.viewer.web.layout import address as address_of
from spillstore_tools.viewer.web.layout import where
from spillstore_tools.viewer.web.opened import IDLE, Opened

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Store

_GRACE: Final = 1  # seconds that connections have to end
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def session_address(session: str, project: str | None) -> str:
    """The page of a session."""
    return address_of("/artifacts", where(session, project))


def serve(store: Store, address: str, port: int, announce: Callable[[str], object], home: str = "/") -> int:
    """Serve pages about a store until a signal comes; returns 128 + its number.

    Args:
        store: the store.
        address: a loopback address.
        port: 0 for one that is free.
        announce: called with the URL that lets one browser in.
        home: the page that it comes to.

    Raises:
        OSError: the port cannot be had.
    """
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # a browser, or who reads stderr, may have gone
    return asyncio.run(_serve(store, address, port, announce, home))


async def _serve(store: Store, address: str, port: int, announce: Callable[[str], object], home: str) -> int:
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[int] = loop.create_future()

    def stop(number: int) -> None:
        if not stopped.done():
            stopped.set_result(number)

    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, stop, number)
    opened = Opened(store)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.create_server((address, port), family=family) as listening:
            host = f"[{address}]" if family == socket.AF_INET6 else address
            port = listening.getsockname()[1]
            ends = asyncio.Event()
            access = Access(application(opened, ends), port, home)
            admitted = Admitted(access, own_hosts(host, port), misdirected=FORBIDDEN)
            http = HttpServer(admitted, listening, default_limit(), _GRACE, _nothing_to_end)
            serving = asyncio.create_task(http.serve())
            closing = asyncio.create_task(_close_idle(opened))
            announce(f"http://{host}:{port}/?token={access.token}")
            tasks: list[asyncio.Future[Any]] = [serving, closing, stopped]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            ends.set()
            http.should_exit = True
            closing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await closing
            await serving
    finally:
        await asyncio.to_thread(opened.close)
    return 128 + stopped.result()


async def _nothing_to_end() -> bool:
    """Connections that follow a log belong to a page that is open: none is ended for another."""
    return False


async def _close_idle(opened: Opened) -> None:
    while True:
        await asyncio.sleep(IDLE / 2)
        await asyncio.to_thread(opened.close_idle)
