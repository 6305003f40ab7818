"""Strands Agents: a plugin that shows large tool results in part, and a storage. Extra ``strands``.

.. code-block:: python

    from strands import Agent
    from spillstore_tools.adapters.strands import SpillPlugin

    agent = Agent(tools=[run_tests], plugins=[SpillPlugin()])

``SpillStorage`` is for what takes a ``strands.storage.Storage``: ``ContextOffloader(storage=...)``, a session manager.
"""

from __future__ import annotations

import asyncio
import copy
import io
from typing import TYPE_CHECKING, Any, Self, TypeVar

from strands.hooks.events import AfterToolCallEvent  # noqa: TC002  # ``hook`` reads the annotation
from strands.plugins import Plugin, hook
from strands.storage.search import KeywordSearchStrategy
from strands.tools import PythonAgentTool
from strands.types.exceptions import StorageError

from spillstore.exceptions import SpillstoreError
from spillstore_tools.adapters.core import Adapter, WithAdapter
from spillstore_tools.adapters.keyed_artifacts import KeyedArtifacts, slices
from spillstore_tools.adapters.opened_session import OpenedSession

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable
    from typing import Unpack

    from strands.agent.agent import Agent
    from strands.storage.search import SearchStrategy
    from strands.storage.storage import StorageSearchResult
    from strands.types.tools import ToolResult, ToolUse

    from spillstore import Session, aio
    from spillstore_tools.adapters.core import AdapterOptions, ToolSpec


T = TypeVar("T")


def retrieval_tools(adapter: Adapter) -> list[PythonAgentTool]:
    """The tools with which a model reads what is stored, for agents that are built without the plugin."""
    return [_tool(spec) for spec in adapter.specs()]


class SpillPlugin(WithAdapter, Plugin):
    """Stores large tool results and shows them in part; offers the model the tools for the rest.

    A call that code makes (``agent.tool.fetch(...)``) goes through the same hook: use ``with plugin.adapter.off():``, or
    ``skip``. The plugin is a context manager; leaving it closes a session that it has opened, and so does the end of
    the process.

    Args:
        session: see ``Adapter``.
        options: see ``AdapterOptions``.

    Attributes:
        adapter: what does the work.
    """

    name = "spillstore"

    def __init__(
        self,
        session: Session | aio.Session | Callable[[], Session] | str | None = None,
        **options: Unpack[AdapterOptions],
    ) -> None:
        super().__init__()
        self.adapter = Adapter(session, **options)

    def init_agent(self, agent: Agent) -> None:
        """Give an agent the tools; those that it has by these names stay."""
        known = set(agent.tool_names)
        for tool in retrieval_tools(self.adapter):
            if tool.tool_name not in known:
                agent.tool_registry.register_tool(tool)

    @hook
    async def show(self, event: AfterToolCallEvent) -> None:
        """Show a result as it fits."""
        use, result = event.tool_use, event.result
        shown = await self.adapter.ashown(
            use["name"],
            result["content"],
            call_id=use["toolUseId"],
            arguments=use["input"],
            blocks=True,
        )
        if shown.changed:
            status = "error" if shown.is_error else result["status"]
            event.result = {**result, "content": shown.content, "status": status}


def _tool(spec: ToolSpec) -> PythonAgentTool:
    async def call(use: ToolUse, **_: Any) -> ToolResult:
        text = await spec.acall(use["input"], call_id=use["toolUseId"])
        return {"toolUseId": use["toolUseId"], "status": "success", "content": [{"text": text}]}

    definition = {
        "name": spec.name,
        "description": spec.description,
        "inputSchema": {"json": spec.schema},
    }
    return PythonAgentTool(spec.name, definition, call)


