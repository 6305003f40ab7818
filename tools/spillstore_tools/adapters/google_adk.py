"""Google ADK: a plugin, for all agents of an app. Extra ``google-adk``.

.. code-block:: python

    from google.adk.apps import App
    from spillstore_tools.adapters.google_adk import SpillPlugin

    app = App(name="tests", root_agent=agent, plugins=[SpillPlugin()])

It is for all agents of the app. Those that have tools of their own are offered ours, too.

ADK asks its plugins in order, then the agent's own callbacks, and stops at the first that answers. So name this plugin last: what
stands behind it, and the ``after_tool_callback`` of an agent, is not asked about a result that was replaced here. A tool that is
a node of a workflow gives its result to other nodes: name it in ``skip``.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.genai import types

from spillstore_tools.adapters.core import Adapter

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.tools.tool_context import ToolContext

    from spillstore import Session, aio
    from spillstore_tools.adapters.core import AdapterOptions, ToolSpec

_MEDIA = (types.Part, types.Blob, types.FileData, types.FunctionResponsePart)


class SpillPlugin(BasePlugin):
    """Shows large results in part. The end of its runner closes the session, if it was opened here.

    Args:
        session: see ``Adapter``.
        name: of the plugin.
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
        *,
        name: str = "spillstore",
        **options: Unpack[AdapterOptions],
    ) -> None:
        super().__init__(name=name)
        self.adapter = Adapter(session, **options)
        self.tools: list[BaseTool] = [_Reading(spec) for spec in self.adapter.specs()]

    async def before_model_callback(
        self,
        *,
        callback_context: CallbackContext,  # noqa: ARG002  # ADK names it
        llm_request: LlmRequest,
    ) -> None:
        """Offer the tools that read what is stored, where the agent has tools at all."""
        if llm_request.tools_dict:
            llm_request.append_tools([tool for tool in self.tools if tool.name not in llm_request.tools_dict])

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> dict[str, Any] | None:
        """What the model is shown of a result; None where that is the result itself."""
        rest, media = _apart(result)
        shown = await self.adapter.ashown(
            tool.name, rest, call_id=tool_context.function_call_id, arguments=tool_args
        )
        if not shown.changed:
            return None
        content = shown.content if isinstance(shown.content, dict) else {"result": shown.content}
        return {**content, **media}

    async def close(self) -> None:
        """Close the session, if it was opened here."""
        await asyncio.to_thread(self.adapter.close)


class _Reading(BaseTool):  # type: ignore[misc]  # its package may be missing
    """A tool that reads what is stored."""

    def __init__(self, spec: ToolSpec) -> None:
        super().__init__(name=spec.name, description=spec.description)
        self._spec = spec

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self._spec.schema
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> str:
        return await self._spec.acall(args, call_id=tool_context.function_call_id)


def _apart(result: Any) -> tuple[Any, dict[str, Any]]:
    """A result without the members that hold media, and those; ADK sends media to the model as what they are."""
    if isinstance(result, dict):
        media = {key: value for key, value in result.items() if _has_media(value)}
        return (
            ({key: value for key, value in result.items() if key not in media}, media)
            if media
            else (result, {})
        )
    if isinstance(result, (list, tuple)):
        media_items = [value for value in result if _has_media(value)]
        if media_items:
            return [value for value in result if not _has_media(value)], {"media": media_items}
    return (None, {}) if _has_media(result) else (result, {})


def _has_media(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_media, value))
    return isinstance(value, _MEDIA)
