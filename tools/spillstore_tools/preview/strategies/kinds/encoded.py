"""Bytes written as text: base64 and hex dumps. What they are and how many, not what they look like."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.describe import counted
from spillstore_tools.preview.binary.recognise import recognise
from spillstore_tools.preview.strategies.kinds.excerpts import excerpts, odd_lines, rows_of

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.request import Request

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_DIGITS = rb" +[0-9a-f]{2,8}(?=\s|\Z)"  # with nothing behind them: the column of text may begin with two, too
_DUMP = re.compile(rb"(?m)^([0-9a-f]{6,8}):?((?:" + _DIGITS + rb")+)")
_HEAD = 8192  # bytes that say what is encoded
_LINES = rows_of(rb"[0-9a-f]{6,8}(?::?(?>" + _DIGITS + rb")++(?: [^\n]{0,70})?)?")
_SIGNS = 24  # different ones that encoded bytes have at least
_LEAST = 0.9  # of the lines have the form


class Base64:
    """Base64 in lines, or in one."""

    def __init__(self) -> None:
        self._signs = 0
        self._head = b""

    def block(self, block: Block) -> bool:
        """As in ``Kind``."""
        self._head = self._head or block.raw[:_HEAD]
        others = block.raw.translate(None, _ALPHABET)
        self._signs += len(block.raw) - len(others)
        return block.long is None and not others.strip(b"\r\n=")

    def is_row(self, line: bytes) -> bool | None:  # noqa: ARG002  # there are no other lines
        """As in ``Kind``."""
        return True

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Kind``."""
        signs = self._head.translate(None, b"\r\n=")
        if len(set(signs)) < _SIGNS:
            return None
        try:
            head = base64.b64decode(signs[: len(signs) // 4 * 4])
        except binascii.Error:
            return None
        size = self._signs * 3 // 4
        kind = recognise(head, size)
        words = f"base64 of {size:,} bytes: {kind.name if kind else 'text'}"
        return excerpts(overview, request, words, [], first=2, last=1)


class HexDump:
    """A dump of bytes: an offset and the bytes in hexadecimal."""

    def __init__(self) -> None:
        self._lines = 0
        self._head = b""

    def block(self, block: Block) -> bool:
        """As in ``Kind``."""
        if block.long is not None:
            return False
        if not self._lines:
            signs = b"".join(found[1].replace(b" ", b"") for found in _DUMP.findall(block.raw[:_HEAD]))
            self._head = bytes.fromhex(signs[: len(signs) // 2 * 2].decode())
        lines = block.lines - sum(1 for _ in odd_lines(_LINES, block.raw))
        self._lines += lines
        return lines >= _LEAST * block.lines

    def is_row(self, line: bytes) -> bool | None:
        """As in ``Kind``."""
        return _LINES.fullmatch(line) is not None

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Kind``."""
        kind = recognise(self._head, len(self._head))
        words = f"hex dump in {counted(self._lines, 'line')}: {kind.name if kind else 'text'}"
        return excerpts(overview, request, words, [], first=4, last=2)
