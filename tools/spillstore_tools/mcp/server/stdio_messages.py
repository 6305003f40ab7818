"""Messages of a client over stdio: read line by line, and checked."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from spillstore_tools.mcp.server.requests import MAX_REQUEST
from spillstore_tools.mcp.wire.lines import OversizedLine, read_lines
from spillstore_tools.mcp.wire.messages import INVALID_REQUEST, PARSE_ERROR, id_in, id_of
from spillstore_tools.mcp.wire.raw_json import RawJsonError, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore_tools.mcp.wire.messages import Id

_READ = 64 * 1024


class InvalidMessage(NamedTuple):
    """A message that is answered with an error.

    Attributes:
        id: the id of the message, if it can be found.
        code: the code of the error.
        message: the problem.
    """

    id: Id | None
    code: int
    message: str


class Request(NamedTuple):
    """A request, or a notification.

    Attributes:
        id: the id; None for a notification.
        method: the method.
        params: the parameters as they were sent.
    """

    id: Id | None
    method: str
    params: Any


def read_messages(source: int) -> Iterator[Any]:
    """The decoded lines of a client, until it closes its end; an ``InvalidMessage`` for a line that is none.

    A line of more than ``MAX_REQUEST`` bytes is discarded while it comes.
    """
    for line in read_lines(lambda: os.read(source, _READ), MAX_REQUEST):
        if isinstance(line, OversizedLine):
            if line.end is not None:
                yield _too_long(line.beginning, line.end, line.size)
        elif len(line) > MAX_REQUEST + 1:
            yield _too_long(bytes(line), bytes(line), len(line))
        elif line.strip():
            yield _decoded(line)


def request_of(message: Any) -> Request | InvalidMessage | None:
    """The request that a decoded line is; None for an answer, which means nothing: the server requests nothing of clients."""
    is_message = isinstance(message, dict) and message.get("jsonrpc") == "2.0"
    identity = message.get("id") if isinstance(message, dict) else None
    if not isinstance(identity, (str, int, float)) or isinstance(identity, bool):
        identity = None
    elif isinstance(identity, float) and not math.isfinite(identity):
        identity = None  # JSON has no such number
    if is_message and ("result" in message or "error" in message) and "method" not in message:
        return None
    method = message.get("method") if is_message else None
    if not isinstance(method, str) or ("id" in message and identity is None):
        words = (
            "this is no request of JSON-RPC 2.0: it needs a method, and an id that is a string or a number"
        )
        return InvalidMessage(identity, INVALID_REQUEST, words)
    return Request(identity, method, message.get("params"))


def _too_long(beginning: bytes, end: bytes, size: int) -> InvalidMessage:
    words = f"a request has {size} bytes; at most {MAX_REQUEST} are taken"
    return InvalidMessage(id_of(id_in(beginning, end)), INVALID_REQUEST, words)


def _decoded(line: bytes | bytearray) -> Any:
    """The value of a line; bytes that are no UTF-8 and half surrogates become question marks."""
    try:
        found = value(line)
        if not line.isascii() or b"\\u" in line:
            found = json.loads(json.dumps(found, ensure_ascii=False).encode(errors="replace"))
    except (RawJsonError, ValueError, RecursionError):
        identity = id_of(id_in(bytes(line), bytes(line)))
        return InvalidMessage(identity, PARSE_ERROR, "a line is no JSON, or nested too deeply")
    return found
