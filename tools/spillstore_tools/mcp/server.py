"""The server: what clients of the Model Context Protocol can ask of a session.

It is made of the SDK's low-level server, for that gives exact control: schemas that models were not made to fit by a
library, answers that are not repeated as JSON, lists in pages. What a model gets wrong is answered by the tool it called,
in text, and never by an error of the protocol, which many clients do not show to models. So arguments are not validated
against the schema: the tools understand more than it says (``"5"`` for 5), and explain better.
"""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import mcp_types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from spillstore import __version__
from spillstore.exceptions import SpillstoreError
from spillstore_tools.arguments import ArgumentError
from spillstore_tools.bash import BashResult
from spillstore_tools.describe import human_size
from spillstore_tools.mcp.outputs import result_of, text_of
from spillstore_tools.mcp.resources import TEMPLATE, list_resources, read_resource
from spillstore_tools.retrieval import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.models import InitializationOptions
    from mcp.server.subscriptions import InMemorySubscriptionBus

    from spillstore_tools.mcp.sessions import Service, Sessions

INSTRUCTIONS = (
    "What a tool prints is stored whole and shown in part; notices say exactly what is left out. "
    "Get any part of it with get_artifact, and find lines in it with search_artifact, instead of running a command again. "
    "A command that takes longer than its timeout goes on in the background: bash(check_pid=...) shows what is new."
)
READING_INSTRUCTIONS = (
    "The stored output of tools can be read here; commands cannot be run. "
    "list_artifacts shows what there is. "
    "Get any part of it with get_artifact, and find lines in it with search_artifact."
)
_PROGRESS = 1.0  # seconds from one notification to the next
_LONGEST_ID = 200
_CALL_IDS = frozenset({"toolcallid", "tooluseid"})  # names in _meta, whoever's they are

_T = TypeVar("_T")
# Arguments that are no object, which the SDK's types cannot carry, on their way from the middleware to the handler.
_no_object: contextvars.ContextVar[object] = contextvars.ContextVar("_no_object", default=None)


class _Server(Server[Any]):
    """The SDK's, which says on each transport that the list of resources changes."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """As the SDK's."""
        return super().create_initialization_options(
            notification_options or NotificationOptions(resources_changed=True),
            experimental_capabilities,
            extensions,
        )


def make_server(sessions: Sessions, bus: InMemorySubscriptionBus, *, read_only: bool = False) -> Server[Any]:
    """The server, ready to be given a transport.

    Args:
        sessions: those it serves.
        bus: tells clients that have asked of artifacts that appear.
        read_only: say that commands cannot be run.
    """
    handlers = _Handlers(sessions)
    server = _Server(
        "spillstore",
        version=__version__,
        instructions=READING_INSTRUCTIONS if read_only else INSTRUCTIONS,
        get_tool_input_schema=lambda _: None,  # no argument of ours travels in a header
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_subscriptions_listen=ListenHandler(bus),
    )
    server.middleware.append(_any_arguments)
    return server


