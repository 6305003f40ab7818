"""Stored lines of text in UTF-16 or UTF-32, as UTF-8.

Lines are counted as the bytes are stored: each byte 0x0A ends one. Of the text only the whole character of a line end does, so a line of
it may be several stored ones: where it has U+4E0A, say. What is read from one stored line to another begins and ends inside characters;
``character_end`` says where the whole ones do, so that of parts that follow each other none is lost and none shown twice.

A line of text is aligned by its end, since output of several programs may hold text of one byte a character, too. What looks like a line
end is taken for one: in UTF-16 that is also a character of U+0A00 to U+0AFF beside one whose lower byte is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

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


def may_be_wide(data: bytes) -> bool:
    """Whether some bytes may be of text in UTF-16 or UTF-32, so that it is worth asking ``encoding_of``."""
    return b"\0" in data or not data.isascii()


def line_end(encoding: str) -> bytes:
    """The bytes of a line end."""
    return "\n".encode(encoding)


def decoded(data: bytes, encoding: str | None) -> bytes:
    r"""Text in UTF-8, from whole characters; only their line ends end a line.

    Example:
        >>> decoded("zu \u4e0a\u6d77\nda\n".encode("utf-16-le"), "utf-16-le").decode()
        'zu \u4e0a\u6d77\nda\n'
    """
    if encoding is None:
        return data
    *lines, rest = data.split(line_end(encoding))
    texts = [_text(line[len(line) % _width(encoding) :], encoding) for line in lines]
    half = rest[len(rest) - len(rest) % _width(encoding) :]
    last = "\n" if half and line_end(encoding).startswith(half) else ""
    return ("\n".join([*texts, _text(rest, encoding)]) + last).encode("utf-8", "replace")


def in_utf8(lines: bytes, encoding: str | None) -> bytes:
    r"""Stored lines in UTF-8, each line of their text ended by LF. What is in UTF-8 anyway, for which ``encoding`` is None, stays as it is.

    Args:
        lines: stored lines; the last one may lack its ending.
        encoding: `utf-16-le`, `utf-16-be`, `utf-32-le` or `utf-32-be`.

    Example:
        >>> in_utf8("na\xefve\nyes\n".encode("utf-16-le"), "utf-16-le").decode()
        'na\xefve\nyes\n'
    """
    return lines if encoding is None else decoded(lines[_lead(lines, encoding) :], encoding)


def offset_in(line: bytes, encoding: str | None, offset: int) -> int:
    r"""The byte of a line, as it is stored, that stands for a byte of its text in UTF-8.

    Example:
        >>> offset_in("naïve\n".encode("utf-16-le"), "utf-16-le", 4)
        6
    """
    if encoding is None:
        return offset
    start = _lead(line, encoding)
    body = line[start:].removesuffix(line_end(encoding))
    text = _text(body, encoding).encode("utf-8", "replace")
    if offset >= len(text):
        return start + len(body) if offset == len(text) else len(line)
    mark = _MARK if body.startswith(_MARK.encode(encoding)) else ""
    return start + len((mark + text[:offset].decode("utf-8", "ignore")).encode(encoding))


def whole_units(data: bytes, encoding: str | None) -> int:
    """How many bytes of a line that goes on are whole characters, but for half a pair of surrogates."""
    return len(data) if encoding is None else len(data) - len(data) % _width(encoding)


def character_end(source: Artifact | JSONString, at: int, stream: Stream, encoding: str | None) -> int:
    """Where the character ends that begins before a byte and is not over there; the byte itself between two. Not recorded as a read."""
    if encoding is None or not 0 < at < (size := source.info.view(stream).size):
        return at
    width = _width(encoding)
    low, high = max(0, at - width), min(size, at + width - 1)
    around = cast("Artifact", source).unrecorded().read_bytes(low, high, stream=stream, holes="skip")
    found = around.find(line_end(encoding))
    end = at - at % -width if found < 0 else low + found + width
    return min(end, size)


def _text(data: bytes, encoding: str) -> str:
    whole = data[: whole_units(data, encoding)]
    return whole.decode(encoding, "replace").removeprefix(_MARK)


def _lead(lines: bytes, encoding: str) -> int:
    """How many bytes at the beginning of stored lines belong to a character that began before, as the first line end tells."""
    end = lines.find(line_end(encoding))
    if end < 0:
        end = len(lines.removesuffix(b"\n")) if encoding.endswith("le") else 0
    return end % _width(encoding)


def _width(encoding: str) -> int:
    return 4 if "32" in encoding else 2
