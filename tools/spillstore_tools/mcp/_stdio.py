"""The protocol over stdin and stdout: a message a line.

The SDK has such a transport. It reads stdin on a thread that nothing can interrupt, so a server that gets SIGTERM waits
for its client; it takes a line of any length; and it parses on the event loop. This one reads and parses, and writes, on
two threads that nobody has to wait for.

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
import os
import queue
import re
import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import anyio
import mcp_types
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR

from spillstore_tools.mcp._lines import MAX_REQUEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.lowlevel import Server

_BLOCK = 64 * 1024
_END = 4096  # bytes of the beginning and the end of a line that is too long, where its id may be
_LAST_WORDS = 1.0  # seconds that a client which does not read has for what is left to say
_VALUE = rb'(-?\d{1,18}|"[^"\\]{0,200}")'
# A request's own id stands before everything that may hold another "id", or after it; some libraries do this, some that.
_ID_FIRST = re.compile(
    rb'\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*"id"\s*:\s*' + _VALUE + rb"\s*,"
)
_ID_LAST = re.compile(rb'[,{]\s*"id"\s*:\s*' + _VALUE + rb"\s*\}\s*$")
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


async def serve_stdio(server: Server[Any], stopped: asyncio.Event, claimed: Claimed) -> None:
    """Serve one client until it closes stdin, until ``stopped`` is set, or until it can be told nothing more.

    Then the calls that are being answered are cancelled, and this returns when they have ended.
    """
    wire = _Wire(claimed)
    to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    answers, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    reading = asyncio.create_task(wire.receive(to_server))
    writing = asyncio.create_task(wire.send(from_server))
    stopping = asyncio.create_task(stopped.wait())
    reading.add_done_callback(lambda _: to_server.close())
    for task in (stopping, writing):
        task.add_done_callback(lambda _: reading.cancel())
    try:
        await server.run(requests, answers, server.create_initialization_options())
        await asyncio.wait([writing], timeout=_LAST_WORDS)
    finally:
        for task in (stopping, reading, writing):
            task.cancel()
        failures = await asyncio.gather(stopping, reading, writing, return_exceptions=True)
    for failure in failures:
        if isinstance(failure, Exception):
            raise failure


class _Refusal(NamedTuple):
    """What is wrong with a line, to be said to who sent it."""

    error: mcp_types.JSONRPCError


class _Wire:
    """Messages from one descriptor and to another."""

    def __init__(self, claimed: Claimed) -> None:
        self._lines = _Lines(claimed.source)
        self._target = claimed.target
        self._reader = _Thread("spillstore-mcp-in")
        self._writer = _Thread("spillstore-mcp-out")

    async def receive(self, to_server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Hand messages on until there are no more; what is no message is answered here."""
        while (message := await self._reader.run(self._next)) is not None:
            if isinstance(message, _Refusal):
                await self._writer.run(functools.partial(self._write, message.error))
            else:
                await to_server.send(SessionMessage(message))

    async def send(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write messages until there are no more, or nobody reads them."""
        async with from_server:
            async for message in from_server:
                try:
                    await self._writer.run(functools.partial(self._write, message.message))
                except OSError as error:
                    _log.info("the client has gone: %s", error)
                    return

    def _next(self) -> mcp_types.JSONRPCMessage | _Refusal | None:
        """The next message; None at the end."""
        while (line := self._lines.next()) is not None:
            if line.length > MAX_REQUEST:
                text = f"a request has {line.length} bytes; at most {MAX_REQUEST} are taken"
                return _refusal(INVALID_REQUEST, text, _id_in(line))
            if line.head.strip():
                try:
                    return mcp_types.jsonrpc_message_adapter.validate_json(line.head, by_name=False)
                except ValueError:
                    return _mended(line)
        return None

    def _write(self, message: mcp_types.JSONRPCMessage) -> None:
        data = memoryview(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        while data:
            data = data[os.write(self._target, data) :]


def _mended(line: _Line) -> mcp_types.JSONRPCMessage | _Refusal:
    """A message that the SDK's parser refuses: half surrogates become question marks; for the rest, a refusal with its id."""
    try:
        text = json.dumps(json.loads(line.head), ensure_ascii=False).encode(errors="replace")
        return mcp_types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except (ValueError, RecursionError):
        return _refusal(PARSE_ERROR, "a line is no JSON-RPC message, or nested too deeply", _id_in(line))


def _refusal(code: int, text: str, request_id: int | str | None) -> _Refusal:
    error = mcp_types.ErrorData(code=code, message=text)
    return _Refusal(mcp_types.JSONRPCError(jsonrpc="2.0", id=request_id, error=error))


class _Line(NamedTuple):
    """A line, or the beginning and the end of one that is too long to be held."""

    head: bytes
    tail: bytes
    length: int


def _id_in(line: _Line) -> int | str | None:
    """The id of a request that is too long to be read."""
    match = _ID_FIRST.match(line.head[:_END]) or _ID_LAST.search(line.tail[-_END:])
    found: int | str | None = json.loads(match[1]) if match else None
    return found


class _Lines:
    """Lines from a descriptor, in bounded memory."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._held = bytearray()

    def next(self) -> _Line | None:
        """The next line without its end; None where there are no more."""
        held, searched = self._held, 0
        while (end := held.find(b"\n", searched)) < 0:
            searched = len(held)
            if searched > MAX_REQUEST:
                return self._too_long()
            if not self._fill():
                if not held:
                    return None
                end = len(held)
                break
        line = bytes(held[:end])
        del held[: end + 1]
        return _Line(line, line, len(line))

    def _too_long(self) -> _Line:
        held, length = self._held, 0
        head, tail = bytes(held[:_END]), b""
        while True:
            end = held.find(b"\n")
            piece = bytes(held if end < 0 else held[:end])
            length, tail = length + len(piece), (tail + piece)[-_END:]
            del held[: len(piece) + 1]
            if end >= 0 or not self._fill():
                return _Line(head, tail, length)

    def _fill(self) -> bool:
        """Read more, if there is."""
        data = os.read(self._fd, _BLOCK)
        self._held += data
        return bool(data)


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
            value, error = None, None
            try:
                value = function()
            except Exception as raised:  # noqa: BLE001  # it is raised where it is waited for
                error = raised
            with contextlib.suppress(RuntimeError):  # the loop is closed, nobody waits
                self._loop.call_soon_threadsafe(_settle, future, value, error)


def _settle(future: asyncio.Future[Any], value: object, error: Exception | None) -> None:
    if future.done():  # who waited was cancelled
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
