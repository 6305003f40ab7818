"""The private keys of a text: where ``pem.py`` finds them, in order, and what they mean for what other rules find."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

from spillstore.redaction import pem
from spillstore.redaction.look import LINE_END, line_start
from spillstore.redaction.spans import Span

if TYPE_CHECKING:
    from spillstore.redaction.look import Look


class Keys:
    """A text's private keys, found from its beginning on.

    Args:
        text: lines, the last one may be unfinished.
        key: one that the lines before have begun.
        final: nothing follows that belongs to the last line.

    Attributes:
        key: one whose end was not seen.
        place: where the next one may begin.
        hold: from where on it cannot be told.
        spans: what is to be taken out, in order.
    """

    def __init__(self, text: bytes, key: pem.Open | None, *, final: bool) -> None:
        self.key = key
        self.place = 0
        self.hold = self._size = len(text)
        self.spans: list[Span] = []
        self._text = text
        self._final = final
        self._starts: list[int] = []  # of lines that belong to keys, and where they end
        self._ends: list[int] = []
        self._inside: list[tuple[int, int]] = []  # what is taken out, lines whole
        if key is not None:
            self._lines(0)

    def marked(self, look: Look, at: int) -> None:
        """``PRIVATE KEY`` stands at ``at``; places come in order."""
        if at >= self.place:
            self.key = None
            self._marked(look, at)

    def _marked(self, look: Look, at: int) -> None:
        text, size = self._text, self._size
        self.place = at
        marker = pem.begin(text, at)
        if marker is None:
            return
        first, last, stop, closed = pem.inline(text, marker.end())
        self.place = stop
        end = look.line(stop)
        if not self._final and not closed and stop >= size - 40 and end == size:
            self.hold = marker.end()
            return
        if first < last:
            self._inside.append((marker.end(), stop))
            self.spans.append(Span(first, last, "PRIVATE_KEY"))
        if closed:
            return
        line = line_start(text, marker.start())
        spoken = first >= last and stop < end and not pem.logged(text[line : marker.start()])
        if spoken or text.find(b"PRIVATE KEY", stop, end) >= 0:  # or another one follows in this line
            return
        self.key = pem.Open(pem.shape(text[line : marker.start()]), lines=int(first < last))
        if end < size:
            self._lines(end + 1)

    def _lines(self, start: int) -> None:
        """Take the lines of a key out from ``start`` on."""
        text, size = self._text, self._size
        self.place = start
        while self.key is not None and self.place < size:
            ended = LINE_END.search(text, self.place)
            if ended is None and not self._final:
                self.hold = self.place
                break
            end = size if ended is None else ended.start()
            begins = self.key.lines == 0
            found, key = pem.judge(text[self.place : end], self.key)
            if found is not None:
                self._inside.append((self.place, end))
                self.spans.append(Span(self.place + found[0], self.place + found[1], "PRIVATE_KEY", begins))
            self.key = key
            if found is None and key is None:
                break
            self.place = size if ended is None else ended.end()
        if start < self.place:
            self._starts.append(start)
            self._ends.append(self.place)

    def outside(self, spans: list[Span]) -> list[Span]:
        """Those that are not in a key: what other rules find there is no finding."""
        if not self._inside:
            return spans
        ends = [end for _, end in self._inside]
        kept = []
        for span in spans:
            near = bisect.bisect_right(ends, span.start)
            if near == len(ends) or span.end <= self._inside[near][0]:
                kept.append(span)
        return kept

    def first(self, start: int, stop: int) -> int | None:
        """Where the first lines of a key stand that begin before ``stop`` and end behind ``start``."""
        near = bisect.bisect_right(self._ends, start)
        return self._starts[near] if near < len(self._starts) and self._starts[near] < stop else None
