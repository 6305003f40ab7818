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

from spillstore.exceptions import SessionBusyError, SessionNotFoundError, SpillstoreError
from spillstore_tools.jobs import jobs_of
from spillstore_tools.mcp.outputs import tool_of
from spillstore_tools.retrieval import Answer
from spillstore_tools.toolbox import Toolbox

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from spillstore import Session, Store
    from spillstore_tools.bash import BashResult
    from spillstore_tools.configuration import TruncationConfiguration

_log = logging.getLogger("spillstore")


class Service:
    """One open session with its tools.

    Args:
        session: it is closed with this.
        fresh: remove it in the end if it holds nothing.
        structured: results have structured content.
        made: it was not there before; then it goes with this, where the profile or the store wants that.
        configuration: of the profile.
        options: of ``Toolbox``.
    """

    def __init__(
        self,
        session: Session,
        *,
        fresh: bool,
        structured: bool = False,
        made: bool = False,
        configuration: TruncationConfiguration | None = None,
        **options: Any,
    ) -> None:
        self.session = session
        self._listeners: dict[object, Callable[[], object]] = {}
        self._fresh = fresh
        self._made = made
        self._loop = asyncio.get_running_loop()
        self._options: dict[str, Any] = {
            **options,
            "configuration": configuration,
            "on_spill": self._artifact_appeared,
        }
        self._toolbox = Toolbox(session, **self._options)
        found = self._toolbox.definitions("mcp")
        self.tools = [
            tool_of(tool, structured=structured)
            for tool in found
            if not session.read_only or _only_reads(tool)
        ]

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
        if self.session.read_only and name not in (names := [tool["name"] for tool in self.tools]):
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
        session, made = await asyncio.to_thread(self._opened, name)
        self._announce(name)
        return Service(
            session, fresh=self._name is None, structured=self.structured, made=made, **self._options
        )

    def _opened(self, name: str) -> tuple[Session, bool]:
        """The session, and whether it was made for us."""
        try:
            return self._store.session(name, self._project, create=False, read_only=self._read_only), False
        except SessionNotFoundError:
            if self._read_only:
                raise
            return self._store.session(name, self._project), True

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
