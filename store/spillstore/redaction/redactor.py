"""Any stream, its secrets replaced as it passes: texts in UTF-16 are told from those of one byte a character."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.redaction.own_rules import OwnRules
from spillstore.redaction.stream import ByteRedactor, Tally
from spillstore.runtime import lazy_patterns as re
from spillstore.text_scan import BIG, LITTLE, WIDE_NULS, find_wide

if TYPE_CHECKING:
    from spillstore.redaction.stream import Piece
    from spillstore.redaction.wide import WideText

_BUILT_IN = OwnRules()
_TOLD = 2 * WIDE_NULS - 1  # bytes
_LETTER = re.compile(rb"[\t-\r\x1b -~\xa0-\xff]")
_MARKS = {b"\xff\xfe": LITTLE, b"\xfe\xff": BIG}  # at a stream's beginning
_MARK = 2
_LEAST_OF_MARKS = 0xFE


class Redactor:
    """Takes the secrets out of one stream of bytes. A ``StreamFilter``.

    Text may be in UTF-8, in any encoding of one byte a character, or in UTF-16, also one behind the other. It keeps at most 74 KiB.
    Cost: 1 to 6 ns a byte with the native scanner, 4 to 250 without it.

    Args:
        rules: what is taken out; None for the defaults.

    Attributes:
        counts: how many secrets were taken out so far, by kind.

    >>> redactor = Redactor()
    >>> redactor.feed(b"user=me, pass"), redactor.feed(b"word=hunter2 "), redactor.finish()
    (b'user=me, pass', b'word=[REDACTED: PASSWORD] ', b'')
    >>> redactor.counts
    {'PASSWORD': 1}
    """

    def __init__(self, rules: OwnRules | None = None) -> None:
        self._rules = _BUILT_IN if rules is None else rules
        self._tally = Tally()
        self.counts = self._tally.counts
        self._narrow = ByteRedactor(self._rules, self._tally)
        self._wide: WideText | None = None
        self._held = b""  # what may begin a text in UTF-16
        self._last = b""  # the byte before that
        self._begun = False
        self._codec = ""  # of the last such text

    @property
    def looked_at(self) -> int:
        """Bytes that the rules have seen so far: those of a line that has not ended are seen again when more comes."""
        return self._tally.looked_at

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes; return those that no secret can hold any more, secrets replaced."""
        return b"".join(self.pieces(data))

    def pieces(self, data: bytes) -> list[Piece]:
        """As ``feed``, but what is returned is not joined: most of it is in pieces of 256 KiB, views of ``data`` where nothing was replaced."""
        data = bytes(data)
        if not data or not self._rules.enabled:
            return [data]
        if not self._begun and data[0] < _LEAST_OF_MARKS:
            self._begun = True
        if self._wide is None and self._begun and not self._held and b"\0" not in data:
            self._last = data[-1:]
            return self._narrow.pieces(data)
        return self._told(data, final=False)

    def finish(self, data: bytes = b"") -> bytes:
        """The stream ended with these bytes: return them and what was held back, secrets replaced. A short text is so looked at once."""
        if not self._rules.enabled:
            return data
        return b"".join(self._told(data, final=True))

    def _told(self, data: bytes, *, final: bool) -> list[Piece]:
        """Take each part of the stream for what it is."""
        data, self._held = self._held + data, b""
        out: list[Piece] = []
        if not self._begun:
            if len(data) < _MARK and not final and any(mark.startswith(data) for mark in _MARKS):
                self._held = data
                return out
            self._begun = True
            if codec := _MARKS.get(data[:_MARK]):
                out.append(data[:_MARK])
                data = data[_MARK:]
                self._begin(codec, b"")
        rest: bytes | None = data
        while rest is not None:
            if self._wide is None:
                rest = self._bytes(rest, out, final=final)
            elif (rest := self._wide.take(rest, out, final=final)) is not None:
                self._last = self._wide.last
                self._wide = None
                self._narrow = ByteRedactor(self._rules, self._tally)
        return out

    def _bytes(self, data: bytes, out: list[Piece], *, final: bool) -> bytes | None:
        """Take bytes up to where text in UTF-16 begins; return what follows, and None if there is none."""
        at = find_wide(data)
        told = at >= 0 and len(data) - at >= _TOLD
        if not told:
            if at >= 0 and not final:
                data, self._held = data[:at], data[at:]
            self._last = data[-1:] or self._last
            out += self._narrow.rest(data) if final else self._narrow.pieces(data)
            return None
        given = data[at - 1 : at] if at else self._last
        if self._codec == BIG or (not self._codec and not _LETTER.fullmatch(given)):
            codec, given = BIG, b""
        elif _LETTER.fullmatch(given):
            codec = LITTLE
        else:  # the first NUL belongs to a character of another alphabet
            codec, given, at = LITTLE, data[at + 1 : at + 2], at + 2
        out += self._narrow.rest(data[:at])
        self._begin(codec, given)
        return data[at:]

    def _begin(self, codec: str, given: bytes) -> None:
        from spillstore.redaction.wide import WideText  # noqa: PLC0415  # few streams have such text

        self._codec = codec
        self._wide = WideText(ByteRedactor(self._rules, self._tally), codec, given)
