"""The life of a server: from its options to its exit code."""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import signal
from typing import TYPE_CHECKING

from spillstore_tools.mcp.server.sessions import ServedSessions
from spillstore_tools.mcp.server.stdio import claim, serve_stdio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from spillstore import Store
    from spillstore_tools.config import TruncationConfiguration
    from spillstore_tools.mcp.server.http import Admission
    from spillstore_tools.profiles import ProfileName

_THREADS = 32  # so that searches of seconds do not delay reads
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """What is served, and how.

    Attributes:
        store: the store of the sessions.
        session: the id of the one session for all clients; None for new sessions.
        project: the project of the sessions, or None.
        read_only: commands cannot be run, and nothing is written.
        profile: decides what models are shown.
        configuration: that of the profile.
        cwd: the folder where commands run; None for the present one.
        timeout: seconds that a call waits for its command; after that the command goes on in the background.
        structured: results have structured content, and tools have output schemas.
        listen: address and port to serve HTTP on; None for stdin and stdout.
        admission: which clients are served over HTTP; None over stdio.
        announce: called with ``session`` and its id, and with ``url`` and the address of HTTP.
    """

    store: Store
    session: str | None
    project: str | None
    read_only: bool
    profile: ProfileName
    configuration: TruncationConfiguration | None
    cwd: str | None
    timeout: float
    structured: bool
    listen: tuple[str, int] | None
    admission: Admission | None
    announce: Callable[[str, str], object]


def serve(options: ServerOptions) -> int:
    """Serve until the client or a signal ends it; returns 128 + n after signal n, else 0.

    Raises:
        SpillstoreError: a named session cannot be opened.
        OSError: stdin or stdout is closed, or the port cannot be had.
    """
    # A client that closes its end is an error, and must not end this process and its commands.
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if options.listen is not None:
        return asyncio.run(_serve(options, _over_http))
    claimed = claim()

    async def over_stdio(sessions: ServedSessions, stopped: asyncio.Event, options: ServerOptions) -> None:
        await serve_stdio(sessions, stopped, claimed, read_only=options.read_only)

    return asyncio.run(_serve(options, over_stdio))


async def _over_http(sessions: ServedSessions, stopped: asyncio.Event, options: ServerOptions) -> None:
    from spillstore_tools.mcp.server.http import serve_http  # noqa: PLC0415  # it brings the SDK and a web server
    from spillstore_tools.mcp.server.sdk_server import make_server  # noqa: PLC0415  # likewise

    assert options.listen is not None  # checked by ``serve``
    assert options.admission is not None  # set with ``listen``
    address, port = options.listen
    server = make_server(sessions, read_only=options.read_only)
    await serve_http(
        server, address, port, stopped, lambda url: options.announce("url", url), options.admission
    )


async def _serve(
    options: ServerOptions,
    transport: Callable[[ServedSessions, asyncio.Event, ServerOptions], Awaitable[None]],
) -> int:
    loop = asyncio.get_running_loop()
    loop.set_default_executor(concurrent.futures.ThreadPoolExecutor(_THREADS, "spillstore-mcp"))
    stopped, received = asyncio.Event(), list[int]()

    def stop(number: int) -> None:
        received.append(number)
        stopped.set()

    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, stop, number)
    sessions = ServedSessions(
        options.store,
        options.session,
        options.project,
        read_only=options.read_only,
        announce=lambda name: options.announce("session", name),
        profile=options.profile,
        configuration=options.configuration,
        cwd=options.cwd,
        timeout=max(1, round(options.timeout * 1000)),
        structured=options.structured,
    )
    try:
        if options.session is not None:
            await sessions.get(None)  # so that an error is reported now, to the caller
        await transport(sessions, stopped, options)
    finally:
        await sessions.close()
    return 128 + received[0] if received else 0
