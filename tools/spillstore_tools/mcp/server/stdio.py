"""The transport over stdin and stdout, a message a line. It uses no SDK, which would take seconds to import.

Lines are read on one thread and written on another, and neither delays the end: a server that gets SIGTERM does not wait for its
client. Each request is a task, which a cancellation ends. A request has a maximum size (``MAX_REQUEST``); a longer one is
discarded while it comes, and answered with an error.

While the server runs, stdin is empty for everybody else, and what others print on stdout goes to stderr.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import functools
import logging
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from spillstore_tools.mcp.server.blocking_thread import BlockingThread
from spillstore_tools.mcp.server.request_tasks import RequestTasks
from spillstore_tools.mcp.server.requests import RequestError
from spillstore_tools.mcp.server.stdio_messages import InvalidMessage, read_messages, request_of
from spillstore_tools.mcp.server.stdio_methods import Methods
from spillstore_tools.mcp.wire.lines import LineWriter
from spillstore_tools.mcp.wire.messages import INTERNAL_ERROR, INVALID_REQUEST
from spillstore_tools.mcp.wire.raw_json import dump
from spillstore_tools.mcp.wire.tool_results import encodable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from spillstore_tools.mcp.server.sessions import ServedSessions
    from spillstore_tools.mcp.server.stdio_messages import Request
    from spillstore_tools.mcp.wire.messages import Id

    Send = Callable[[dict[str, Any]], Awaitable[None]]

_WITH_BATCHES = "2025-03-26"  # the only version that has them
_GRACE = 1.0  # seconds for answers after a client has closed its end, and for the client to read them
_END = object()  # stands for the end of messages, of which one may be null
_log = logging.getLogger("spillstore")


class Claimed(NamedTuple):
    """The descriptors that lead to the client."""

    source: int
    target: int


def claim() -> Claimed:
    """Take stdin and stdout for the protocol alone. To be called before there is an event loop, which opens descriptors.

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
    sessions: ServedSessions, stopped: asyncio.Event, claimed: Claimed, *, read_only: bool = False
) -> None:
    """Serve one client until it closes stdin, until it reads no more, or until ``stopped`` is set.

    Then calls that are being answered are cancelled, and this returns when they have ended. A client that has closed stdin gets
    the answers of the next second.
    """
    client = _StdioClient(sessions, claimed, read_only=read_only)
    reading = asyncio.ensure_future(client.read())
    others = [asyncio.ensure_future(event.wait()) for event in (stopped, client.broken)]
    try:
        await asyncio.wait([reading, *others], return_when=asyncio.FIRST_COMPLETED)
        if not any(each.done() for each in others):
            await asyncio.wait(
                [asyncio.ensure_future(client.finish()), *others],
                timeout=_GRACE,
                return_when=asyncio.FIRST_COMPLETED,
            )
    finally:
        for task in (reading, *others):
            task.cancel()
        await client.tasks.close()
    if reading.done() and not reading.cancelled() and (failure := reading.exception()) is not None:
        raise failure


class _StdioClient:
    """The client, and the requests that are being answered.

    Args:
        sessions: the sessions of the process.
        claimed: the descriptors.
        read_only: tell models that commands cannot be run.

    Attributes:
        broken: set when the client reads no more.
        tasks: the tasks that answer requests.
    """

    def __init__(self, sessions: ServedSessions, claimed: Claimed, *, read_only: bool) -> None:
        loop = asyncio.get_running_loop()
        self.broken = asyncio.Event()
        self.tasks = RequestTasks()
        self._messages = read_messages(claimed.source)
        self._reader = BlockingThread("spillstore-mcp-in")
        self._writer = BlockingThread("spillstore-mcp-out")
        self._output = LineWriter(claimed.target, lambda: loop.call_soon_threadsafe(self.broken.set))
        self._methods = Methods(sessions, self._notify, self.tasks.begin, read_only=read_only)

    async def read(self) -> None:
        """Handle messages until there are no more."""
        while (message := await self._reader.run(functools.partial(next, self._messages, _END))) is not _END:
            if isinstance(message, list):
                self._handle_batch(message)
            else:
                self._handle(message, self._send)

    async def finish(self) -> None:
        """End subscriptions, and wait until all requests are answered."""
        for identity in self._methods.subscriptions:
            self.tasks.cancel(identity)
        await self.tasks.finish()

    def _handle_batch(self, batch: list[Any]) -> None:
        if not batch or self._methods.version != _WITH_BATCHES:
            words = f"a batch is taken by version {_WITH_BATCHES} of the protocol alone, and not empty"
            self._refuse(InvalidMessage(None, INVALID_REQUEST, words), self._send)
            return
        answers: list[dict[str, Any]] = []

        async def collect(answer: dict[str, Any]) -> None:
            answers.append(answer)

        async def send_all(tasks: list[asyncio.Future[Any]]) -> None:
            await asyncio.wait(tasks)
            if answers:  # or all of them were cancelled
                await self._send(answers)

        found = [self._handle(message, collect, is_batched=True) for message in batch]
        if tasks := [task for task in found if task is not None]:
            self.tasks.begin(send_all(tasks))

    def _handle(self, message: Any, send: Send, *, is_batched: bool = False) -> asyncio.Future[Any] | None:
        """Begin to answer a message; None if there is nothing to answer."""
        request = message if isinstance(message, InvalidMessage) else request_of(message)
        if request is None:
            return None
        if isinstance(request, InvalidMessage):
            return self._refuse(request, send)
        if request.id is None:
            self._handle_notification(request)
            return None
        if is_batched and request.method == "initialize":
            return self._refuse(
                InvalidMessage(request.id, INVALID_REQUEST, "initialize is no part of a batch"), send
            )
        return self.tasks.begin_request(request.id, self._answer(request.id, request, send))

    def _refuse(self, message: InvalidMessage, send: Send) -> asyncio.Future[Any]:
        return self.tasks.begin(send(_error(message.id, RequestError(message.code, message.message))))

    def _handle_notification(self, notification: Request) -> None:
        """Cancel a request; other notifications mean nothing to this server."""
        params = notification.params if isinstance(notification.params, dict) else {}
        identity = params.get("requestId")
        if notification.method == "notifications/cancelled" and isinstance(identity, (str, int, float)):
            self.tasks.cancel(identity)

    async def _answer(self, identity: Id, request: Request, send: Send) -> None:
        try:
            result = await self._methods.result(identity, request)
            answer = {"jsonrpc": "2.0", "id": identity, "result": result}
        except RequestError as error:
            answer = _error(identity, error)
        except Exception as error:  # noqa: BLE001  # whatever it is, the client gets an answer, and the server goes on
            _log.warning("a request cannot be answered", exc_info=True)
            words = encodable(f"{type(error).__name__}: {error}")
            answer = _error(identity, RequestError(INTERNAL_ERROR, words))
        await send(answer)

    async def _notify(self, method: str, params: dict[str, Any] | None) -> None:
        more = {} if params is None else {"params": params}
        await self._send({"jsonrpc": "2.0", "method": method, **more})

    async def _send(self, message: object) -> None:
        data = dump(message)
        await self._writer.run(lambda: self._output.write(data))


def _error(identity: Id | None, error: RequestError) -> dict[str, Any]:
    more = {} if error.data is None else {"data": error.data}
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": error.code, "message": error.message, **more}}
