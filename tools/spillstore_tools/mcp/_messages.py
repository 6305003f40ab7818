"""Messages of JSON-RPC: what is asked and not answered yet, and what can be told of one without reading all of it."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from spillstore_tools.mcp._pieces import PieceError, member_in, members, value
from spillstore_tools.mcp._results import Call
from spillstore_tools.preview.text.clean import label

if TYPE_CHECKING:
    import queue

    from spillstore_tools.mcp._pieces import Data

METHOD_NOT_FOUND = -32601
Id = str | int | float
_ID = (str, int, float)
_ARGUMENTS = 1000  # characters of a call's arguments that are stored with a result
_NAME = 200
_SHOWN = 120  # bytes of a line that is no message
_LAST_ID = re.compile(
    rb'[,{]\s*"id"\s*:\s*("(?:[^"\\]|\\.){0,300}"|-?[0-9.eE+-]{1,40})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z',
    re.DOTALL,
)


@dataclasses.dataclass(frozen=True, slots=True)
class Pending:
    """A request that the server has not answered."""

    id: Data
    method: str
    call: Call | None = None
    continued: bool = False  # of a list: not the first page
    modern: bool = False  # of a version of the protocol without a handshake
    ours: queue.SimpleQueue[dict[str, Data] | None] | None = None  # where our own requests are answered


def call_of(name: str, identity: Id, arguments: Data | None) -> Call:
    """What a result will be stored with, in bounds."""
    said = None
    if arguments is not None:
        said = bytes(arguments[: 4 * _ARGUMENTS]).decode("utf-8", "replace")
        said = said if len(said) <= _ARGUMENTS else f"{said[: _ARGUMENTS - 3]}..."
    tool, number = ((each[:_NAME].encode("utf-8", "replace").decode()) for each in (name, str(identity)))
    return Call(tool=tool or "tool", id=number, arguments=said)


def members_of(data: Data | None) -> dict[str, Data]:
    """The members of an object; none of what is no object."""
    if data is None:
        return {}
    try:
        return members(data)
    except PieceError:
        return {}


def id_of(data: Data | None) -> Id | None:
    """The id of a message; None where it has none, or null."""
    if data is None:
        return None
    try:
        found = value(data)
    except PieceError:
        return None
    return found if isinstance(found, _ID) and not isinstance(found, bool) else None


def id_in(beginning: bytes, end: bytes | None) -> Data | None:
    r"""The id of an answer of which only the ends are known, if it stands there.

    Example:
        >>> id_in(b'{"result":{"id":1,"a":"...', b'..."},"id":7}\n')
        b'7'
        >>> id_in(b'{"id": 7, "result": "...', None), id_in(b'{"result":{"id":1}', b'..."id":1}}')
        (b'7', None)
    """
    if (found := member_in(beginning, b'"id"')) is not None:
        return found
    last = _LAST_ID.search(end or b"")
    return None if last is None else last[1]


def error_code(message: dict[str, Data]) -> object:
    """The code of an answer that is an error, or None where there is none that can be read."""
    code = members_of(message.get("error")).get("code")
    try:
        return None if code is None else value(code)
    except PieceError:
        return None


def shown(line: bytes | bytearray) -> str:
    """The beginning of a line, for people."""
    words = label(bytes(line[:_SHOWN]).decode("utf-8", "replace")).strip()
    return repr(words) + (f"... ({len(line)} bytes)" if len(line) > _SHOWN else "")
