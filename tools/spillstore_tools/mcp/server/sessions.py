"""The sessions that a server has open.

Each client has a session of its own. Over stdio there is one client, which has the session of the process. Over HTTP the clients
that have no id of a connection share the session of the process (``sdk_server``). If a session is named, all clients share it.

A session that is not named is new and gets a random id. It is deleted at its end if nothing was stored in it: clients start
servers only to list the tools.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import logging
import secrets
from typing import TYPE_CHECKING, Any

from spillstore.exceptions import SessionBusyError, SessionNotFoundError, SpillstoreError, StorageError
from spillstore_tools.agent.answers import Answer
from spillstore_tools.agent.toolbox import Toolbox
from spillstore_tools.mcp.wire.tool_results import listed_tool
from spillstore_tools.output.session_opener import Opened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from spillstore import Session, Store
    from spillstore_tools.agent.bash_result import BashResult
    from spillstore_tools.config import TruncationConfiguration

_MAX_ID = 200  # characters of the id of a tool call
_log = logging.getLogger("spillstore")


class SessionService:
    """A session with its tools. If it cannot be opened, commands run all the same, and the next call tries again.

    Args:
        opened: opens the session; it is closed with this.
        read_only: the session is open for reading alone.
        is_new: delete the session at the end if it is empty.
        structured: results have structured content.
        is_created: whether ``opened`` has created the session; then ``close`` deletes it if ``cleanup_on_exit`` is set.
        configuration: that of the profile.
        options: options of ``Toolbox``.

    Attributes:
        tools: the list of tools, as in the protocol.
    """

    def __init__(
        self,
        opened: Opened,
        *,
        read_only: bool,
        is_new: bool,
        structured: bool = False,
        is_created: Callable[[], bool] = lambda: False,
        configuration: TruncationConfiguration | None = None,
        **options: Any,
    ) -> None:
        self._opened = opened
        self._read_only = read_only
        self._listeners: dict[object, Callable[[], object]] = {}
        self._is_new = is_new
        self._is_created = is_created
        self._loop = asyncio.get_running_loop()
        self._options: dict[str, Any] = {
            **options,
            "configuration": configuration,
            "on_spill": self._on_spill,
        }
        self._toolbox = Toolbox(opened, **self._options)
        found = self._toolbox.definitions("mcp")
        self.tools = [
            listed_tool(tool, structured=structured) for tool in found if not read_only or _only_reads(tool)
        ]

    @property
    def session(self) -> Session:
        """The session, opened if it is not, or again if its folder was removed.

        Raises:
            SpillstoreError: it cannot be opened.
        """
        return self._opened.get()

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
            name: the name of the tool.
            arguments: the arguments as they were sent, or as JSON.
            tool_call_id: the id of the tool call; a long one is cut.
            on_output: called with what a command prints, on a thread of the command.
        """
        if self._read_only and name not in (names := [tool["name"] for tool in self.tools]):
            text = f"no tool is called {name[:80]!r}; there are {', '.join(names)}, for this session is only read\n"
            return Answer(text=text, is_error=True)
        toolbox = self._toolbox
        if on_output is not None:  # which a toolbox takes when it is made; that costs microseconds
            toolbox = Toolbox(self._opened, **self._options, on_output=on_output)
        call_id = None if tool_call_id is None else self._bounded(tool_call_id)
        return await toolbox.call(name, arguments, tool_call_id=call_id)

    def _bounded(self, call_id: str) -> str:
        """The id of a tool call, cut once its secrets are taken out if it is long."""
        if len(call_id) <= _MAX_ID:
            return call_id
        from spillstore_tools.config.redaction_rules import Redaction  # noqa: PLC0415  # ids are short

        rules = Redaction(self._opened.current, self._options["configuration"]).rules("bash")
        return call_id[:_MAX_ID] if rules is None else rules.beginning(call_id, _MAX_ID)

    def _on_spill(self, _: str) -> None:
        """Notify listeners of an artifact; called on a command's thread."""
        self._loop.call_soon_threadsafe(self._notify)

    def _notify(self) -> None:
        for listener in list(self._listeners.values()):
            listener()

    def subscribe(self, listener: Callable[[], object]) -> Callable[[], object]:
        """Call ``listener`` on the loop when an artifact appears; returns a function that ends that."""
        token = object()
        self._listeners[token] = listener
        return lambda: self._listeners.pop(token, None)

    def close(self) -> None:
        """End running commands, store their output, and close the session; delete it if it was created here and is not to stay."""
        self._opened.end_uses()
        session = self._opened.current
        if session is not None:
            try:
                if self._is_new and not list(session.artifacts(limit=1)):
                    session.delete()
                elif self._is_created() and session.cleanup_on_exit:
                    session.end()
            except SessionBusyError:  # another process uses it, a command line say
                _log.info("the session %r is in use and stays", session.id)
        self._opened.close()


def _only_reads(tool: dict[str, Any]) -> bool:
    return tool["annotations"]["readOnlyHint"] is True


class ServedSessions:
    """The sessions that a server has open, by client.

    Args:
        store: the store of the sessions.
        name: the id of the one session for all clients, or None.
        project: the project of the sessions, or None.
        read_only: open the named session for reading alone; it must exist.
        announce: called with the id of each session that is opened.
        structured: results have structured content.
        options: options of ``SessionService``.
    """

    def __init__(
        self,
        store: Store,
        name: str | None,
        project: str | None,
        *,
        read_only: bool = False,
        announce: Callable[[str], object],
        structured: bool = False,
        **options: Any,
    ) -> None:
        self.structured = structured
        self._store = store
        self._name = name
        self._project = project
        self._read_only = read_only
        self._announce = announce
        self._options = options
        self._open: dict[str | None, asyncio.Future[SessionService]] = {}

    @property
    def is_named(self) -> bool:
        """Whether one session serves all clients."""
        return self._name is not None

    async def get(self, key: str | None) -> SessionService:
        """The service of a client's session; with None for ``key`` that of the process.

        Raises:
            SpillstoreError: it cannot be opened.
        """
        if (opening := self._open.get(key)) is None:
            opening = self._open[key] = asyncio.ensure_future(self._make())
        try:
            return await asyncio.shield(opening)  # or nobody would close what is opened
        except SpillstoreError:
            if self._open.get(key) is opening:  # the next request tries again
                del self._open[key]
            raise

    async def _make(self) -> SessionService:
        name = self._name or f"mcp-{dt.datetime.now(dt.UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        created: list[bool] = []  # whether the session was created here

        def session() -> Session:
            try:
                found = self._store.session(name, self._project, create=False, read_only=self._read_only)
            except SessionNotFoundError:
                if self._read_only:
                    raise
                created.append(True)
                return self._store.session(name, self._project)
            return found

        opened = Opened(session)
        try:
            await asyncio.to_thread(opened.get)
        except StorageError as error:
            if self._read_only:
                raise
            # Commands run all the same, and their results say why they are not stored.
            _log.warning("session %r cannot be opened, so nothing is stored until it can: %s", name, error)
        self._announce(name)
        return SessionService(
            opened,
            read_only=self._read_only,
            is_new=self._name is None,
            structured=self.structured,
            is_created=lambda: bool(created),
            **self._options,
        )

    async def end(self, key: str) -> None:
        """Close a client's session."""
        service = await self._open.pop(key)
        await asyncio.to_thread(service.close)

    async def close(self) -> None:
        """Close all sessions."""
        while self._open:
            _, opening = self._open.popitem()
            with contextlib.suppress(SpillstoreError):  # reported to the caller that opened it
                service = await opening
                await asyncio.to_thread(service.close)
