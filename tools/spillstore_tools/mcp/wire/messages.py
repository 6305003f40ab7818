"""Messages of JSON-RPC: their ids, errors and tool calls, also where only a part of a message is known."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Protocol

from spillstore_tools.mcp.wire.raw_json import RawJsonError, find_member, members, value

if TYPE_CHECKING:
    from spillstore.redaction.rules import Text
    from spillstore_tools.mcp.wire.raw_json import RawJson

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"  # in the metadata of requests that need no handshake
Id = str | int | float
_ID = (str, int, float)
_MAX_ARGUMENTS = 1000  # characters of a call's arguments that are stored with a result
_MAX_NAME = 200
_LAST_ID = re.compile(
    rb'[,{]\s*"id"\s*:\s*("(?:[^"\\]|\\.){0,300}"|-?[0-9.eE+-]{1,40})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z',
    re.DOTALL,
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The tool call that a result answers.

    Attributes:
        tool: the tool's name.
        id: the id of the request.
        arguments: the arguments as JSON; only the beginning if they are long.
    """

    tool: str
    id: str | None = None
    arguments: str | None = None


class Shorten(Protocol):
    """Cuts a text of a call, so that no part of a secret is left at the cut."""

    def __call__(self, text: Text, tool_name: str, length: int, /) -> Text:
        """The first bytes or characters of the text."""
        ...


def tool_call(name: str, identity: Id, arguments: RawJson | None, shorten: Shorten) -> ToolCall:
    """The tool call of a request, with a bounded name and bounded arguments."""
    text = None
    if arguments is not None:
        found = shorten(bytes(arguments), name, 4 * _MAX_ARGUMENTS).decode("utf-8", "replace")
        text = shorten(found, name, _MAX_ARGUMENTS)
        if len(found) > _MAX_ARGUMENTS == len(text):
            text = f"{text[:-3]}..."
    tool, number = (
        shorten(each, name, _MAX_NAME).encode("utf-8", "replace").decode() for each in (name, str(identity))
    )
    return ToolCall(tool=tool or "tool", id=number, arguments=text)


def members_of(data: RawJson | None) -> dict[str, RawJson]:
    """The members of an object; empty if the data is no object, or None."""
    if data is None:
        return {}
    try:
        return members(data)
    except RawJsonError:
        return {}


def id_of(data: RawJson | None) -> Id | None:
    """The value of a message's id; None if it is no string and no number."""
    if data is None:
        return None
    try:
        found = value(data)
    except RawJsonError:
        return None
    return found if isinstance(found, _ID) and not isinstance(found, bool) else None


def id_in(beginning: bytes, end: bytes | None) -> RawJson | None:
    r"""The id of a message of which only the two ends are known; None if neither end holds it.

    Example:
        >>> id_in(b'{"result":{"id":1,"a":"...', b'..."},"id":7}\n')
        b'7'
        >>> id_in(b'{"id": 7, "result": "...', None), id_in(b'{"result":{"id":1}', b'..."id":1}}')
        (b'7', None)
    """
    if (found := find_member(beginning, b'"id"')) is not None:
        return found
    last = _LAST_ID.search(end or b"")
    return None if last is None else last[1]


def error_code(message: dict[str, RawJson]) -> object:
    """The code of a message's error; None if it has no error, or none that can be read."""
    code = members_of(message.get("error")).get("code")
    try:
        return None if code is None else value(code)
    except RawJsonError:
        return None
