r"""A line as text with colours: SGR sequences become spans, and every other control becomes visible and does nothing.

ESC is shown as its picture U+241B, other control characters likewise, bytes that are no UTF-8 as ``\xNN``, and characters that are invisible
or turn the direction of others by their names, so that no output can draw on a screen, hide itself, or pass for another text.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

from spillstore_tools.preview.text.clean import visible

Colour: TypeAlias = "int | tuple[int, int, int] | None"  # of the 256 of a terminal, or red, green and blue
_SPANS = 1000  # of a line; what comes behind has no colours
_SGR = re.compile(r"\x1b\[([0-9;:]{0,64})m")
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\udc80-\udcff]")
_DELETE, _FIRST_INVALID, _ASCII = 0x7F, 0xDC80, 0x20
_FLAGS = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike"}
_ENDED = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("reverse",), 29: ("strike",)}
_PALETTES = ((30, 0, False), (40, 0, True), (90, 8, False), (100, 8, True))  # eight numbers each


class Style(NamedTuple):
    """How a part of a line is drawn.

    Attributes:
        colour, background: one of 256, three numbers up to 255, or None for the terminal's own.
        flags: some of ``bold``, ``dim``, ``italic``, ``underline``, ``reverse``, ``strike``.
    """

    colour: Colour = None
    background: Colour = None
    flags: frozenset[str] = frozenset()


class Span(NamedTuple):
    """Characters ``[start, end)`` of a text, and how they are drawn."""

    start: int
    end: int
    style: Style


class StyledText(NamedTuple):
    """A text without control characters but tab, and its spans that are drawn in another way, in order."""

    text: str
    spans: tuple[Span, ...] = ()


def styled_line(data: bytes, *, colours: bool = True) -> StyledText:
    r"""A line as it is drawn; without ``colours``, SGR sequences are shown like all others.

    Cost: linear; at most 1,000 spans.

    Example:
        >>> styled_line(b"\x1b[31mred\x1b[0m\x1b]0;title\x07").text
        'red␛]0;title␇'
        >>> styled_line(b"\x1b[31mred\x1b[0m").spans
        (Span(start=0, end=3, style=Style(colour=1, background=None, flags=frozenset())),)
    """
    text = data.decode("utf-8", "surrogateescape")
    if not colours or "\x1b[" not in text:
        return StyledText(inert(text))
    pieces: list[str] = []
    spans: list[Span] = []
    length = at = 0
    style = plain = Style()
    for found in _SGR.finditer(text):
        piece = inert(text[at : found.start()])
        if piece and style != plain and len(spans) < _SPANS:
            spans.append(Span(length, length + len(piece), style))
        pieces.append(piece)
        length += len(piece)
        at = found.end()
        style = _changed(style, found[1])
    piece = inert(text[at:])
    if piece and style != plain and len(spans) < _SPANS:
        spans.append(Span(length, length + len(piece), style))
    return StyledText("".join([*pieces, piece]), tuple(spans))


def inert(text: str) -> str:
    r"""Text in which each control character but tab, and each byte that was no UTF-8, is visible and does nothing.

    Example:
        >>> inert("a\x1b[2Jb\r\x00"), inert(b"\xff".decode(errors="surrogateescape"))
        ('a␛[2Jb␍␀', '\\xff')
    """
    if _CONTROL.search(text):
        text = _CONTROL.sub(_picture, text)
    return visible(text)


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code >= _FIRST_INVALID:
        return f"\\x{code - _FIRST_INVALID + 0x80:02x}"
    if code == _DELETE:
        return "\u2421"
    return chr(0x2400 + code) if code < _ASCII else f"<U+{code:04X}>"


def _changed(style: Style, parameters: str) -> Style:
    """The style behind one SGR sequence; what it does not know it leaves out."""
    numbers = [int(each) if each else 0 for each in parameters.replace(":", ";").split(";")]
    at = 0
    while at < len(numbers):
        number = numbers[at]
        at += 1
        if number in {38, 48}:
            colour, at = _extended(numbers, at)
            style = _coloured(style, colour, background=number == 48)  # noqa: PLR2004  # as above
        else:
            style = _simply_changed(style, number)
    return style


def _extended(numbers: list[int], at: int) -> tuple[Colour, int]:
    """One of 256 colours (``5;N``) or any (``2;R;G;B``), and where the next parameter is."""
    kind = numbers[at] if at < len(numbers) else None
    if kind == 5 and at + 1 < len(numbers):  # noqa: PLR2004  # of the standard
        return min(numbers[at + 1], 255), at + 2
    if kind == 2 and at + 3 < len(numbers):  # noqa: PLR2004  # likewise
        red, green, blue = (min(each, 255) for each in numbers[at + 1 : at + 4])
        return (red, green, blue), at + 4
    return None, len(numbers)


def _simply_changed(style: Style, number: int) -> Style:
    if number == 0:
        return Style()
    if number in _FLAGS:
        return style._replace(flags=style.flags | {_FLAGS[number]})
    if number in _ENDED:
        return style._replace(flags=style.flags - {*_ENDED[number]})
    for low, first, is_background in _PALETTES:
        if low <= number < low + 8:
            return _coloured(style, first + number - low, background=is_background)
    if number in {39, 49}:
        return _coloured(style, None, background=number == 49)  # noqa: PLR2004  # of the standard
    return style


def _coloured(style: Style, colour: Colour, *, background: bool) -> Style:
    return style._replace(background=colour) if background else style._replace(colour=colour)
