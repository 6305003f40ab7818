"""What clients of the Model Context Protocol can ask of a session, whatever they speak over: answers in the protocol's words.

What a model gets wrong is answered by the tool it called, in text, and never by an error of the protocol, which many
clients do not show to models. So arguments are not validated against the schema: the tools understand more than it says
(``"5"`` for 5), and explain better.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from spillstore import __version__
from spillstore.exceptions import SpillstoreError
from spillstore_tools.agent.answers import Answer
from spillstore_tools.agent.arguments import ArgumentError
from spillstore_tools.agent.bash_result import BashResult
from spillstore_tools.describe import human_size
from spillstore_tools.mcp.outputs import result_of, text_of
from spillstore_tools.mcp.resources import list_resources, read_resource

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from spillstore_tools.mcp.sessions import Service

    Tell = Callable[[float, str], Awaitable[None]]

NAME = "spillstore"
SERVER_INFO = {"name": NAME, "version": __version__}
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
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
_PROGRESS = 1.0  # seconds from one notification to the next
_LONGEST_ID = 200
_CALL_IDS = frozenset({"toolcallid", "tooluseid"})  # names in _meta, whoever's they are

_T = TypeVar("_T")


class RequestError(Exception):
    """A request is answered with an error of the protocol.

    Attributes:
        code: of JSON-RPC.
        message: what is wrong.
        data: more of it.
    """

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


async def call_tool(
    opening: Callable[[], Awaitable[Service]],
    name: str,
    arguments: object,
    *,
    structured: bool,
    call_id: str,
    tell: Tell | None,
) -> dict[str, Any]:
    """Answer ``tools/call``; if it is cancelled, the command has ended when this returns.

    Args:
        opening: gives the session's service.
        name: of the tool.
        arguments: as they were sent.
        structured: results have structured content.
        call_id: the call as the client's model knows it.
        tell: told how many bytes a command has printed, and in words how many lines; None where nobody asks.
    """
    sent: Mapping[str, object] | str
    if isinstance(arguments, Mapping | str):
        sent = arguments
    else:
        sent = {} if arguments is None else json.dumps(arguments)
    printed = None if tell is None else _Printed()
    try:
        service = await opening()
        call = service.call(name, sent, tool_call_id=call_id, on_output=printed)
        answer = await (call if tell is None or printed is None else _reported(call, printed, tell))
    except SpillstoreError as error:
        answer = _failed(name, error)
    return result_of(answer, structured=structured)


async def resources(opening: Callable[[], Awaitable[Service]], cursor: object) -> dict[str, Any]:
    """Answer ``resources/list``.

    Raises:
        RequestError: the cursor is none of ours, or the session cannot be opened or read.
    """
    if not (cursor is None or isinstance(cursor, str)):
        raise RequestError(INVALID_PARAMS, "cursor must be a string")
    try:
        return await asyncio.to_thread(list_resources, (await opening()).session, cursor)
    except ValueError as error:
        raise RequestError(INVALID_PARAMS, text_of(str(error))) from None
    except SpillstoreError as error:
        raise RequestError(INTERNAL_ERROR, text_of(str(error))) from None


async def resource(opening: Callable[[], Awaitable[Service]], uri: str) -> dict[str, Any]:
    """Answer ``resources/read``.

    Raises:
        RequestError: there is no such artifact, or it cannot be read.
    """
    try:
        return await asyncio.to_thread(read_resource, (await opening()).session, uri)
    except ArgumentError as error:
        raise RequestError(INVALID_PARAMS, text_of(str(error)), {"uri": text_of(uri[:200])}) from None
    except SpillstoreError as error:
        raise RequestError(INTERNAL_ERROR, text_of(str(error))) from None


async def tools(opening: Callable[[], Awaitable[Service]]) -> dict[str, Any]:
    """Answer ``tools/list``.

    Raises:
        RequestError: the session cannot be opened.
    """
    try:
        return {"tools": (await opening()).tools}
    except SpillstoreError as error:
        raise RequestError(INTERNAL_ERROR, text_of(str(error))) from None


def call_id_of(meta: Mapping[str, object], request_id: object) -> str:
    """The tool call as the client's model knows it, if the client says so, else the request."""
    for name, value in meta.items():
        if name.rpartition("/")[2].replace("_", "").lower() in _CALL_IDS and isinstance(value, str) and value:
            return value[:_LONGEST_ID]
    return str(request_id)[:_LONGEST_ID]


def _failed(name: str, error: SpillstoreError) -> BashResult | Answer:
    """There is no session to answer from."""
    text = f"{name[:80]}: {error}\n"
    if name == "bash":
        return BashResult(text=text, is_error=True, state="refused")
    return Answer(text=text, is_error=True)


class _Printed:
    """Counts what a command prints; written on its thread, read on the loop's."""

    def __init__(self) -> None:
        self.size = 0
        self.lines = 0

    def __call__(self, _: str, data: bytes) -> None:
        self.size += len(data)
        self.lines += data.count(b"\n")


async def _reported(call: Coroutine[Any, Any, _T], printed: _Printed, tell: Tell) -> _T:
    """What a call returns; the client is told about once a second how much has been printed, where there is news."""
    task = asyncio.ensure_future(call)
    told = 0
    try:
        while not (await asyncio.wait([task], timeout=_PROGRESS))[0]:
            if printed.size > told:
                told = printed.size
                await tell(float(told), f"{printed.lines} lines, {human_size(told)}")
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
