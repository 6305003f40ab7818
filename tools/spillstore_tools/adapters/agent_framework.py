"""Microsoft Agent Framework: a middleware for functions, and the tools for the rest. Extra ``agent-framework``.

.. code-block:: python

    from agent_framework import Agent
    from spillstore_tools.adapters.agent_framework import SpillMiddleware

    spill = SpillMiddleware()
    agent = Agent(client, tools=[run_tests, *spill.tools], middleware=[spill])

Put it first in the list of middleware, so that it sees what the others have made of a result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_framework import Content, FunctionInvocationContext, FunctionMiddleware, FunctionTool

from spillstore_tools.adapters.core import Adapter, WithAdapter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Unpack

    from spillstore import Session, aio
    from spillstore_tools.adapters.core import AdapterOptions, ToolSpec


class SpillMiddleware(WithAdapter, FunctionMiddleware):
    """Shows large results in part. A context manager, also of ``async with``: its end closes what was opened here.

    Args:
        session: see ``Adapter``.
        options: see ``AdapterOptions``.

    Attributes:
        adapter: decides what is shown, and stores the rest.
        tools: those that read what is stored.

    Raises:
        InvalidSettingError: as ``Adapter`` does.
    """

    def __init__(
        self,
        session: Session | aio.Session | Callable[[], Session] | str | None = None,
        **options: Unpack[AdapterOptions],
    ) -> None:
        self.adapter = Adapter(session, **options)
        self.tools = [_tool_of(spec) for spec in self.adapter.specs()]

    async def process(
        self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        """Call the function, and put what the model is shown in the place of its result."""
        await call_next()
        if isinstance(context.result, Content):  # it asks for an approval
            return
        arguments: Any = context.arguments
        shown = await self.adapter.ashown(
            context.function.name,
            context.result,
            call_id=context.metadata.get("call_id"),
            arguments=arguments if isinstance(arguments, dict) else arguments.model_dump(),
            blocks=isinstance(context.result, list),
        )
        if shown.changed:
            context.result = shown.content


def _tool_of(spec: ToolSpec) -> FunctionTool:
    async def read(context: FunctionInvocationContext, **arguments: Any) -> str:
        return await spec.acall(arguments, call_id=context.metadata.get("call_id"))

    return FunctionTool(name=spec.name, description=spec.description, func=read, input_model=spec.schema)
