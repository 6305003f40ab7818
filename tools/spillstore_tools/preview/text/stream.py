"""Cleaning of data that comes in blocks: how much of it can be cleaned now, whatever follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.preview.binary.recognise import HEAD_BYTES
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.preview.text.control import STRING_LIMIT
from spillstore_tools.preview.text.encoded import decoded, line_end, may_be_wide, whole_units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_HOLD = 1024 * 1024
_WIDEST = 4  # bytes of a character
_UNFINISHED = re.compile(
    rb"""
      (?P<string> (?:\x1b\] | \xc2\x9d) (?> [^\x07\x1b\r\n\xc2] | \xc2 (?![\x90\x98\x9b-\x9f]) )*+ \x1b? \Z
                | (?:\x1b[PX^_] | \xc2[\x90\x98\x9e\x9f]) (?> [^\x1b\r\n\xc2] | \xc2 (?![\x90\x98\x9b-\x9f]) )*+ \x1b? \Z)
    | (?:\x1b\[ | \xc2\x9b) [0-?]{0,256} [\x20-/]{0,16} \Z
    | \x1b [\x20-/]{0,16} \Z
    """,
    re.VERBOSE,
)


def clean_blocks(
    blocks: Iterable[bytes], terminator: bytes = b"\n", encoding_of: Callable[[], str | None] | None = None
) -> Iterator[str]:
    """Cleaned text of data that comes in blocks, in flat memory: a line above a megabyte is cleaned a megabyte at a time.

    Args:
        blocks: the data.
        terminator: what ends a line.
        encoding_of: tells the encoding, as in ``in_utf8``, of data that begins with a whole character; asked
            while it may be wide, until it is or enough was seen.
    """
    held, encoding, ending, seen = b"", None, terminator, 0
    for block in blocks:
        held += block
        seen += len(block)
        if encoding_of is not None and may_be_wide(block):
            encoding = encoding_of()
            if encoding is not None:
                ending = line_end(encoding)
            if encoding is not None or seen >= HEAD_BYTES:
                encoding_of = None
        end = held.rfind(ending) + len(ending) if ending in held else 0
        if not end and len(held) >= _HOLD:
            end = settled_length(held) if encoding is None else whole_units(held, encoding)
        if end:
            yield clean(decoded(held[:end], encoding), terminator)
            held = held[end:]
    if held:
        yield clean(decoded(held, encoding), terminator)


def settled_length(data: bytes | bytearray) -> int:
    """How many bytes of ``data`` can be cleaned now: those whose meaning does not depend on the bytes that follow."""
    end = len(data)
    if data.endswith(b"\r"):  # it may belong to the ending
        return end - 1
    for back in range(1, min(_WIDEST, end) + 1):
        byte = data[end - back]
        if byte >= 0xC0:  # noqa: PLR2004  # the first byte of a character that may be unfinished
            wanted = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4  # noqa: PLR2004
            end -= back if back < wanted else 0
            break
        if byte < 0x80:  # noqa: PLR2004  # ASCII
            break
    if b"\x1b" not in data and b"\xc2" not in data:
        return end
    found = _UNFINISHED.search(data, max(0, end - _WIDEST * (STRING_LIMIT + 1)), end)
    if not found:
        return end
    if string := found["string"]:
        text = string.decode("utf-8", "surrogateescape").removesuffix("\x1b")
        if len(text) - len("\x1b]" if text[0] == "\x1b" else "\x9d") > STRING_LIMIT:
            return end - string.endswith(b"\x1b")  # too long to be one
    return found.start()
