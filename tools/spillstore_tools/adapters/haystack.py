"""Haystack: a hook of its ``Agent`` that shows large tool results in part, and a store for its own hook. Extra ``haystack``.

.. code-block:: python

    from haystack.components.agents import Agent
    from spillstore_tools.adapters.haystack import SpillHook

    spill = SpillHook()
    agent = Agent(chat_generator=generator, tools=[run_tests, *spill.tools], hooks={"after_tool": [spill]})

``agent.close()`` closes the hook, and so the session that it has opened. ``SpillStore`` is a ``ToolResultStore``, for
``ToolResultOffloadHook`` and its like.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from haystack.components.agents.state.state_utils import replace_values
from haystack.core.serialization import default_from_dict, default_to_dict
from haystack.dataclasses import ChatMessage
from haystack.hooks.tool_result_offloading.types import ToolResultStore
from haystack.tools import Tool

from spillstore_tools.adapters.core import Adapter
from spillstore_tools.adapters.keyed_artifacts import KeyedArtifacts, slices
from spillstore_tools.adapters.opened_session import OpenedSession

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self, Unpack

    from haystack.components.agents.state.state import State

    from spillstore import Session, aio
    from spillstore_tools.adapters.core import AdapterOptions, Shown, ToolSpec

KEY = "spillstore"  # of the artifacts' ids in a message's metadata


def retrieval_tools(adapter: Adapter) -> list[Tool]:
    """The tools with which a model reads what is stored."""
    return [_tool(spec) for spec in adapter.specs()]


class SpillHook:
    """Stores large tool results and shows them in part, as an ``after_tool`` hook. Safe for concurrent runs.

    The metadata of a message whose result is stored has the artifacts' ids under ``spillstore``. An agent with the hook can be
    serialized where ``session`` is a name or None and there are no options; its tools cannot.

    Args:
        session: see ``Adapter``.
        options: see ``AdapterOptions``.

    Attributes:
        adapter: what does the work.
        tools: the tools for the model.
    """

    allowed_hook_points = ("after_tool",)

    def __init__(
        self,
        session: Session | aio.Session | Callable[[], Session] | str | None = None,
        **options: Unpack[AdapterOptions],
    ) -> None:
        self._named = session
        self._options = options
        self.adapter = Adapter(session, **options)
        self.tools = retrieval_tools(self.adapter)

    def run(self, state: State) -> None:
        """Show the results of the last step as they fit."""
        messages, start = _last_results(state)
        new = [_with(each, self.adapter.shown(*_given(each), **_about(each))) for each in messages[start:]]
        _update(state, messages, start, new)

    async def run_async(self, state: State) -> None:
        """The same for asyncio; the event loop goes on."""
        messages, start = _last_results(state)
        new = [
            _with(each, await self.adapter.ashown(*_given(each), **_about(each))) for each in messages[start:]
        ]
        _update(state, messages, start, new)

    def close(self) -> None:
        """Close the session, if it was opened here."""
        self.adapter.close()

    async def close_async(self) -> None:
        """The same for asyncio."""
        await asyncio.to_thread(self.close)

    def to_dict(self) -> dict[str, Any]:
        """The hook as a dictionary.

        Raises:
            ValueError: a session or options cannot be written down.
        """
        if self._options:
            raise ValueError("a SpillHook with options cannot be serialized")
        found: dict[str, Any] = default_to_dict(self, session=_name_of(self._named))
        return found

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The hook of a dictionary."""
        found: Self = default_from_dict(cls, data)
        return found


class SpillStore(ToolResultStore):
    """Haystack's store of tool results in a session. References are the ids of artifacts.

    Args:
        session: see ``Adapter``.
        redact: whether secrets are taken out; None for what the store says.
    """

    supports_binary_content = True

    def __init__(
        self,
        session: Session | aio.Session | Callable[[], Session] | str | None = None,
        *,
        redact: bool | None = None,
    ) -> None:
        self._named = session
        self._redact = redact
        self._opened = OpenedSession(session)
        self._results = KeyedArtifacts(self._opened.get, "haystack", redact=redact)

    def write(self, *, key: str, content: str | bytes) -> str:
        """Store a result; its key is the id of the tool call of its artifact.

        Raises:
            SpillstoreError: it could not be stored; Haystack leaves the result in the conversation then.
        """
        return self._results.put(key, slices(content)).id

    def read(self, reference: str) -> str | bytes:
        """A result, as text where it is UTF-8.

        Raises:
            ArtifactNotFoundError: there is none of that reference.
        """
        data = b"".join(self._opened.get().artifact(reference).chunks())
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data

    def close(self) -> None:
        """Close the session, if it was opened here."""
        self._opened.close()

    def to_dict(self) -> dict[str, Any]:
        """The store as a dictionary.

        Raises:
            ValueError: a session cannot be written down.
        """
        found: dict[str, Any] = default_to_dict(self, session=_name_of(self._named), redact=self._redact)
        return found

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The store of a dictionary."""
        found: Self = default_from_dict(cls, data)
        return found


def _name_of(session: object) -> str | None:
    if session is None or isinstance(session, str):
        return session
    raise ValueError("name the session, rather than giving one, to serialize what stores in it")


def _last_results(state: State) -> tuple[list[ChatMessage], int]:
    """All messages, and where the results of the last step begin."""
    messages = list(state.data.get("messages") or [])
    start = len(messages)
    while start and messages[start - 1].tool_call_result is not None:
        start -= 1
    return messages, start


def _given(message: ChatMessage) -> tuple[str, object]:
    result = message.tool_call_result
    return result.origin.tool_name, result.result


def _about(message: ChatMessage) -> dict[str, Any]:
    origin = message.tool_call_result.origin
    return {"call_id": origin.id, "arguments": origin.arguments, "blocks": True}


def _with(message: ChatMessage, shown: Shown) -> ChatMessage:
    """The message with what is shown; itself where nothing is changed, or it was shown before."""
    if not shown.changed or KEY in message.meta:
        return message
    meta = {**message.meta, **({KEY: list(shown.artifact_ids)} if shown.artifact_ids else {})}
    result = message.tool_call_result
    error = result.error or shown.is_error
    return ChatMessage.from_tool(tool_result=shown.content, origin=result.origin, error=error, meta=meta)


def _update(state: State, messages: list[ChatMessage], start: int, new: list[ChatMessage]) -> None:
    if any(one is not other for one, other in zip(new, messages[start:], strict=True)):
        state.set(key="messages", value=[*messages[:start], *new], handler_override=replace_values)


def _tool(spec: ToolSpec) -> Tool:
    def call(**arguments: object) -> str:
        return spec.call(arguments)

    async def acall(**arguments: object) -> str:
        return await spec.acall(arguments)

    return Tool(
        name=spec.name,
        description=spec.description,
        parameters=spec.schema,
        function=call,
        async_function=acall,
    )
