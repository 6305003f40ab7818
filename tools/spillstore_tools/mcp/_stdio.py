"""The server over stdin and stdout: a message a line, spoken without the SDK, which takes seconds to import.

It speaks every version of the protocol that there is: those that begin with a handshake (``initialize``), and the one whose
requests each say what they are (``_meta``). Which of the two a request is of is seen in the request alone, so nothing breaks
where a client tries one and goes on with the other. What is asked before a handshake is answered all the same.

Lines are read on one thread and written on another, which nobody has to wait for: a server that gets SIGTERM does not wait
for its client. Each request is a task of its own, which a cancellation ends. A request has a bound (``MAX_REQUEST``); what is
longer is thrown away while it comes, and refused.

While it serves, stdin is empty for everybody else, and what others print on stdout goes to stderr.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import functools
import json
import logging
import math
import os
import queue
import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from spillstore.exceptions import SpillstoreError
from spillstore_tools.mcp import requests
from spillstore_tools.mcp._lines import MAX_REQUEST, LineWriter, TooLong, lines
from spillstore_tools.mcp._messages import METHOD_NOT_FOUND, id_in, id_of
from spillstore_tools.mcp._pieces import PieceError, dumped, value
from spillstore_tools.mcp.outputs import text_of
from spillstore_tools.mcp.requests import (
    INSTRUCTIONS,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    READING_INSTRUCTIONS,
    SERVER_INFO,
    RequestError,
    call_id_of,
)
from spillstore_tools.mcp.resources import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from spillstore_tools.mcp._messages import Id
    from spillstore_tools.mcp.sessions import Service, Sessions

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)
_WITH_BATCHES = "2025-03-26"  # the one version that has them
_PARSE_ERROR = -32700
_INVALID_REQUEST = -32600
_UNSUPPORTED_VERSION = -32022
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"
_SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
_LISTS = frozenset(
    {"server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read"}
)
_CAPABILITIES = {"tools": {"listChanged": False}, "resources": {"listChanged": True, "subscribe": False}}
_READ = 64 * 1024
_LAST_WORDS = (
    1.0  # seconds for what is being answered when a client says no more, and for a client to read it
)
_END = object()  # in place of a message, which may be null
_log = logging.getLogger("spillstore")
_T = TypeVar("_T")


class Claimed(NamedTuple):
    """The descriptors that lead to the client."""

    source: int
    target: int


def claim() -> Claimed:
    """Take stdin and stdout for the protocol alone: before there is an event loop, whose descriptors may be any.

    Raises:
        OSError: one of them is closed.
    """
    for name, stream in (("stdin", sys.__stdin__), ("stdout", sys.__stdout__)):
        if stream is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), name)
    source, target = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3) for fd in (0, 1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout.flush()
    os.dup2(2, 1)
    return Claimed(source, target)


async def serve_stdio(
    sessions: Sessions, stopped: asyncio.Event, claimed: Claimed, *, read_only: bool = False
) -> None:
    """Serve one client until it closes stdin, until ``stopped`` is set, or until it can be told nothing more.

    Then the calls that are being answered are cancelled, and this returns when they have ended. A client that has closed stdin
    gets what is answered within a second.
    """
    conversation = _Conversation(sessions, claimed, read_only=read_only)
    reading = asyncio.ensure_future(conversation.read())
    others = [asyncio.ensure_future(event.wait()) for event in (stopped, conversation.gone)]
    try:
        await asyncio.wait([reading, *others], return_when=asyncio.FIRST_COMPLETED)
        if not any(each.done() for each in others):
            await asyncio.wait(
                [asyncio.ensure_future(conversation.finish()), *others],
                timeout=_LAST_WORDS,
                return_when=asyncio.FIRST_COMPLETED,
            )
    finally:
        for task in (reading, *others):
            task.cancel()
        await conversation.close()
    if reading.done() and not reading.cancelled() and (failure := reading.exception()) is not None:
        raise failure


class _Conversation:
    """One client: what it asks, and what it is told.

    Args:
        sessions: those of the process.
        claimed: where it is.
        read_only: say that commands cannot be run.
    """

    def __init__(self, sessions: Sessions, claimed: Claimed, *, read_only: bool) -> None:
        loop = asyncio.get_running_loop()
        self.gone = asyncio.Event()
        self._sessions = sessions
        self._lines = _messages(claimed.source)
        self._reader = _Thread("spillstore-mcp-in")
        self._writer = _Thread("spillstore-mcp-out")
        self._client = LineWriter(claimed.target, lambda: loop.call_soon_threadsafe(self.gone.set))
        self._instructions = READING_INSTRUCTIONS if read_only else INSTRUCTIONS
        self._tasks: set[asyncio.Future[Any]] = set()
        self._asked: dict[Id, asyncio.Future[Any]] = {}  # which can be cancelled
        self._cancelled: set[asyncio.Future[Any]] = set()
        self._listening: set[Id] = set()  # which end only when they are cancelled
        self._version: str | None = None  # of the handshake
        self._is_subscribed = False

    # --- reading ----------------------------------------------------------------------------------------

    async def read(self) -> None:
        """Take messages until there are no more."""
        while (found := await self._reader.run(functools.partial(next, self._lines, _END))) is not _END:
            if isinstance(found, _Wrong):
                self._begin(self._send(_error(found.id, RequestError(found.code, found.message))))
            elif isinstance(found, list):
                self._take_batch(found)
            else:
                self._take(found, self._send)

    async def finish(self) -> None:
        """Wait until all that was asked is answered."""
        for identity in self._listening:
            self._cancel(self._asked[identity])
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Cancel what is being answered, and wait until that has ended; not for a client that does not read."""
        answering = [task for task in self._asked.values() if not task.done()]
        for task in answering:
            self._cancel(task)
        if answering:
            await asyncio.wait(answering)
        for task in self._tasks:
            self._cancel(task)

    def _take_batch(self, batch: list[Any]) -> None:
        if not batch or self._version != _WITH_BATCHES:
            words = f"a batch is taken by version {_WITH_BATCHES} of the protocol alone, and not empty"
            self._begin(self._send(_error(None, RequestError(_INVALID_REQUEST, words))))
            return
        answers: list[dict[str, Any]] = []

        async def keep(answer: dict[str, Any]) -> None:  # in place of sending it
            answers.append(answer)

        async def send(tasks: list[asyncio.Future[Any]]) -> None:
            await asyncio.wait(tasks)
            if answers:  # or all of them were cancelled
                await self._write(answers)

        found = [self._take(message, keep, is_batched=True) for message in batch]
        if tasks := [task for task in found if task is not None]:
            self._begin(send(tasks))

    def _take(
        self, message: Any, send: Callable[[dict[str, Any]], Awaitable[None]], *, is_batched: bool = False
    ) -> asyncio.Future[Any] | None:
        """Begin to answer a message, on a task; None where there is nothing to answer."""
        is_message = isinstance(message, dict) and message.get("jsonrpc") == "2.0"
        identity = message.get("id") if isinstance(message, dict) else None
        if not isinstance(identity, (str, int, float)) or isinstance(identity, bool):
            identity = None
        elif isinstance(identity, float) and not math.isfinite(identity):
            identity = None  # JSON has no such number
        if is_message and ("result" in message or "error" in message) and "method" not in message:
            return None  # we ask a client nothing
        method = message.get("method") if is_message else None
        if not isinstance(method, str) or ("id" in message and identity is None):
            words = "this is no request of JSON-RPC 2.0: it needs a method, and an id that is a string or a number"
            return self._begin(send(_error(identity, RequestError(_INVALID_REQUEST, words))))
        params = message.get("params")
        if identity is None:
            self._heard(method, params if isinstance(params, dict) else {})
            return None
        if is_batched and method == "initialize":
            words = "initialize is no part of a batch"
            return self._begin(send(_error(identity, RequestError(_INVALID_REQUEST, words))))
        task = self._begin(self._answer(identity, method, params, send))
        self._asked[identity] = task

        def answered(_: object) -> None:
            if self._asked.get(identity) is task:
                del self._asked[identity]

        task.add_done_callback(answered)
        return task

    def _heard(self, method: str, params: dict[str, Any]) -> None:
        """A notification; those that we know nothing of mean nothing to us."""
        identity = params.get("requestId")
        if method == "notifications/cancelled" and isinstance(identity, (str, int, float)):
            task = self._asked.get(identity)
            if task is not None:
                self._cancel(task)

    def _begin(self, work: Awaitable[None]) -> asyncio.Future[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _cancel(self, task: asyncio.Future[Any]) -> None:
        """Once: a call that is ending a command must not be disturbed."""
        if task not in self._cancelled:
            self._cancelled.add(task)
            task.add_done_callback(self._cancelled.discard)
            task.cancel()

    # --- writing ----------------------------------------------------------------------------------------

    async def _send(self, message: dict[str, Any]) -> None:
        await self._write(message)

    async def _write(self, message: object) -> None:
        data = dumped(message)
        await self._writer.run(lambda: self._client.write(data))

    async def _notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        more = {} if params is None else {"params": params}
        await self._send({"jsonrpc": "2.0", "method": method, **more})

    # --- answers ----------------------------------------------------------------------------------------

    async def _answer(
        self, identity: Id, method: str, params: Any, send: Callable[[dict[str, Any]], Awaitable[None]]
    ) -> None:
        try:
            result = await self._result(identity, method, params)
            answer = {"jsonrpc": "2.0", "id": identity, "result": result}
        except RequestError as error:
            answer = _error(identity, error)
        except Exception as error:  # noqa: BLE001  # whatever it is, who asked is told, and there is more to answer
            _log.warning("a request cannot be answered", exc_info=True)
            words = text_of(f"{type(error).__name__}: {error}")
            answer = _error(identity, RequestError(INTERNAL_ERROR, words))
        await send(answer)

    async def _result(self, identity: Id, method: str, params: Any) -> dict[str, Any]:
        params = {} if params is None else params
        if not isinstance(params, dict):
            raise RequestError(INVALID_PARAMS, "params must be an object")
        meta = params.get("_meta")
        meta = meta if isinstance(meta, dict) else {}
        if method == "initialize":
            return self._initialized(params)
        modern = _VERSION_KEY in meta
        if modern:
            _check_version(meta)
        elif method == "ping":
            return {}
        result = await self._of_method(identity, method, params, meta, modern=modern)
        if not modern:
            return result
        if method in _LISTS:
            result = {**result, "ttlMs": 0, "cacheScope": "private"}
        known = {**result.get("_meta", {}), _SERVER_KEY: SERVER_INFO}
        return {**result, "resultType": "complete", "_meta": known}

    async def _of_method(
        self, identity: Id, method: str, params: dict[str, Any], meta: dict[str, Any], *, modern: bool
    ) -> dict[str, Any]:
        simple: dict[str, Callable[[], Awaitable[dict[str, Any]]]] = {
            "tools/list": lambda: requests.tools(self._service),
            "tools/call": lambda: self._called(identity, params, meta),
            "resources/list": lambda: requests.resources(self._service, params.get("cursor")),
            "resources/templates/list": _templates,
            "resources/read": lambda: requests.resource(self._service, _text_in(params, "uri")),
        }
        if modern:
            simple["server/discover"] = self._discovered
            simple["subscriptions/listen"] = lambda: self._listened(identity, params)
        if method not in simple:
            raise RequestError(METHOD_NOT_FOUND, f"there is no method {method[:80]!r}", method[:80])
        return await simple[method]()

    async def _discovered(self) -> dict[str, Any]:  # as the others
        return {
            "supportedVersions": list(MODERN_VERSIONS),
            "capabilities": _CAPABILITIES,
            "instructions": self._instructions,
        }

    def _initialized(self, params: dict[str, Any]) -> dict[str, Any]:
        asked = _text_in(params, "protocolVersion")
        self._version = asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        return {
            "protocolVersion": self._version,
            "capabilities": _CAPABILITIES,
            "serverInfo": SERVER_INFO,
            "instructions": self._instructions,
        }

    async def _called(self, identity: Id, params: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
        name = _text_in(params, "name")
        token = meta.get("progressToken")

        async def tell(size: float, message: str) -> None:
            told = {"progressToken": token, "progress": size, "message": message}
            await self._notify("notifications/progress", told)

        return await requests.call_tool(
            self._service,
            name,
            params.get("arguments"),
            structured=self._sessions.structured,
            call_id=call_id_of(meta, identity),
            tell=None if token is None else tell,
        )

    async def _service(self) -> Service:
        service = await self._sessions.get(None)
        if self._version is not None and not self._is_subscribed:
            self._is_subscribed = True
            service.subscribe(lambda: self._begin(self._notify("notifications/resources/list_changed")))
        return service

    async def _listened(self, identity: Id, params: dict[str, Any]) -> dict[str, Any]:
        """Tell a client what it wants to be told, until it cancels that."""
        wanted = params.get("notifications")
        if not isinstance(wanted, dict):
            raise RequestError(INVALID_PARAMS, "notifications must be an object")
        honoured = {name: each for name, each in wanted.items() if each and name in _LISTENED}
        meta = {"_meta": {_SUBSCRIPTION_KEY: identity}}
        appeared = asyncio.Event()
        try:
            service = await self._sessions.get(None)
        except SpillstoreError as error:
            raise RequestError(INTERNAL_ERROR, text_of(str(error))) from None
        leave = service.subscribe(appeared.set)
        self._listening.add(identity)
        try:
            await self._notify(
                "notifications/subscriptions/acknowledged", {**meta, "notifications": honoured}
            )
            while True:
                await appeared.wait()
                appeared.clear()
                if "resourcesListChanged" in honoured:
                    await self._notify("notifications/resources/list_changed", meta)
        finally:
            self._listening.discard(identity)
            leave()


# What a client may ask to be told of; of these only resources ever change.
_LISTENED = frozenset(
    {"toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions"}
)


async def _templates() -> dict[str, Any]:  # as the others
    return TEMPLATES


def _check_version(meta: dict[str, Any]) -> None:
    """Whether a request without a handshake is of a version that we speak.

    Raises:
        RequestError: it is not, or does not say what it must.
    """
    asked = meta[_VERSION_KEY]
    if _CAPABILITIES_KEY not in meta:
        raise RequestError(INVALID_PARAMS, f"params._meta lacks {_CAPABILITIES_KEY}")
    if not isinstance(asked, str):
        raise RequestError(INVALID_PARAMS, f"{_VERSION_KEY} must be a string")
    if asked not in MODERN_VERSIONS:
        told = {"supported": list(MODERN_VERSIONS), "requested": asked[:80]}
        raise RequestError(_UNSUPPORTED_VERSION, "Unsupported protocol version", told)


def _text_in(params: dict[str, Any], name: str) -> str:
    found = params.get(name)
    if not isinstance(found, str):
        raise RequestError(INVALID_PARAMS, f"params.{name} must be a string")
    return found


def _error(identity: Id | None, error: RequestError) -> dict[str, Any]:
    more = {} if error.data is None else {"data": error.data}
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": error.code, "message": error.message, **more}}


# --- lines --------------------------------------------------------------------------------------------------


class _Wrong(NamedTuple):
    """What is wrong with a line, to be said to who sent it."""

    id: Id | None
    code: int
    message: str


def _messages(source: int) -> Iterator[Any]:
    """What a client says, line by line, until it says no more."""
    for line in lines(lambda: os.read(source, _READ), MAX_REQUEST):
        if isinstance(line, TooLong):
            if line.end is not None:
                yield _too_long(line.beginning, line.end, line.size)
        elif len(line) > MAX_REQUEST + 1:
            yield _too_long(bytes(line), bytes(line), len(line))
        elif line.strip():
            yield _message(line)


def _too_long(beginning: bytes, end: bytes, size: int) -> _Wrong:
    words = f"a request has {size} bytes; at most {MAX_REQUEST} are taken"
    return _Wrong(id_of(id_in(beginning, end)), _INVALID_REQUEST, words)


def _message(line: bytes | bytearray) -> Any:
    """A message as it was meant: bytes that are no UTF-8 and half surrogates become question marks."""
    try:
        found = value(line)
        if not line.isascii() or b"\\u" in line:
            found = json.loads(json.dumps(found, ensure_ascii=False).encode(errors="replace"))
    except (PieceError, ValueError, RecursionError):
        identity = id_of(id_in(bytes(line), bytes(line)))
        return _Wrong(identity, _PARSE_ERROR, "a line is no JSON, or nested too deeply")
    return found


class _Thread:
    """Runs calls that block, one after the other. One that hangs holds up the end of nobody who has given it up."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._todo: queue.SimpleQueue[tuple[Callable[[], Any], asyncio.Future[Any]]] = queue.SimpleQueue()
        threading.Thread(target=self._work, name=name, daemon=True).start()

    async def run(self, function: Callable[[], _T]) -> _T:
        """What ``function`` returns or raises."""
        future: asyncio.Future[_T] = self._loop.create_future()
        self._todo.put((function, future))
        return await future

    def _work(self) -> None:
        while True:
            function, future = self._todo.get()
            found, error = None, None
            try:
                found = function()
            except Exception as raised:  # noqa: BLE001  # it is raised where it is waited for
                error = raised
            with contextlib.suppress(RuntimeError):  # the loop is closed, nobody waits
                self._loop.call_soon_threadsafe(_settle, future, found, error)


def _settle(future: asyncio.Future[Any], found: object, error: Exception | None) -> None:
    if future.done():  # who waited was cancelled
        return
    if error is None:
        future.set_result(found)
    else:
        future.set_exception(error)
