"""The lines around a match."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore.exceptions import RangeTooLargeError
from spillstore.search.match_page import TEXT

if TYPE_CHECKING:
    from spillstore.info import Match, Stream
    from spillstore.read.byte_source import ByteSource
    from spillstore.search.line_blocks import Block
    from spillstore.search.searched_text import SearchedText

_BYTES = 256 * 1024  # of the lines at one side of a match; of more, none are given


class ContextLines:
    """Gives a match the lines before and behind it.

    Args:
        artifact: what is searched.
        stream: the view.
        count: how many lines at each side.
        size: bytes of the view.
        searched: makes text of them.
    """

    def __init__(
        self, artifact: ByteSource, stream: Stream, count: int, size: int, searched: SearchedText
    ) -> None:
        self._artifact = artifact
        self._stream = stream
        self._count = count
        self._size = size
        self._searched = searched
        self._wide = searched.line_end != searched.terminator

    def of_block(self, match: Match, block: Block, text: bytes, begin: int) -> Match:
        """A match in a block with its context, which is read only if the block does not hold it.

        Args:
            match: without context.
            block: where it was found.
            text: the text of the block.
            begin: where the line begins in that.
        """
        if not self._count:
            return match
        if self._wide:
            return self.of(match)  # in the block, stored lines cannot be told apart
        before: list[bytes] = []
        at = begin
        while at and len(before) < self._count:
            start = text.rfind(b"\n", 0, at - 1) + 1
            before.append(text[start : at - 1])
            at = start
        behind: list[bytes] = []
        at = text.find(b"\n", begin) + 1 or len(text)
        while at < len(text) and len(behind) < self._count:
            end = text.find(b"\n", at)
            behind.append(text[at : end if end >= 0 else len(text)])
            at = end + 1 or len(text)
        has_before = len(before) == self._count or block.start == 0
        has_behind = len(behind) == self._count or block.end == self._size
        return self.of(
            match, _shown(before[::-1]) if has_before else None, _shown(behind) if has_behind else None
        )

    def of(
        self, match: Match, before: tuple[str, ...] | None = None, after: tuple[str, ...] | None = None
    ) -> Match:
        """A match with the lines around it, read if they are not known; of what is too large to be shown, none."""
        if not self._count:
            return match
        low, high = max(1, match.line - self._count), match.line + self._count
        return dataclasses.replace(
            match,
            before=self._lines(low, match.line - 1) if before is None else before,
            after=self._behind(match.line, high) if after is None else after,
        )

    def _behind(self, line: int, last: int) -> tuple[str, ...]:
        """The lines behind a line; where that is several stored ones, the others are empty."""
        return self._lines(line, last)[1:] if self._wide else self._lines(line + 1, last)

    def _lines(self, first: int, last: int) -> tuple[str, ...]:
        if last < first:
            return ()
        try:
            data = self._artifact.read_lines(first, last, stream=self._stream, holes="skip", max_bytes=_BYTES)
        except RangeTooLargeError:
            return ()
        if not data:
            return ()
        lines = self._searched.of(data).split(b"\n")
        if not lines[-1]:
            lines.pop()
        if self._wide:
            lines = self._as_stored(lines, data)
        return _shown(lines)

    def _as_stored(self, lines: list[bytes], data: bytes) -> list[bytes]:
        """As many lines as are stored: behind a line that is several stored ones, empty ones."""
        parts = data.split(self._searched.line_end)
        ended = [*parts[:-1], parts[-1].removesuffix(self._searched.terminator)]
        counts = [part.count(self._searched.terminator) for part in ended]
        return [each for line, count in zip(lines, counts, strict=False) for each in (line, *[b""] * count)]


def _shown(lines: list[bytes]) -> tuple[str, ...]:
    return tuple(line[:TEXT].decode(errors="replace") for line in lines)
