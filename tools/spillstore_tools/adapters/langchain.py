"""LangChain: a middleware for ``create_agent``. Extra ``langchain``.

.. code-block:: python

    from langchain.agents import create_agent
    from spillstore_tools.adapters.langchain import SpillMiddleware

    agent = create_agent("openai:gpt-5", tools=[run_tests], middleware=[SpillMiddleware()])

What a tool returns reaches the model as ``spillstore_tools.adapters.core`` describes: small results as they are, large ones in part,
with a notice that names the tools for the rest, which the middleware offers to the model. Put it first in the list of
middleware where others change results, so that it sees what they have made of them.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.types import Command

from spillstore_tools.adapters.core import Adapter, WithAdapter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping
    from typing import Unpack

    from langchain.tools.tool_node import ToolCallRequest

    from spillstore import Session, aio
    from spillstore_tools.adapters.core import AdapterOptions, Shown, ToolSpec

_call_id: contextvars.ContextVar[str | None] = contextvars.ContextVar(
    "spillstore_langchain_call", default=None
)
KEY = "spillstore"  # of the artifacts' ids in ``ToolMessage.artifact``


def retrieval_tools(adapter: Adapter) -> list[StructuredTool]:
    """The tools with which a model reads what is stored, for agents that are built without the middleware."""
    return [_tool(spec) for spec in adapter.specs()]


class SpillMiddleware(WithAdapter, AgentMiddleware):
    """Stores large tool results and shows them in part. Safe for parallel calls, sync and async.

    ``ToolMessage.artifact`` of a result that is stored is ``{"spillstore": [id, ...]}``, unless the tool has set one. Messages
    in a ``Command`` are handled, too. The middleware is a context manager; leaving it closes a session that it has opened, and
    so does the end of the process.

    Args:
        session: see ``Adapter``.
        options: see ``AdapterOptions``; for ``adapter.off()`` and the session itself use the attribute.

    Attributes:
        adapter: what does the work.
        tools: the tools for the model.
    """

    def __init__(
        self,
        session: Session | aio.Session | Callable[[], Session] | str | None = None,
        **options: Unpack[AdapterOptions],
    ) -> None:
        super().__init__()
        self.adapter = Adapter(session, **options)
        self.tools = retrieval_tools(self.adapter)

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Call the tool, and show its result as it fits."""
        name, arguments, call_id = _call_of(request)
        with _within(call_id):
            result = handler(request)
        changed = {
            id(each): self.adapter.shown(
                name, each.content, call_id=each.tool_call_id or call_id, arguments=arguments, blocks=True
            )
            for each in _messages(result)
        }
        return _with(result, changed)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """The same for asyncio; the event loop goes on."""
        name, arguments, call_id = _call_of(request)
        with _within(call_id):
            result = await handler(request)
        changed = {
            id(each): await self.adapter.ashown(
                name, each.content, call_id=each.tool_call_id or call_id, arguments=arguments, blocks=True
            )
            for each in _messages(result)
        }
        return _with(result, changed)


def _call_of(request: ToolCallRequest) -> tuple[str, Mapping[str, object] | None, str | None]:
    call = request.tool_call
    return call["name"], call.get("args"), call.get("id")


@contextlib.contextmanager
def _within(call_id: str | None) -> Iterator[None]:
    """A block in which our own tools know the call that they answer."""
    token = _call_id.set(call_id)
    try:
        yield
    finally:
        _call_id.reset(token)


def _messages(result: object) -> list[ToolMessage]:
    """The tool messages in what a call has returned."""
    if isinstance(result, ToolMessage):
        return [result]
    if isinstance(result, Command):
        return _messages(_updated(result.update))
    return [each for one in result for each in _messages(one)] if isinstance(result, list) else []


def _updated(update: object) -> object:
    return update.get("messages") if isinstance(update, dict) else update


def _with(result: Any, changed: Mapping[int, Shown]) -> Any:
    """The same with messages as they are shown."""
    if isinstance(result, ToolMessage):
        shown = changed.get(id(result))
        if shown is None or not (shown.changed or shown.artifact_ids):
            return result
        update: dict[str, Any] = {"content": shown.content}
        if shown.artifact_ids and result.artifact is None:
            update["artifact"] = {KEY: list(shown.artifact_ids)}
        if shown.is_error:
            update["status"] = "error"
        return result.model_copy(update=update)
    if isinstance(result, list):
        new = [_with(each, changed) for each in result]
        return new if any(one is not other for one, other in zip(new, result, strict=True)) else result
    if isinstance(result, Command):
        before = _updated(result.update)
        after = _with(before, changed)
        if after is not before:
            update = {**result.update, "messages": after} if isinstance(result.update, dict) else after
            return dataclasses.replace(result, update=update)
    return result


def _tool(spec: ToolSpec) -> StructuredTool:
    def call(**arguments: object) -> str:
        return spec.call(arguments, call_id=_call_id.get())

    async def acall(**arguments: object) -> str:
        return await spec.acall(arguments, call_id=_call_id.get())

    return StructuredTool(
        name=spec.name, description=spec.description, args_schema=spec.schema, func=call, coroutine=acall
    )
