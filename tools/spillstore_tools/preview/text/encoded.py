"""Stored lines of text in UTF-16 or UTF-32, as UTF-8.

Lines are counted as the bytes are stored: each byte of a line end ends one. So each line is decoded alone. Of the character of a line end
the other bytes stand at the border of the next line, or of the same one, and are dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.preview.binary.recognise import HEAD_BYTES, wide_encoding

if TYPE_CHECKING:
    from spillstore import Artifact
    from spillstore.info import Stream
    from spillstore.jsonstring import JSONString

_MARK = "\ufeff"


def encoding_of(source: Artifact | JSONString, stream: Stream = "combined") -> str | None:
    """The encoding of stored text in UTF-16 or UTF-32, by its first bytes; None of anything else. Not recorded as a read."""
    if not hasattr(source, "unrecorded") or source.info.terminator != b"\n":  # a string in JSON is UTF-8
        return None
    return wide_encoding(source.unrecorded().read_bytes(0, HEAD_BYTES, stream=stream, holes="skip"))


def in_utf8(lines: bytes, encoding: str | None) -> bytes:
    r"""Lines in UTF-8: as many, each ended by LF. What is in UTF-8 anyway, for which ``encoding`` is None, stays as it is.

    Args:
        lines: whole lines; the last one may lack its ending.
        encoding: `utf-16-le`, `utf-16-be`, `utf-32-le` or `utf-32-be`.

    Example:
        >>> in_utf8("na\xefve\nyes\n".encode("utf-16-le"), "utf-16-le").decode()
        'na\xefve\nyes\n'
    """
    if encoding is None:
        return lines
    texts = [line[slice(*_span(line, encoding))].decode(encoding, "replace") for line in lines.split(b"\n")]
    # A character that holds the byte of a line end was cut in two, so no other text has one.
    texts = [text.removeprefix(_MARK).replace("\n", "") for text in texts]
    return "\n".join(texts).encode("utf-8", "replace")


def offset_in(line: bytes, encoding: str | None, offset: int) -> int:
    r"""The byte of a stored line that stands for a byte of its ``in_utf8``.

    Example:
        >>> offset_in("naïve\n".encode("utf-16-le"), "utf-16-le", 4)
        6
    """
    if encoding is None:
        return offset
    text = in_utf8(line, encoding)
    if offset >= len(text):
        return len(line)
    body = line.removesuffix(b"\n")
    start, end = _span(body, encoding)
    marked = body[start:end].decode(encoding, "replace").startswith(_MARK)
    before = text[:offset].decode("utf-8", "ignore")
    return start + len(((_MARK if marked else "") + before).encode(encoding))


def whole_units(data: bytes, encoding: str | None) -> int:
    """How many bytes of a line that goes on are whole characters, but for half a pair of surrogates."""
    if encoding is None:
        return len(data)
    width = _width(encoding)
    lead = len(data) - len(data.lstrip(b"\0")) if encoding.endswith("le") else 0
    return len(data) - (len(data) - min(lead, width - 1)) % width


def _width(encoding: str) -> int:
    return 4 if "32" in encoding else 2


def _span(line: bytes, encoding: str) -> tuple[int, int]:
    """Where the whole characters of a line without its ending begin and end."""
    rest = len(line) % _width(encoding)
    return (rest, len(line)) if encoding.endswith("le") else (0, len(line) - rest)