async def _any_arguments(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Let a call through whose arguments are no object, which is a model's mistake, for its tool to answer."""
    if ctx.method == "tools/call" and ctx.params is not None:
        arguments = ctx.params.get("arguments")
        if arguments is not None and not isinstance(arguments, Mapping):
            _no_object.set(arguments)
            ctx = dataclasses.replace(ctx, params={**ctx.params, "arguments": None})
    return await call_next(ctx)


class _Handlers:
    """What is done for each kind of request."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def list_tools(
        self, ctx: ServerRequestContext[Any, Any], _: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        service = await self._service(ctx)
        return mcp_types.ListToolsResult.model_validate({"tools": service.tools})

    async def call_tool(
        self, ctx: ServerRequestContext[Any, Any], params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        arguments: Mapping[str, object] | str = params.arguments or {}
        if (sent := _no_object.get()) is not None:
            arguments = sent if isinstance(sent, str) else json.dumps(sent)
        printed = _Printed() if (ctx.meta or {}).get("progress_token") is not None else None
        try:
            service = await self._sessions.of(ctx)
            call = service.call(params.name, arguments, tool_call_id=_call_id(ctx), on_output=printed)
            answer: BashResult | Answer = await _finished(
                call, None if printed is None else _reporter(ctx, printed)
            )
        except SpillstoreError as error:
            answer = _failed(params.name, error)
        found = result_of(answer, structured=self._sessions.structured)
        return mcp_types.CallToolResult.model_validate(found)

    async def list_resources(
        self, ctx: ServerRequestContext[Any, Any], params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListResourcesResult:
        service = await self._service(ctx)
        cursor = None if params is None else params.cursor
        try:
            return await asyncio.to_thread(list_resources, service.session, cursor)
        except ValueError as error:
            raise MCPError(code=INVALID_PARAMS, message=str(error)) from None
        except SpillstoreError as error:
            raise MCPError(code=INTERNAL_ERROR, message=text_of(str(error))) from None

    async def list_resource_templates(
        self, _: ServerRequestContext[Any, Any], __: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListResourceTemplatesResult:
        return mcp_types.ListResourceTemplatesResult(resource_templates=[TEMPLATE])

    async def read_resource(
        self, ctx: ServerRequestContext[Any, Any], params: mcp_types.ReadResourceRequestParams
    ) -> mcp_types.ReadResourceResult:
        service = await self._service(ctx)
        uri = str(params.uri)
        try:
            return await asyncio.to_thread(read_resource, service.session, uri)
        except ArgumentError as error:
            raise MCPError(
                code=INVALID_PARAMS, message=text_of(str(error)), data={"uri": uri[:200]}
            ) from None
        except SpillstoreError as error:
            raise MCPError(code=INTERNAL_ERROR, message=text_of(str(error))) from None

    async def _service(self, ctx: ServerRequestContext[Any, Any]) -> Service:
        try:
            return await self._sessions.of(ctx)
        except SpillstoreError as error:
            raise MCPError(code=INTERNAL_ERROR, message=text_of(str(error))) from None


def _failed(name: str, error: SpillstoreError) -> BashResult | Answer:
    """There is no session to answer from."""
    text = f"{name[:80]}: {error}\n"
    if name == "bash":
        return BashResult(text=text, is_error=True, state="refused")
    return Answer(text=text, is_error=True)


# --- one call ---------------------------------------------------------------------------------------------


def _call_id(ctx: ServerRequestContext[Any, Any]) -> str:
    """The tool call as the client's model knows it, if the client says so, else the request."""
    for name, value in (ctx.meta or {}).items():
        if name.rpartition("/")[2].replace("_", "").lower() in _CALL_IDS and isinstance(value, str) and value:
            return value[:_LONGEST_ID]
    return str(ctx.request_id)[:_LONGEST_ID]


class _Printed:
    """Counts what a command prints; written on its thread, read on the loop's."""

    def __init__(self) -> None:
        self.size = 0
        self.lines = 0

    def __call__(self, _: str, data: bytes) -> None:
        self.size += len(data)
        self.lines += data.count(b"\n")


def _reporter(
    ctx: ServerRequestContext[Any, Any], printed: _Printed
) -> Callable[[], Coroutine[Any, Any, None]]:
    """Tells the client how much has been printed, where that is more than it was told last."""
    told = 0

    async def report() -> None:
        nonlocal told
        if printed.size > told:
            told = printed.size
            message = f"{printed.lines} lines, {human_size(told)}"
            await ctx.session.report_progress(float(told), message=message)

    return report


async def _finished(
    call: Coroutine[Any, Any, _T], report: Callable[[], Coroutine[Any, Any, None]] | None
) -> _T:
    """What a call returns. If we are cancelled it is cancelled, once, and has ended when we return.

    It is a task of its own: the SDK cancels again and again, and a call that is ending a command must not be disturbed.
    """
    task = asyncio.ensure_future(call)
    try:
        while not (await asyncio.wait([task], timeout=None if report is None else _PROGRESS))[0]:
            assert report is not None  # or we had waited for the end
            await report()
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([task])