class SpillStorage:
    """``strands.storage.Storage`` in a session: an artifact for each key, which is the id of its tool call.

    Bytes come back as they were given, as that protocol has it; so no secrets are taken out, unless ``redact`` says so. Reads and
    writes of a value hold it once; the store works in slices beside it.

    Args:
        session: see ``Adapter``. Name it where a later process is to find what is stored, as for a session manager.
        search_strategy: how ``search`` finds; None for keywords.
        redact: whether secrets are taken out of what is stored.

    Every method raises ``StorageError`` for a key that is none, and where the store fails.
    """

    def __init__(
        self,
        session: Session | aio.Session | Callable[[], Session] | str | None = None,
        *,
        search_strategy: SearchStrategy[SpillStorage] | None = None,
        redact: bool = False,
    ) -> None:
        self._opened = OpenedSession(session)
        self._artifacts = KeyedArtifacts(self._opened.get, "strands", redact=redact)
        self._prefix = ""
        self._strategy = search_strategy

    async def write(self, key: str, data: bytes) -> None:
        """Store a value in the place of the one before."""
        name = _key(key)
        await _stored(lambda: self._artifacts.put(self._prefix + name, slices(data)))
        if self._strategy is not None:
            try:
                await self._strategy.index(self, name, data)
            except Exception as error:
                raise StorageError(f"wrote {key!r}, but indexing it failed") from error

    async def read(self, key: str) -> bytes | None:
        """The value of a key, or None."""
        name = self._prefix + _key(key)

        def read() -> bytes | None:
            if (artifact := self._artifacts.find(name)) is None:
                return None
            buffer = io.BytesIO()  # which gives its bytes away without a copy
            for block in artifact.chunks():
                buffer.write(block)
            return buffer.getvalue()

        return await _stored(read)

    async def delete(self, key: str) -> None:
        """Delete a value, if there is one."""
        name = self._prefix + _key(key)
        await _stored(lambda: self._artifacts.delete(name))

    async def list(self, query: str = "") -> builtins.list[str]:
        """The keys that begin with a prefix, sorted."""
        prefix = self._prefix + _collapsed(query).lstrip("/")
        keys = await _stored(lambda: sorted(key for key, _ in self._artifacts.infos(prefix)))
        return [key[len(self._prefix) :] for key in keys]

    async def search(self, query: str) -> builtins.list[StorageSearchResult]:
        """The values that match, the best first."""
        found: builtins.list[StorageSearchResult] = await (self._strategy or KeywordSearchStrategy()).search(
            self, query
        )
        return found

    def namespace(self, prefix: str) -> Self:
        """The same storage, of which only keys below ``prefix`` are seen."""
        from strands.storage.storage import _NAMESPACED  # noqa: PLC0415  # by it the SDK knows a view that is scoped

        scoped = copy.copy(self)
        name = _collapsed(prefix).strip("/")
        scoped._prefix = f"{self._prefix}{name}/" if name else self._prefix  # noqa: SLF001  # of the same class
        scoped._namespaced = _NAMESPACED  # type: ignore[attr-defined]  # noqa: SLF001  # likewise
        return scoped

    def clear(self) -> None:
        """Delete all values that are seen."""
        for key, _ in list(self._artifacts.infos(self._prefix)):
            self._artifacts.delete(key)

    def close(self) -> None:
        """Close the session, if it was opened here; namespaces share it."""
        self._opened.close()


async def _stored(work: Callable[[], T]) -> T:
    """Do something on a thread; errors of the store become those of the protocol."""
    try:
        return await asyncio.to_thread(work)
    except SpillstoreError as error:
        raise StorageError(f"{type(error).__name__}: {error}") from error


def _key(key: str) -> str:
    if not (name := _collapsed(key).strip("/")):
        raise StorageError("a storage key must not be empty")
    return name


def _collapsed(path: str) -> str:
    """A path in which no slash follows another.

    Raises:
        StorageError: it leads upwards, or has backslashes.
    """
    if "\\" in path or ".." in path.split("/"):
        raise StorageError(f"storage key {path!r}: no backslashes and no '..', please")
    while "//" in path:
        path = path.replace("//", "/")
    return path
