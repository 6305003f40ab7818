"""A server from its first client to its last, and everything closed behind it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import logging
import signal
from typing import TYPE_CHECKING

from spillstore_tools.mcp._rarely import Rarely
from spillstore_tools.mcp._stdio import claim, serve_stdio
from spillstore_tools.mcp.sessions import Sessions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from spillstore import Store
    from spillstore_tools.config import TruncationConfiguration
    from spillstore_tools.mcp._http import Admission
    from spillstore_tools.profiles import ProfileName

_THREADS = 32  # for searches that take seconds, and reads beside them
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Serving:
    """What is served, and how.

    Attributes:
        store: where the sessions are.
        session: the name of the one for everybody; None for new ones.
        project: theirs.
        read_only: no commands, and nothing is written.
        profile: what models are shown.
        configuration: of it.
        cwd: where commands run; None for where we are.
        timeout: seconds that a call waits for its command at most; then that goes on in the background.
        structured: results have structured content, and tools say of what kind.
        listen: address and port to serve HTTP on; None for stdin and stdout.
        admission: who is served over HTTP; None where ``listen`` is.
        announce: told ``session`` and its name, and ``url`` and where HTTP is served.
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


def serve(serving: Serving) -> int:
    """Serve until the client or a signal ends it; 128 + n for signal n, else 0.

    Raises:
        SpillstoreError: a named session cannot be opened.
        OSError: stdin or stdout is closed, or the port cannot be had.
    """
    # A client that closes its end shall be an error and not the end of this process and its commands.
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    logging.basicConfig(level=logging.WARNING, format="spillstore: %(name)s: %(message)s")  # to stderr
    for handler in logging.getLogger().handlers:
        handler.addFilter(Rarely())  # whoever connects can make it say something
    if serving.listen is not None:
        return asyncio.run(_serve(serving, _over_http))
    claimed = claim()

    async def over_stdio(sessions: Sessions, stopped: asyncio.Event, serving: Serving) -> None:
        await serve_stdio(sessions, stopped, claimed, read_only=serving.read_only)

    return asyncio.run(_serve(serving, over_stdio))


async def _over_http(sessions: Sessions, stopped: asyncio.Event, serving: Serving) -> None:
    from spillstore_tools.mcp._http import serve_http  # noqa: PLC0415  # it brings the SDK and a web server
    from spillstore_tools.mcp.server import make_server  # noqa: PLC0415  # likewise

    assert serving.listen is not None  # or we would not have been asked
    assert serving.admission is not None  # likewise
    address, port = serving.listen
    server = make_server(sessions, read_only=serving.read_only)
    await serve_http(
        server, address, port, stopped, lambda url: serving.announce("url", url), serving.admission
    )


async def _serve(
    serving: Serving, transport: Callable[[Sessions, asyncio.Event, Serving], Awaitable[None]]
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
    sessions = Sessions(
        serving.store,
        serving.session,
        serving.project,
        read_only=serving.read_only,
        announce=lambda name: serving.announce("session", name),
        profile=serving.profile,
        configuration=serving.configuration,
        cwd=serving.cwd,
        timeout=max(1, round(serving.timeout * 1000)),
        structured=serving.structured,
    )
    try:
        if serving.session is not None:
            await sessions.get(None)  # so that what is wrong with it is said now, and to whom it concerns
        await transport(sessions, stopped, serving)
    finally:
        await sessions.close()
    return 128 + received[0] if received else 0
