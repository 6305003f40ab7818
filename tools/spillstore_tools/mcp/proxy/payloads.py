"""Large texts, base64 and JSON of a result as iterators, so that none of them is in memory twice."""

from __future__ import annotations

import base64
import codecs
from typing import TYPE_CHECKING, TypeVar

from blake3 import blake3

from spillstore_tools.mcp.proxy.content import is_string
from spillstore_tools.mcp.wire.json_digest import digest
from spillstore_tools.mcp.wire.raw_json import RawJsonError, members, slices, string_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore_tools.mcp.proxy.content import ContentPart
    from spillstore_tools.mcp.wire.raw_json import RawJson

_T = TypeVar("_T", str, bytes)
_BATCH = 256 * 1024


def batched(parts: Iterator[_T], empty: _T) -> Iterator[_T]:
    """Join parts to at least 256 KiB each, since each part costs as much to process as a thousand bytes."""
    batch: list[_T] = []
    size = 0
    for part in parts:
        batch.append(part)
        size += len(part)
        if size >= _BATCH:
            yield empty.join(batch)
            batch, size = [], 0
    yield empty.join(batch)


def array_lines(items: list[RawJson]) -> Iterator[bytes]:
    """A JSON array with an item a line."""
    for number, item in enumerate(items):
        yield b",\n" if number else b"["
        yield from slices(item)
    yield b"]\n"


def joined_texts(parts: list[ContentPart], count: int, label: Callable[[str], str]) -> Iterator[str]:
    """The texts of several blocks as one, each with a line before it that names the block.

    Args:
        parts: the blocks.
        count: the number of all blocks of the result.
        label: bounds the description of a block.
    """
    for part in parts:
        yield f"--- block {part.index + 1} of {count}: {label(part.description)} ---\n"
        last = "\n"
        for last in string_parts(part.data):
            yield last
        if not last.endswith("\n"):
            yield "\n"


def decoded_size(data: RawJson) -> int:
    """Bytes that the base64 in a string decodes to."""
    length, end = 0, ""
    for part in string_parts(data):
        length += len(part)
        end = part
    return length // 4 * 3 - end[-2:].count("=")


def decoded(data: RawJson) -> Iterator[bytes]:
    """The bytes that the base64 in a string decodes to.

    Raises:
        binascii.Error, UnicodeEncodeError: it is no base64.
    """
    rest = ""
    for part in string_parts(data):
        whole = rest + part
        end = len(whole) - len(whole) % 4
        rest = whole[end:]
        yield base64.b64decode(whole[:end].encode("ascii"), validate=True)
    yield base64.b64decode(rest.encode("ascii"), validate=True)


def repeated(text: RawJson, value: RawJson) -> str | None:
    """What of a structured value a text repeats: the same JSON, or what some libraries wrap in a member ``result``; None if nothing."""
    own = digest(string_parts(text))
    if own == digest(_characters(value)):
        return "JSON"
    try:
        wrapped = members(value)
    except RawJsonError:
        return None
    if list(wrapped) != ["result"]:
        return None
    inner = wrapped["result"]
    if own == digest(_characters(inner)):
        return 'JSON, the member "result",'
    is_text = is_string(inner) and _text_digest(text) == _text_digest(inner)
    return 'text, the member "result",' if is_text else None


def _characters(data: RawJson) -> Iterator[str]:
    """JSON as text, in parts."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    yield from map(decoder.decode, slices(data))
    yield decoder.decode(b"", final=True)


def _text_digest(data: RawJson) -> bytes:
    found = blake3()
    for part in string_parts(data):
        found.update(part.encode())
    return found.digest()
