"""The methods of the protocol over stdio, in all its versions.

Versions of the first kind begin with a handshake (``initialize``); requests of the second kind name their version in their
metadata. Each request is judged alone, so a client may try one kind and go on with the other. Requests before a handshake are
answered as well.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from spillstore.exceptions import SpillstoreError
from spillstore_tools.mcp.server import requests
from spillstore_tools.mcp.server.requests import (
    INSTRUCTIONS,
    READING_INSTRUCTIONS,
    SERVER_INFO,
    RequestError,
    call_id_of,
)
from spillstore_tools.mcp.server.resources import TEMPLATES
from spillstore_tools.mcp.wire.messages import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, VERSION_KEY
from spillstore_tools.mcp.wire.tool_results import encodable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from spillstore_tools.mcp.server.sessions import ServedSessions, SessionService
    from spillstore_tools.mcp.server.stdio_messages import Request
    from spillstore_tools.mcp.wire.messages import Id

    Notify = Callable[[str, dict[str, Any] | None], Awaitable[None]]

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)
_UNSUPPORTED_VERSION = -32022
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"
_SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
_CACHEABLE = frozenset(
    {"server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read"}
)
_CAPABILITIES = {"tools": {"listChanged": False}, "resources": {"listChanged": True, "subscribe": False}}
# Notifications that a client may subscribe to; of what they are about only the list of resources ever changes.
_NOTIFICATIONS = frozenset(
    {"toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions"}
)


class Methods:
    """Answers the requests of one client.

    Args:
        sessions: the sessions of the process.
        notify: sends a notification, given its method and parameters.
        begin: begins a task.
        read_only: tell models that commands cannot be run.

    Attributes:
        version: the version of the handshake; None before it.
        subscriptions: ids of requests that end only when they are cancelled.
    """

    def __init__(
        self,
        sessions: ServedSessions,
        notify: Notify,
        begin: Callable[[Awaitable[None]], object],
        *,
        read_only: bool,
    ) -> None:
        self.version: str | None = None
        self.subscriptions: set[Id] = set()
        self._sessions = sessions
        self._notify = notify
        self._begin = begin
        self._instructions = READING_INSTRUCTIONS if read_only else INSTRUCTIONS
        self._is_subscribed = False

    async def result(self, identity: Id, request: Request) -> dict[str, Any]:
        """The result of a request.

        Raises:
            RequestError: it is answered with an error.
        """
        params = {} if request.params is None else request.params
        if not isinstance(params, dict):
            raise RequestError(INVALID_PARAMS, "params must be an object")
        meta = params.get("_meta")
        meta = meta if isinstance(meta, dict) else {}
        if request.method == "initialize":
            return self._initialize(params)
        modern = VERSION_KEY in meta
        if modern:
            _check_version(meta)
        elif request.method == "ping":
            return {}
        result = await self._result(identity, request.method, params, meta, modern=modern)
        if not modern:
            return result
        if request.method in _CACHEABLE:
            result = {**result, "ttlMs": 0, "cacheScope": "private"}
        return {
            **result,
            "resultType": "complete",
            "_meta": {**result.get("_meta", {}), _SERVER_KEY: SERVER_INFO},
        }

    async def _result(
        self, identity: Id, method: str, params: dict[str, Any], meta: dict[str, Any], *, modern: bool
    ) -> dict[str, Any]:
        methods: dict[str, Callable[[], Awaitable[dict[str, Any]]]] = {
            "tools/list": lambda: requests.tools(self._service),
            "tools/call": lambda: self._call(identity, params, meta),
            "resources/list": lambda: requests.resources(self._service, params.get("cursor")),
            "resources/templates/list": _templates,
            "resources/read": lambda: requests.resource(self._service, _string(params, "uri")),
        }
        if modern:
            methods["server/discover"] = self._discover
            methods["subscriptions/listen"] = lambda: self._listen(identity, params)
        if method not in methods:
            raise RequestError(METHOD_NOT_FOUND, f"there is no method {method[:80]!r}", method[:80])
        return await methods[method]()

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        requested = _string(params, "protocolVersion")
        self.version = requested if requested in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        return {
            "protocolVersion": self.version,
            "capabilities": _CAPABILITIES,
            "serverInfo": SERVER_INFO,
            "instructions": self._instructions,
        }

    async def _discover(self) -> dict[str, Any]:
        return {
            "supportedVersions": list(MODERN_VERSIONS),
            "capabilities": _CAPABILITIES,
            "instructions": self._instructions,
        }

    async def _call(self, identity: Id, params: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
        name = _string(params, "name")
        token = meta.get("progressToken")

        async def report(size: float, message: str) -> None:
            progress = {"progressToken": token, "progress": size, "message": message}
            await self._notify("notifications/progress", progress)

        return await requests.call_tool(
            self._service,
            name,
            params.get("arguments"),
            structured=self._sessions.structured,
            call_id=call_id_of(meta, identity),
            report=None if token is None else report,
        )

    async def _service(self) -> SessionService:
        """The service of the process's session; after a handshake the client is notified of new artifacts."""
        service = await self._sessions.get(None)
        if self.version is not None and not self._is_subscribed:
            self._is_subscribed = True
            service.subscribe(lambda: self._begin(self._notify("notifications/resources/list_changed", None)))
        return service

    async def _listen(self, identity: Id, params: dict[str, Any]) -> dict[str, Any]:
        """Send the notifications that a client subscribes to, until it cancels the request."""
        requested = params.get("notifications")
        if not isinstance(requested, dict):
            raise RequestError(INVALID_PARAMS, "notifications must be an object")
        honoured = {name: each for name, each in requested.items() if each and name in _NOTIFICATIONS}
        meta = {"_meta": {_SUBSCRIPTION_KEY: identity}}
        changed = asyncio.Event()
        try:
            service = await self._sessions.get(None)
        except SpillstoreError as error:
            raise RequestError(INTERNAL_ERROR, encodable(str(error))) from None
        unsubscribe = service.subscribe(changed.set)
        self.subscriptions.add(identity)
        try:
            await self._notify(
                "notifications/subscriptions/acknowledged", {**meta, "notifications": honoured}
            )
            while True:
                await changed.wait()
                changed.clear()
                if "resourcesListChanged" in honoured:
                    await self._notify("notifications/resources/list_changed", meta)
        finally:
            self.subscriptions.discard(identity)
            unsubscribe()


async def _templates() -> dict[str, Any]:
    return TEMPLATES


def _check_version(meta: dict[str, Any]) -> None:
    """Check the metadata of a request without a handshake.

    Raises:
        RequestError: its version is not supported, or a required member is missing.
    """
    version = meta[VERSION_KEY]
    if _CAPABILITIES_KEY not in meta:
        raise RequestError(INVALID_PARAMS, f"params._meta lacks {_CAPABILITIES_KEY}")
    if not isinstance(version, str):
        raise RequestError(INVALID_PARAMS, f"{VERSION_KEY} must be a string")
    if version not in MODERN_VERSIONS:
        data = {"supported": list(MODERN_VERSIONS), "requested": version[:80]}
        raise RequestError(_UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def _string(params: dict[str, Any], name: str) -> str:
    found = params.get(name)
    if not isinstance(found, str):
        raise RequestError(INVALID_PARAMS, f"params.{name} must be a string")
    return found
