"""A bounded part of an artifact as lines that a page can show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from spillstore.artifact import Artifact
    from spillstore.info import Stream

MOST_LINES: Final = 1000
MOST_BYTES: Final = 1024 * 1024  # of a page; a line may have more than all that a page can show
_MOST_OF_LINE: Final = 20_000  # characters

# What a browser, or who copies from it, could act upon or not see: controls, and characters that turn text around.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)


class Line(NamedTuple):
    """A line of a page.

    Attributes:
        number: its number, from 1; None for a remark in its place.
        text: the line without its end, or the remark.
    """

    number: int | None
    text: str


class Part(NamedTuple):
    """Lines of an artifact, as many as a page has.

    Attributes:
        lines: in order, with a remark where something is missing.
        next: the line that comes next; None at the end.
    """

    lines: list[Line]
    next: int | None


def visible(text: str) -> str:
    r"""Text whose controls are seen and do nothing.

    Example:
        >>> visible("\x1b[31mred\x07 \u202etxt")
        '␛[31mred␇ <U+202E>txt'
    """
    return _UNSEEN.sub(_sign, text)


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:  # noqa: PLR2004  # Unicode has a picture of each C0 control
        return chr(0x2400 + code)
    return f"<U+{code:04X}>"


def part(artifact: Artifact, stream: Stream, first: int, count: int) -> Part:
    """Lines ``first`` to ``first + count - 1``. Cost: the chunks that hold them, and at most two more at each end.

    Args:
        artifact: which.
        stream: the view.
        first: from 1.
        count: at most; fewer where they have more than ``MOST_BYTES``.

    Raises:
        SpillstoreError: it cannot be read.
    """
    view = artifact.info.view(stream)
    last = min(first + count - 1, view.lines)
    hole = view.hole
    if hole is None or hole.start == hole.end or last < hole.first_line or first > hole.last_line:
        return _run(artifact, stream, first, last, view.lines)
    lines: list[Line] = []
    if first < hole.first_line:
        before = _run(artifact, stream, first, hole.first_line - 1, view.lines)
        if before.next is not None and before.next < hole.first_line:
            return before
        lines += before.lines
    gone = f"lines {hole.first_line} to {hole.last_line} are gone, wholly or in part: {hole.end - hole.start} bytes were dropped"
    lines.append(Line(None, gone))
    if last <= hole.last_line:
        follows = hole.last_line + 1
        return Part(lines, follows if follows <= view.lines else None)
    behind = _run(artifact, stream, hole.last_line + 1, last, view.lines)
    return Part(lines + behind.lines, behind.next)


def _run(artifact: Artifact, stream: Stream, first: int, last: int, total: int) -> Part:
    """Lines that are there, at least one of them."""
    if first > last:
        return Part([], None)
    start = artifact.locate(line=first, stream=stream, holes="skip").byte
    end = (
        artifact.info.view(stream).size
        if last >= total
        else artifact.locate(line=last + 1, stream=stream, holes="skip").byte
    )
    hole = artifact.info.view(stream).hole
    if hole is not None and start <= hole.start < end:  # the line before the hole ends where the hole begins
        end = hole.start
    data = artifact.read_bytes(start, min(end, start + MOST_BYTES), stream=stream)
    end_of_line = artifact.info.terminator
    pieces = data.split(end_of_line)
    if pieces and not pieces[-1] and len(pieces) > 1:
        pieces.pop()
    is_cut = end - start > MOST_BYTES
    torn = is_cut and not data.endswith(end_of_line)
    if torn and len(pieces) > 1:
        pieces.pop()
        torn = False
    shown = [Line(number, _text(piece)) for number, piece in enumerate(pieces, first)]
    if torn:
        shown.append(Line(None, f"line {first} has more than {MOST_BYTES} bytes, which a page does not show"))
    follows = first + len(pieces)
    return Part(shown, follows if follows <= total else None)


def _text(piece: bytes) -> str:
    text = piece.decode(errors="replace")
    if len(text) <= _MOST_OF_LINE:
        return visible(text)
    return f"{visible(text[:_MOST_OF_LINE])} ... [{len(text) - _MOST_OF_LINE} more characters of this line]"
