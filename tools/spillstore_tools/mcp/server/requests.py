"""Requests of clients, for any transport: tools and resources of a session.

A mistake of a model is answered by the tool that it called, in text, and never by an error of the protocol, which many clients
do not show to models. So arguments are not validated against the schema: the tools accept more than the schema says (``"5"``
for 5), and explain mistakes better.
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
from spillstore_tools.describe import counted, human_size
from spillstore_tools.mcp.server.resources import list_resources, read_resource
from spillstore_tools.mcp.wire.messages import INTERNAL_ERROR, INVALID_PARAMS
from spillstore_tools.mcp.wire.tool_results import encodable, result_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from spillstore_tools.mcp.server.sessions import SessionService

    OpenService = Callable[[], Awaitable[SessionService]]
    ReportProgress = Callable[[float, str], Awaitable[None]]

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
MAX_REQUEST = 1024 * 1024  # bytes; a command line of Linux takes an eighth of that
_PROGRESS = 1.0  # seconds between notifications
_CALL_IDS = frozenset({"toolcallid", "tooluseid"})  # keys in _meta, without prefix and underscores

_T = TypeVar("_T")


class RequestError(Exception):
    """A request is answered with an error of the protocol.

    Attributes:
        code: the code of JSON-RPC.
        message: the problem.
        data: details, or None.
    """

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


async def call_tool(
    open_service: OpenService,
    name: str,
    arguments: object,
    *,
    structured: bool,
    call_id: str,
    report: ReportProgress | None,
) -> dict[str, Any]:
    """Answer ``tools/call``. If it is cancelled, the command has ended when this returns.

    Args:
        open_service: returns the tools of the session.
        name: the name of the tool.
        arguments: the arguments as they were sent.
        structured: results have structured content.
        call_id: the id of the tool call.
        report: called with the bytes that a command has printed, and a text for people; None for no reports.
    """
    sent: Mapping[str, object] | str
    if isinstance(arguments, Mapping | str):
        sent = arguments
    else:
        sent = {} if arguments is None else json.dumps(arguments)
    printed = None if report is None else _OutputCounter()
    try:
        service = await open_service()
        call = service.call(name, sent, tool_call_id=call_id, on_output=printed)
        answer = await (call if report is None or printed is None else _with_reports(call, printed, report))
    except SpillstoreError as error:
        answer = _failed(name, error)
    return result_of(answer, structured=structured)


async def resources(open_service: OpenService, cursor: object) -> dict[str, Any]:
    """Answer ``resources/list``.

    Raises:
        RequestError: the cursor is invalid, or the session cannot be opened or read.
    """
    if not (cursor is None or isinstance(cursor, str)):
        raise RequestError(INVALID_PARAMS, "cursor must be a string")
    try:
        return await asyncio.to_thread(list_resources, (await open_service()).session, cursor)
    except ValueError as error:
        raise RequestError(INVALID_PARAMS, encodable(str(error))) from None
    except SpillstoreError as error:
        raise RequestError(INTERNAL_ERROR, encodable(str(error))) from None


async def resource(open_service: OpenService, uri: str) -> dict[str, Any]:
    """Answer ``resources/read``.

    Raises:
        RequestError: there is no such artifact, or it cannot be read.
    """
    try:
        return await asyncio.to_thread(read_resource, (await open_service()).session, uri)
    except ArgumentError as error:
        raise RequestError(INVALID_PARAMS, encodable(str(error)), {"uri": encodable(uri[:200])}) from None
    except SpillstoreError as error:
        raise RequestError(INTERNAL_ERROR, encodable(str(error))) from None


async def tools(open_service: OpenService) -> dict[str, Any]:
    """Answer ``tools/list``.

    Raises:
        RequestError: the session cannot be opened.
    """
    try:
        return {"tools": (await open_service()).tools}
    except SpillstoreError as error:
        raise RequestError(INTERNAL_ERROR, encodable(str(error))) from None


def call_id_of(meta: Mapping[str, object], request_id: object) -> str:
    """The id of a tool call: the model's, if the client sends it in the metadata, else that of the request."""
    for name, value in meta.items():
        if name.rpartition("/")[2].replace("_", "").lower() in _CALL_IDS and isinstance(value, str) and value:
            return value
    return str(request_id)


def _failed(name: str, error: SpillstoreError) -> BashResult | Answer:
    """The answer of a tool if the session cannot be opened."""
    text = f"{name[:80]}: {error}\n"
    if name == "bash":
        return BashResult(text=text, is_error=True, state="refused")
    return Answer(text=text, is_error=True)


class _OutputCounter:
    """Counts what a command prints; written on the command's thread, read on the loop's."""

    def __init__(self) -> None:
        self.size = 0
        self.lines = 0

    def __call__(self, _: str, data: bytes) -> None:
        self.size += len(data)
        self.lines += data.count(b"\n")


async def _with_reports(call: Coroutine[Any, Any, _T], printed: _OutputCounter, report: ReportProgress) -> _T:
    """The answer of a call; while it runs, new output is reported about once a second."""
    task = asyncio.ensure_future(call)
    reported = 0
    try:
        while not (await asyncio.wait([task], timeout=_PROGRESS))[0]:
            if printed.size > reported:
                reported = printed.size
                await report(float(reported), f"{counted(printed.lines, 'line')}, {human_size(reported)}")
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
