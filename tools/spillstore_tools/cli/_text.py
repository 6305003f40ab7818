"""Stored bytes as text that is safe to read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ESCAPES = re.compile(
    r"""
      \x1b \[ [0-?]* [ -/]* [@-~]?               # control sequences: colours, cursor; also one that was cut off
    | \x1b [\]PX^_] [^\x07\x1b]* (?:\x07|\x1b\\)  # strings that end: titles, links
    | \x1b [ -/]* [0-~]?                          # everything else
    """,
    re.VERBOSE,
)
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_HOLD = 1024 * 1024


def clean_line(line: bytes, terminator: bytes = b"\n") -> str:
    r"""One line as a reader sees it: no escape sequences, no control characters, the last state of what was overdrawn.

    Args:
        line: with or without its ending.
        terminator: what ends it; a CR before LF belongs to the ending.

    Returns:
        The text, with ``\n`` for the ending. Bytes that are no UTF-8 become U+FFFD.

    Example:
        >>> clean_line(b" 10%\r\x1b[32m100%\x1b[0m\r\n"), clean_line(b"caf\xe9")
        ('100%\n', 'caf\ufffd')
    """
    end = ""
    if line.endswith(terminator):
        line, end = line[: -len(terminator)], "\n"
    text = _ESCAPES.sub("", line.decode("utf-8", "replace"))
    if "\r" in text:
        text = next((state for state in reversed(text.split("\r")) if state), "")
    return _CONTROLS.sub("", text) + end


def clean_lines(data: bytes, terminator: bytes = b"\n") -> str:
    """All lines of ``data``."""
    return "".join(clean_line(line, terminator) for line in split_lines(data, terminator))


def clean_blocks(blocks: Iterable[bytes], terminator: bytes = b"\n") -> Iterator[str]:
    """Like ``clean_lines`` for data that comes in blocks, in flat memory: a line is cut at a megabyte."""
    held = b""
    for block in blocks:
        held += block
        end = held.rfind(terminator) + 1
        if not end and len(held) >= _HOLD:
            end = boundary(held, len(held) - 4)
        if end:
            yield clean_lines(held[:end], terminator)
            held = held[end:]
    if held:
        yield clean_lines(held, terminator)


def boundary(data: bytes, index: int) -> int:
    r"""The nearest place from ``index`` down where no UTF-8 character is cut.

    Example:
        >>> boundary("né".encode(), 2), boundary(b"abc", 9), boundary(b"abc", -1)
        (1, 3, 0)
    """
    index = min(max(0, index), len(data))
    for back in range(min(4, index + 1)):
        if index - back == len(data) or data[index - back] & 0xC0 != 0x80:  # noqa: PLR2004  # no continuation byte
            return index - back
    return index  # no UTF-8


def clean_text(text: str) -> str:
    """Text of others (a command, an error) on one line."""
    return clean_line(text.replace("\n", " ").encode("utf-8", "replace"))


def split_lines(data: bytes, terminator: bytes = b"\n") -> list[bytes]:
    r"""Lines with their endings; unlike ``bytes.splitlines`` only ``terminator`` ends one.

    Example:
        >>> split_lines(b"a\rb\nc")
        [b'a\rb\n', b'c']
    """
    lines = [line + terminator for line in data.split(terminator)]
    last = lines.pop()[: -len(terminator)]
    return [*lines, last] if last else lines
