"""The sessions that a server has open.

A client is one conversation, and has a session of its own. Over stdio the process serves one, so it has one session, that of
the process; over HTTP each client has its own (``server``), but for those that cannot be told apart. Everybody shares that of
the process where a session is named.

A session that was not named is new and gets a random name. It is removed when it ends if nothing was stored in it:
clients start servers only to ask what tools there are.
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
from spillstore_tools.mcp.outputs import tool_of
from spillstore_tools.output.session_opener import Opened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from spillstore import Session, Store
    from spillstore_tools.agent.bash_result import BashResult
    from spillstore_tools.config import TruncationConfiguration

_log = logging.getLogger("spillstore")


class Service:
    """One session with its tools. Where it cannot be opened, commands run all the same, and the next call tries again.

    Args:
        opened: where the session is found; it is closed with this.
        read_only: whether it is opened for reading alone.
        fresh: remove it in the end if it holds nothing.
        structured: results have structured content.
        made: it was not there before; then it goes with this, where the profile or the store wants that.
        configuration: of the profile.
        options: of ``Toolbox``.
    """

    def __init__(
        self,
        opened: Opened,
        *,
        read_only: bool,
        fresh: bool,
        structured: bool = False,
        made: Callable[[], bool] = lambda: False,
        configuration: TruncationConfiguration | None = None,
        **options: Any,
    ) -> None:
        self._opened = opened
        self._read_only = read_only
        self._listeners: dict[object, Callable[[], object]] = {}
        self._fresh = fresh
        self._made = made
        self._loop = asyncio.get_running_loop()
        self._options: dict[str, Any] = {
            **options,
            "configuration": configuration,
            "on_spill": self._artifact_appeared,
        }
        self._toolbox = Toolbox(opened, **self._options)
        found = self._toolbox.definitions("mcp")
        self.tools = [
            tool_of(tool, structured=structured) for tool in found if not read_only or _only_reads(tool)
        ]

    @property
    def session(self) -> Session:
        """The session, opened if it is not, or anew if its folder was removed.

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
            name: of the tool.
            arguments: as they were sent, or as JSON.
            tool_call_id: the call that is answered.
            on_output: sees what a command prints, on a thread of the command's own.
        """
        if self._read_only and name not in (names := [tool["name"] for tool in self.tools]):
            text = f"no tool is called {name[:80]!r}; there are {', '.join(names)}, for this session is only read\n"
            return Answer(text=text, is_error=True)
        toolbox = self._toolbox
        if (
            on_output is not None
        ):  # who listens is settled when a toolbox is made, and making one costs microseconds
            toolbox = Toolbox(self._opened, **self._options, on_output=on_output)
        return await toolbox.call(name, arguments, tool_call_id=tool_call_id)

    def _artifact_appeared(self, _: str) -> None:
        """On a command's thread."""
        self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        for listener in list(self._listeners.values()):
            listener()

    def subscribe(self, listener: Callable[[], object]) -> Callable[[], object]:
        """Have it told, on the loop, of artifacts that appear; what is returned ends that."""
        token = object()
        self._listeners[token] = listener
        return lambda: self._listeners.pop(token, None)

    def close(self) -> None:
        """End what runs, store what it printed, and close the session; delete it if it was made here and is not to stay."""
        self._opened.end_uses()
        session = self._opened.current
        if session is not None:
            try:
                if self._fresh and not list(session.artifacts(limit=1)):
                    session.delete()
                elif self._made() and session.cleanup_on_exit:
                    session.end()
            except SessionBusyError:  # somebody looks at it, a command line say
                _log.info("the session %r is in use and stays", session.id)
        self._opened.close()


def _only_reads(tool: dict[str, Any]) -> bool:
    return tool["annotations"]["readOnlyHint"] is True


class Sessions:
    """The sessions that are served.

    Args:
        store: where they are.
        name: of the one that serves everybody, or None.
        project: theirs, or None.
        read_only: open it for reading alone; it must be there.
        announce: told the name of each that is opened.
        structured: results have structured content.
        options: of ``Service``.
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
        self._open: dict[str | None, asyncio.Future[Service]] = {}

    @property
    def is_named(self) -> bool:
        """Whether one session serves everybody."""
        return self._name is not None

    async def get(self, key: str | None) -> Service:
        """That of a client, or of the process.

        Raises:
            SpillstoreError: it cannot be opened.
        """
        if (opening := self._open.get(key)) is None:
            opening = self._open[key] = asyncio.ensure_future(self._make())
        try:
            return await asyncio.shield(opening)  # or what is opened would be nobody's to close
        except SpillstoreError:
            if self._open.get(key) is opening:  # the next request tries again
                del self._open[key]
            raise

    async def _make(self) -> Service:
        name = self._name or f"mcp-{dt.datetime.now(dt.UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        made: list[bool] = []  # whether the last opening has made it

        def session() -> Session:
            try:
                found = self._store.session(name, self._project, create=False, read_only=self._read_only)
            except SessionNotFoundError:
                if self._read_only:
                    raise
                made.append(True)
                return self._store.session(name, self._project)
            return found

        opened = Opened(session)
        try:
            await asyncio.to_thread(opened.get)
        except StorageError as error:
            if self._read_only:
                raise
            # Commands can be run, and what they print is shown: their results say why it is not stored.
            _log.warning("session %r cannot be opened, so nothing is stored until it can: %s", name, error)
        self._announce(name)
        return Service(
            opened,
            read_only=self._read_only,
            fresh=self._name is None,
            structured=self.structured,
            made=lambda: bool(made),
            **self._options,
        )

    async def end(self, key: str) -> None:
        """Close that of a client."""
        service = await self._open.pop(key)
        await asyncio.to_thread(service.close)

    async def close(self) -> None:
        """Close all of them."""
        while self._open:
            _, opening = self._open.popitem()
            with contextlib.suppress(SpillstoreError):  # who asked for it was told
                service = await opening
                await asyncio.to_thread(service.close)
