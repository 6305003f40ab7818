"""Content of any kind that a tool returns, as bytes in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO, Any

from spillstore.exceptions import SpillstoreError

_READ = 256 * 1024


class ContentError(SpillstoreError):
    """The content cannot be converted to text: a cycle, or an object or number that JSON cannot hold."""


def encoded(text: str) -> bytes:
    """Text as bytes, as a writer stores it: half surrogates that stand for bytes become those bytes again."""
    for errors in ("strict", "surrogateescape"):
        try:
            return text.encode(errors=errors)
        except UnicodeEncodeError:
            continue
    return text.encode(errors="surrogatepass")


def pieces_of(content: object, content_type: str | None) -> tuple[Iterable[bytes], str | None]:
    """Content as bytes in pieces, and its media type."""
    if isinstance(content, (bytes, bytearray, memoryview)):
        return _slices(bytes(content)), content_type
    if hasattr(content, "read"):
        return _file(content), content_type  # type: ignore[arg-type]  # it reads
    if isinstance(content, (dict, list, tuple, int, float, bool)) or content is None:
        return _slices(_json(content)), content_type or "application/json"
    if isinstance(content, Iterable):
        return map(_block, content), content_type
    raise _unfit("content", content)


def _slices(data: bytes) -> Iterable[bytes]:
    return [data] if len(data) <= _READ else (data[at : at + _READ] for at in range(0, len(data), _READ))


def _file(file: IO[Any]) -> Iterable[bytes]:
    while piece := file.read(_READ):
        yield _block(piece)


def _block(block: object) -> bytes:
    if isinstance(block, str):
        return encoded(block)
    if isinstance(block, (bytes, bytearray, memoryview)):
        return bytes(block)
    raise _unfit("a piece of the content", block)  # bytes(5) would be five NULs


def _unfit(what: str, content: object) -> ContentError:
    return ContentError(
        f"{what} is a {type(content).__name__}; give text, bytes, a file, an iterable of bytes, an Artifact, or what JSON "
        "can hold"
    )


def _json(content: object) -> bytes:
    try:
        return encoded(json.dumps(content, ensure_ascii=False, allow_nan=False))
    except ValueError as error:
        why = f"it refers to itself ({error})" if "Circular" in str(error) else error
        raise ContentError(f"content cannot be shown as JSON: {why}") from None
    except (TypeError, RecursionError) as error:
        raise ContentError(f"content cannot be shown as JSON: {error}") from None
