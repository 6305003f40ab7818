"""Which session a request is served from, and for how long that is open.

A client that has a connection (stdio) or an id of one (``Mcp-Session-Id``) is one conversation. Over stdio the process
serves one, so it has one session; over HTTP each id has its own, which is closed when the client ends it or does not come
back. Requests of the 2026 protocol over HTTP belong to nothing, and share the session of the process. So does everybody
where a session is named.

A session that was not named is new and gets a random name. It is removed when it ends if nothing was stored in it:
clients start servers only to ask what tools there are.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import secrets
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from spillstore.exceptions import SessionBusyError, SessionNotFoundError
from spillstore_tools.jobs import jobs_of
from spillstore_tools.mcp._shared import tools_of
from spillstore_tools.retrieval import Answer
from spillstore_tools.toolbox import Toolbox

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import mcp_types
    from mcp.server.connection import Connection
    from mcp.server.context import ServerRequestContext
    from mcp.server.subscriptions import ServerEvent

    from spillstore import Session, Store
    from spillstore_tools.bash import BashResult
    from spillstore_tools.configuration import TruncationConfiguration

_log = logging.getLogger("spillstore")


class Service:
    """One open session with its tools.

    Args:
        session: it is closed with this.
        bus: told of artifacts that appear.
        fresh: remove it in the end if it holds nothing.
        made: it was not there before; then it goes with this, where the profile or the store wants that.
        configuration: of the profile.
        options: of ``Toolbox``.
    """

    def __init__(
        self,
        session: Session,
        bus: InMemorySubscriptionBus,
        *,
        fresh: bool,
        made: bool = False,
        configuration: TruncationConfiguration | None = None,
        **options: Any,
    ) -> None:
        self.session = session
        self.bus = bus
        self._fresh = fresh
        self._made = made
        self._loop = asyncio.get_running_loop()
        self._options: dict[str, Any] = {
            **options,
            "configuration": configuration,
            "on_spill": self._artifact_appeared,
        }
        self._toolbox = Toolbox(session, **self._options)
        self.tools = [tool for tool in tools_of(self._toolbox) if not session.read_only or _only_reads(tool)]

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object] | str,
        *,
        tool_call_id: str | None = None,
        on_output: Callable[[str, bytes], object] | None = None,
    ) -> BashResult | Answer:
        """Answer a model's call; nothing that a model sends raises.

        Args:
            name: of the tool.
            arguments: as they were sent, or as JSON.
            tool_call_id: the call that is answered.
            on_output: sees what a command prints, on a thread of the command's own.
        """
        if self.session.read_only and name not in (names := [tool.name for tool in self.tools]):
            text = f"no tool is called {name[:80]!r}; there are {', '.join(names)}, for this session is only read\n"
            return Answer(text=text, is_error=True)
        toolbox = self._toolbox
        if (
            on_output is not None
        ):  # who listens is settled when a toolbox is made, and making one costs microseconds
            toolbox = Toolbox(self.session, **self._options, on_output=on_output)
        return await toolbox.call(name, arguments, tool_call_id=tool_call_id)

    def _artifact_appeared(self, _: str) -> None:
        """On a command's thread."""
        asyncio.run_coroutine_threadsafe(self.bus.publish(ResourcesListChanged()), self._loop)

    def close(self) -> None:
        """End what runs, store what it printed, and close the session; delete it if it was made here and is not to stay."""
        if self._fresh:
            jobs_of(self.session).end()
            if not list(self.session.artifacts(limit=1)):
                try:
                    self.session.delete()
                except SessionBusyError:  # somebody looks at it, a command line say
                    _log.info("the empty session %r is in use and stays", self.session.id)
                else:
                    return
        if self._made and self.session.cleanup_on_exit:
            try:
                self.session.end()
            except SessionBusyError:
                _log.info("the session %r is in use and stays", self.session.id)
            else:
                return
        self.session.close()


def _only_reads(tool: mcp_types.Tool) -> bool:
    return tool.annotations is not None and tool.annotations.read_only_hint is True


class Sessions:
    """The sessions that are served.

    Args:
        store: where they are.
        name: of the one that serves everybody, or None.
        project: theirs, or None.
        read_only: open it for reading alone; it must be there.
        bus: told of artifacts that appear in the session of the process.
        announce: told the name of each that is opened.
        options: of ``Service``.
    """

    def __init__(
        self,
        store: Store,
        name: str | None,
        project: str | None,
        *,
        read_only: bool = False,
        bus: InMemorySubscriptionBus,
        announce: Callable[[str], object],
        **options: Any,
    ) -> None:
        self._store = store
        self._name = name
        self._project = project
        self._read_only = read_only
        self._bus = bus
        self._announce = announce
        self._options = options
        self._open: dict[str | None, Service] = {}
        self._lock = asyncio.Lock()  # one is opened at a time, and once
        self._telling: set[asyncio.Task[None]] = set()  # the loop itself keeps no task alive

    async def own(self) -> Service:
        """The session of the process."""
        return await self._get(None)

    async def of(self, ctx: ServerRequestContext[Any, Any]) -> Service:
        """The session that a request is served from.

        Raises:
            SpillstoreError: it cannot be opened.
        """
        connection = ctx.session._connection  # noqa: SLF001  # the SDK gives handlers no other way to it
        key = None if self._name is not None else connection.session_id
        service = await self._get(key)
        if connection.protocol_version not in MODERN_PROTOCOL_VERSIONS and not connection.state.get(__name__):
            connection.state[__name__] = True
            connection.exit_stack.callback(service.bus.subscribe(self._teller(connection)))
            if key is not None:
                connection.exit_stack.push_async_callback(self._end, key)
        return service

    async def _get(self, key: str | None) -> Service:
        async with self._lock:
            if key not in self._open:
                with anyio.CancelScope(shield=True):  # or what is opened would be nobody's to close
                    bus = self._bus if key is None else InMemorySubscriptionBus()
                    self._open[key] = await self._make(bus)
            return self._open[key]

    async def _make(self, bus: InMemorySubscriptionBus) -> Service:
        name = self._name or f"mcp-{dt.datetime.now(dt.UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        session, made = await asyncio.to_thread(self._opened, name)
        self._announce(name)
        return Service(session, bus, fresh=self._name is None, made=made, **self._options)

    def _opened(self, name: str) -> tuple[Session, bool]:
        """The session, and whether it was made for us."""
        try:
            return self._store.session(name, self._project, create=False, read_only=self._read_only), False
        except SessionNotFoundError:
            if self._read_only:
                raise
            return self._store.session(name, self._project), True

    def _teller(self, connection: Connection) -> Callable[[ServerEvent], None]:
        """Tells a client of the protocols before 2026; later ones ask for it with ``subscriptions/listen``."""

        def tell(_: ServerEvent) -> None:
            task = asyncio.ensure_future(connection.send_resource_list_changed())
            self._telling.add(task)
            task.add_done_callback(self._telling.discard)

        return tell

    async def _end(self, key: str) -> None:
        await asyncio.to_thread(self._open.pop(key).close)

    async def close(self) -> None:
        """Close all of them."""
        while self._open:
            _, service = self._open.popitem()
            await asyncio.to_thread(service.close)
