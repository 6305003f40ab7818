"""The bytes of a document, read a block at a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from spillstore.model import json_values
from spillstore.model.json_values import WHITESPACE, MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.jsonpath.context import Context

# The group is atomic, for Python before 3.11.5 ends ``(?:...)*+`` behind an escape that fails half-way.
_IN_STRING = re.compile(rb'(?>[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_ESCAPE = 6  # bytes of the longest escape in a string


class DocumentReader:
    """Reads the bytes of one document.

    Args:
        read: gives ``size`` bytes from a position on.
        start: where the document begins.
        end: where it ends, at the latest.
        context: whose time reading takes.
        limit: bytes of a value in a larger one that is.
        block: bytes that are read at once, and of a child that is not entered.
    """

    def __init__(
        self,
        read: Callable[[int, int], bytes],
        start: int,
        end: int,
        context: Context,
        *,
        limit: int,
        block: int,
    ) -> None:
        self.read = read
        self.context = context
        self.limit = limit
        self.block = block
        self._start = start
        self.end = end

    def begin(self) -> int:
        """Where the value of the document begins.

        Raises:
            MalformedError: there is none, or it is in another encoding.
        """
        at = self._start
        head = self.read(at, min(4, self.end - at))
        if head.startswith((b"\xff\xfe", b"\xfe\xff")) or head[1::2] == b"\0\0" or head[::2] == b"\0\0":
            raise MalformedError(at, "it is UTF-16 or UTF-32; convert it to UTF-8")
        if head.startswith(b"\xef\xbb\xbf"):
            at += 3
        at = self._past_space(at)
        if at == self.end:
            raise MalformedError(
                at, "there is nothing but white space" if at > self._start else "it is empty"
            )
        return at

    def value(self, start: int) -> Any:
        """Decode the value that begins there and takes up the rest of the document.

        Raises:
            MalformedError: it is no JSON, or larger than what is decoded.
        """
        size = self.end - start
        if size > self.limit:
            raise MalformedError(
                start, f"no value of JSON begins here, or one of more than {self.limit} bytes"
            )
        try:
            return json_values.decode(self.read(start, size))
        except MalformedError as error:
            raise MalformedError(start + error.at, error.reason) from None

    def check_end(self, end: int) -> None:
        """Check that only white space follows the value of the document.

        Raises:
            MalformedError: there is more.
        """
        behind = self._past_space(end)
        if behind < self.end:
            raise MalformedError(behind, "the document has ended, and there is more")

    def _past_space(self, at: int) -> int:
        while at < self.end:
            data = self.read(at, min(self.block, self.end - at))
            space = len(data) - len(data.lstrip(WHITESPACE))
            at += space
            if space < len(data):
                break
        return at

    def block_at(self, at: int, size: int | None = None) -> tuple[bytes, bool]:
        """Bytes from a position on, a block of them by default, and whether they are the last."""
        self.context.check()
        size = min(self.block if size is None else size, self.end - at)
        return (self.read(at, size) if size else b""), at + size >= self.end

    def behind(self, at: int) -> tuple[int, bytes]:
        """The next byte that is no white space, and where it is; none at the end."""
        at = self._past_space(at)
        return at, self.read(at, 1) if at < self.end else b""

    def unfinished(self) -> MalformedError:
        """The error for a document that ends too early."""
        return MalformedError(self.end, "it ends in the middle of a value")

    def end_of_string(self, start: int) -> int:
        """The byte behind a string of any length."""
        at, held = start + 1, b""
        while True:
            data, last = self.block_at(at + len(held))
            data = held + data
            stop = _IN_STRING.match(data).end()  # type: ignore[union-attr]  # it matches nothing, too
            if data[stop : stop + 1] == b'"':
                return at + stop + 1
            if last and len(data) - stop < _ESCAPE:
                raise self.unfinished()
            if len(data) - stop >= _ESCAPE or data[stop : stop + 1] not in {b"", b"\\"}:
                raise MalformedError(at + stop, "a character that no string may hold")
            at, held = at + stop, data[stop:]
