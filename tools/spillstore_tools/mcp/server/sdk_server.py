"""The server of the SDK, which knows the transport over HTTP, with handlers for the requests.

It is the SDK's low-level server, because that leaves schemas as they are, and lists in pages. Over stdio no SDK is needed.
"""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import mcp_types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from spillstore import __version__
from spillstore_tools.mcp.server import requests
from spillstore_tools.mcp.server.requests import (
    INSTRUCTIONS,
    NAME,
    READING_INSTRUCTIONS,
    RequestError,
    call_id_of,
)
from spillstore_tools.mcp.server.resources import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from mcp.server.connection import Connection
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.models import InitializationOptions

    from spillstore_tools.mcp.server.sessions import ServedSessions, SessionService

_T = TypeVar("_T")
# Arguments that are no object: the SDK's types cannot carry them from the middleware to the handler.
_no_object: contextvars.ContextVar[object] = contextvars.ContextVar("_no_object", default=None)


class _Server(Server[Any]):
    """The SDK's server, which announces on every transport that the list of resources changes."""

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


def make_server(sessions: ServedSessions, *, read_only: bool = False) -> Server[Any]:
    """The server, without a transport.

    Args:
        sessions: the sessions that it serves.
        read_only: tell models that commands cannot be run.
    """
    bus = InMemorySubscriptionBus()
    handlers = _Handlers(sessions, bus)
    options: dict[str, Any] = {}
    if "get_tool_input_schema" in inspect.signature(Server.__init__).parameters:  # from 2.3 on
        options["get_tool_input_schema"] = lambda _: None  # no argument travels in a header
    server = _Server(
        NAME,
        version=__version__,
        instructions=READING_INSTRUCTIONS if read_only else INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_subscriptions_listen=ListenHandler(bus),
        **options,
    )
    server.middleware.append(_any_arguments)
    return server


async def _any_arguments(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Let a call pass whose arguments are no object: that is a model's mistake, which the tool answers."""
    if ctx.method == "tools/call" and ctx.params is not None:
        arguments = ctx.params.get("arguments")
        if arguments is not None and not isinstance(arguments, Mapping):
            _no_object.set(arguments)
            ctx = dataclasses.replace(ctx, params={**ctx.params, "arguments": None})
    return await call_next(ctx)


class _Handlers:
    """The handlers of requests."""

    def __init__(self, sessions: ServedSessions, bus: InMemorySubscriptionBus) -> None:
        self._sessions = sessions
        self._bus = bus
        self._is_published = False
        self._notifying: set[asyncio.Future[None]] = set()  # the loop itself keeps no task alive

    async def list_tools(
        self, ctx: ServerRequestContext[Any, Any], _: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult.model_validate(
            await _answered(requests.tools(lambda: self._service(ctx)))
        )

    async def call_tool(
        self, ctx: ServerRequestContext[Any, Any], params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        async def report(size: float, message: str) -> None:
            await ctx.session.report_progress(size, message=message)

        meta = ctx.meta or {}
        found = await _answered(
            requests.call_tool(
                lambda: self._service(ctx),
                params.name,
                params.arguments if _no_object.get() is None else _no_object.get(),
                structured=self._sessions.structured,
                call_id=call_id_of(meta, ctx.request_id),
                report=report if meta.get("progress_token") is not None else None,
            )
        )
        return mcp_types.CallToolResult.model_validate(found)

    async def list_resources(
        self, ctx: ServerRequestContext[Any, Any], params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListResourcesResult:
        cursor = None if params is None else params.cursor
        found = await _answered(requests.resources(lambda: self._service(ctx), cursor))
        return mcp_types.ListResourcesResult.model_validate(found)

    async def list_resource_templates(
        self, _: ServerRequestContext[Any, Any], __: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListResourceTemplatesResult:
        return mcp_types.ListResourceTemplatesResult.model_validate(TEMPLATES)

    async def read_resource(
        self, ctx: ServerRequestContext[Any, Any], params: mcp_types.ReadResourceRequestParams
    ) -> mcp_types.ReadResourceResult:
        found = await _answered(requests.resource(lambda: self._service(ctx), str(params.uri)))
        return mcp_types.ReadResourceResult.model_validate(found)

    # --- which session --------------------------------------------------------------------------------------

    async def _service(self, ctx: ServerRequestContext[Any, Any]) -> SessionService:
        """The service of the session that a request belongs to.

        A client that has the id of a connection (``Mcp-Session-Id``) has a session of its own, which is closed when the client
        ends it or does not return. Requests of the 2026 protocol have no such id, and share the session of the process.

        Raises:
            SpillstoreError: it cannot be opened.
        """
        connection = ctx.session._connection  # noqa: SLF001  # the SDK gives handlers no other way to it
        key = None if self._sessions.is_named else connection.session_id
        service = await self._sessions.get(key)
        if key is None and not self._is_published:
            self._is_published = True
            service.subscribe(lambda: self._later(self._bus.publish(ResourcesListChanged())))
        if connection.protocol_version not in MODERN_PROTOCOL_VERSIONS and not connection.state.get(__name__):
            connection.state[__name__] = True
            connection.exit_stack.callback(service.subscribe(self._notifier(connection)))
            if key is not None:
                connection.exit_stack.push_async_callback(self._sessions.end, key)
        return service

    def _notifier(self, connection: Connection) -> Callable[[], None]:
        """A function that notifies a client of the protocols before 2026; later ones use ``subscriptions/listen``."""
        return lambda: self._later(connection.send_resource_list_changed())

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._notifying.add(task)
        task.add_done_callback(self._notifying.discard)


async def _answered(request: Coroutine[Any, Any, _T]) -> _T:
    """The answer to a request. If this is cancelled, the request is cancelled once, and has ended when this returns.

    The request is a task of its own: the SDK cancels repeatedly, and a call that is ending a command must not be disturbed.
    """
    task = asyncio.ensure_future(request)
    try:
        await asyncio.wait([task])
        return task.result()
    except RequestError as error:
        raise MCPError(code=error.code, message=error.message, data=error.data) from None
    finally:
        if not task.done():
            task.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([task])
