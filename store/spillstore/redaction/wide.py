"""A text of two bytes a character (UTF-16) in a stream: looked at as UTF-8, and given back as it came.

Tools of Windows write such text, often into a stream whose other texts have one byte a character. So it is over where
characters come that such bytes make when they are taken two by two.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re
from spillstore.text_scan import BIG, LITTLE

if TYPE_CHECKING:
    from spillstore.redaction.stream import ByteRedactor, Piece

_PARTS = "spillstore.parts"
_PRINTED = (0x09, 0x0A, 0x0D, *range(0x20, 0x7F))


# Of UTF-16: two letters, digits or signs of ASCII; one and half of a character; a character whose second byte may be one.
_BYTES = f"[{''.join(chr(high << 8 | low) for high in _PRINTED for low in _PRINTED)}]"
_SHIFTED = f"[{''.join(chr(high << 8) for high in _PRINTED)}]"
_LATER = f"[{chr(_PRINTED[0] << 8)}-{chr(_PRINTED[-1] << 8 | 0xFF)}]"
# Where the text ends; of the characters that could begin that, how much may stand at the end of what has come.
_ENDS = {
    LITTLE: re.compile(f"\0|{_LATER}?{_BYTES}{{4}}|{_SHIFTED}{{4}}"),
    BIG: re.compile(f"\0|{_BYTES}{{4}}|{_SHIFTED}{{4}}"),
}
_MAY_END = {
    LITTLE: re.compile(f"(?:{_LATER}?{_BYTES}{{0,3}}|{_SHIFTED}{{0,3}})[\ud800-\udbff]?\\Z"),
    BIG: re.compile(f"(?:{_BYTES}{{0,3}}|{_SHIFTED}{{0,3}})[\ud800-\udbff]?\\Z"),
}
_STEP = 16 * 1024  # bytes that are looked at together
_MOST = 5  # characters of that
_PART = re.compile(rb"(?:[\xc2-\xf4]|[\xe0-\xf4][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{2})\Z")


class WideText:
    """One text of two bytes a character, its secrets replaced.

    Args:
        redactor: for its text in UTF-8.
        codec: ``LITTLE`` or ``BIG``.
        given: the first byte, where that was given out before the second one told what it is.

    Attributes:
        last: the last byte that was looked at.
    """

    def __init__(self, redactor: ByteRedactor, codec: str, given: bytes = b"") -> None:
        self._redactor = redactor
        self._codec = codec
        self._given = given.decode("latin-1")
        self._rest = given  # what was not looked at yet
        self.last = b""
        self._part = b""  # of a character, which was given out up to there

    def take(self, data: bytes, out: list[Piece], *, final: bool) -> bytes | None:
        """Take the next bytes, and give out those that no secret can hold any more.

        Args:
            data: the bytes.
            out: what is given out is added to it.
            final: nothing follows.

        Returns:
            The bytes behind the text where it has ended; else None.
        """
        data = self._rest + data
        at, ended = 0, False
        while not ended and at < len(data) & ~1:
            text = data[at : min(at + _STEP, len(data) & ~1)].decode(self._codec, "surrogatepass")
            length, ended = self._told(text)
            if length == 0:
                break
            text = text[:length]
            at += len(self._encoded(text))
            out.extend(map(self._given_back, self._redactor.pieces(text.encode("utf-8", "surrogatepass"))))
        self.last = data[at - 1 : at] if at else self.last
        self._rest = data[at:]
        if not ended and not final:
            return None
        out.extend(map(self._given_back, self._redactor.rest()))
        return self._rest

    def _told(self, text: str) -> tuple[int, bool]:
        """How much of what has come belongs to the text, and whether it has ended there."""
        if text.isascii() and "\0" not in text:
            return len(text), False
        end = _ENDS[self._codec].search(text)
        if end is not None:
            return end.start(), True
        held = _MAY_END[self._codec].search(text, max(0, len(text) - _MOST))
        return len(text) if held is None else held.start(), False

    def _encoded(self, text: str) -> bytes:
        return text.encode(self._codec, "surrogatepass")

    def _given_back(self, given: Piece) -> bytes:
        """A piece as it came, but for secrets."""
        piece = b"".join((self._part, given))
        part = _PART.search(piece, max(0, len(piece) - 3))
        self._part = b"" if part is None else part[0]
        text = piece[: len(piece) - len(self._part)].decode("utf-8", _PARTS)
        if not self._given or not text:
            return self._encoded(text)
        begins = text[0] == self._given
        self._given = ""
        return b"\0" + self._encoded(text[begins:])


def _whole_characters(error: UnicodeError) -> tuple[str, int]:
    """Of a piece: a half of a pair is given back, a part of a character goes with the secret that had the other part."""
    assert isinstance(error, UnicodeDecodeError)  # nothing else is decoded with it
    half = error.object[error.start : error.start + 3]
    if len(half) == 3 and half[0] == 0xED and half[1] >= 0xA0:  # noqa: PLR2004  # of U+D800 and above
        return half.decode("utf-8", "surrogatepass"), error.start + 3
    return "", error.end


codecs.register_error(_PARTS, _whole_characters)
