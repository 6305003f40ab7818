"""PydanticAI: a capability, and a store for the overflows of its harness. Extra ``pydantic-ai``.

.. code-block:: python

    from pydantic_ai import Agent
    from spillstore_tools.adapters.pydantic_ai import SpillCapability

    agent = Agent("...", capabilities=[SpillCapability()])

``SpillOverflowStore`` is for who has ``ToolOutputLimits`` of pydantic-ai-harness: its previews stay, and what they leave out is
stored here.

Results of calls that a program of the model makes (code mode) pass as they are, and so do those that the framework reads itself:
which capabilities are loaded, and which tools were found.
"""

from __future__ import annotations

import asyncio
import dataclasses
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    LoadCapabilityReturnPart,
    ModelResponse,
    ToolCallPart,
    ToolReturn,
    ToolSearchReturnPart,
    is_multi_modal_content,
)
from pydantic_ai.tools import Tool
from pydantic_ai.toolsets import FunctionToolset

from spillstore.exceptions import ArtifactNotFoundError, SpillstoreError
from spillstore_tools.adapters.core import Adapter, WithAdapter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Unpack

    from pydantic_ai.tools import RunContext, ToolDefinition

    from spillstore import Session, aio
    from spillstore_tools.adapters.core import AdapterOptions, ToolSpec

    Given = Session | aio.Session | Callable[[], Session] | str | None

_FOR_THE_FRAMEWORK = frozenset({LoadCapabilityReturnPart.tool_kind, ToolSearchReturnPart.tool_kind})
_CALL = re.compile(
    r"(?:.*/)?(.+?)\.\d+(?:\.content)?", re.DOTALL
)  # in the key of an overflow: RUN/CALL.RETRY


class SpillCapability(WithAdapter, AbstractCapability[Any]):
    """Shows large results in part. A context manager, also of ``async with``: its end closes what was opened here.

    Args:
        session: see ``Adapter``.
        id: of the capability, and of its toolset.
        options: see ``AdapterOptions``.

    Attributes:
        adapter: decides what is shown, and stores the rest.

    Raises:
        InvalidSettingError: as ``Adapter`` does.
    """

    def __init__(
        self,
        session: Given = None,
        *,
        id: str = "spillstore",  # noqa: A002  # PydanticAI's name for it
        **options: Unpack[AdapterOptions],
    ) -> None:
        self.id = id
        self.adapter = Adapter(session, **options)
        self._toolset = FunctionToolset([_tool_of(spec) for spec in self.adapter.specs()], id=id)

    @classmethod
    def combine(cls, capabilities: Sequence[AbstractCapability[Any]]) -> AbstractCapability[Any]:
        """Of several with one id the last: each has a session."""
        return capabilities[-1]

    def get_toolset(self) -> FunctionToolset[Any]:
        """The tools that read what is stored."""
        return self._toolset

    async def after_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        result: Any,
    ) -> Any:
        """What the model is shown of a result; metadata says where the rest is, unless the tool has given some of its own."""
        if tool_def.tool_kind in _FOR_THE_FRAMEWORK or _is_for_a_program(ctx, call):
            return result
        given = result if isinstance(result, ToolReturn) else ToolReturn(result)
        value, value_ids = await self._shown(call, args, given.return_value)
        content, content_ids = await self._shown(call, args, given.content)
        if value is given.return_value and content is given.content:
            return result
        metadata = given.metadata
        if metadata is None and (ids := [*value_ids, *content_ids]):
            metadata = {"spillstore": ids}
        return dataclasses.replace(given, return_value=value, content=content, metadata=metadata)

    async def _shown(
        self, call: ToolCallPart, args: dict[str, Any], value: Any
    ) -> tuple[Any, tuple[str, ...]]:
        is_list = isinstance(value, (list, tuple))
        has_media = _has_media(value)
        if value is None or (has_media and not is_list):
            return value, ()
        shown = await self.adapter.ashown(
            call.tool_name, value, call_id=call.tool_call_id, arguments=args, blocks=is_list and has_media
        )
        return shown.content, shown.artifact_ids


class SpillOverflowStore:
    """An ``OverflowStore`` for ``ToolOutputLimits(store=...)`` of pydantic-ai-harness. The handle is the artifact's id.

    Secrets are taken out of what is stored, so what is read back may differ from what was written. The protocol reads an
    overflow as a whole, so reading takes as much memory.

    Args:
        session: see ``Adapter``.
        options: see ``AdapterOptions``.
    """

    def __init__(self, session: Given = None, **options: Unpack[AdapterOptions]) -> None:
        self.adapter = Adapter(session, **options)

    async def write(self, key: str, data: bytes) -> str:
        """Store a result.

        Args:
            key: as the harness makes it: the run, the tool call and the attempt.
            data: the result as text.

        Raises:
            SpillstoreError: it cannot be stored; the harness truncates it then.
        """
        call = _CALL.fullmatch(key)

        def put() -> str:
            return self.adapter.session.put(
                data, source="pydantic-ai", tool_call_id=call[1] if call else key
            ).id

        return await asyncio.to_thread(put)

    async def read(self, handle: str) -> bytes:
        """All of a stored result.

        Raises:
            FileNotFoundError: nothing is stored under that handle.
            OSError: it cannot be read.
        """

        def read() -> bytes:
            try:
                return b"".join(self.adapter.session.artifact(handle).chunks())
            except ArtifactNotFoundError as error:
                raise FileNotFoundError(str(error)) from error
            except SpillstoreError as error:
                raise OSError(str(error)) from error

        return await asyncio.to_thread(read)


def _is_for_a_program(ctx: RunContext[Any], call: ToolCallPart) -> bool:
    """Whether the newest response of the model is there and has other calls, but not this one."""
    for message in reversed(ctx.messages):
        if isinstance(message, ModelResponse):
            calls = [part.tool_call_id for part in message.parts if isinstance(part, ToolCallPart)]
            return bool(calls) and call.tool_call_id not in calls
    return False


def _has_media(value: Any) -> bool:
    """Whether a value is, or holds, an image, a document or the like, which the model gets as such."""
    if isinstance(value, Mapping):
        return any(map(_has_media, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_has_media, value))
    return bool(is_multi_modal_content(value))


def _tool_of(spec: ToolSpec) -> Tool[Any]:
    async def read(ctx: RunContext[Any], **arguments: Any) -> str:
        return await spec.acall(arguments, call_id=ctx.tool_call_id)

    return Tool.from_schema(read, spec.name, spec.description, spec.schema, takes_ctx=True)
