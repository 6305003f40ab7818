"""Search: lines that match a regular expression, in time linear in what is read, a page at a time.

The engine is RE2, which never backtracks; line ends are taken out of every character class (``never_nl``), so a block of
many lines is searched in one call and no match crosses a line. Blocks hold whole lines. A line above 16 MiB is searched in
windows that overlap by 1 MiB, so a match of up to that size is found wherever it stands.

A page ends with a cursor: where the search goes on, and what was counted until there; so the last page, or a search that
only counts, has exact totals.
"""

from __future__ import annotations

import dataclasses
import re
import time
from typing import TYPE_CHECKING, Any

from spillstore.exceptions import RangeError, RangeTooLargeError
from spillstore.info import Match, SearchResult
from spillstore.search import line_blocks
from spillstore.search.line_blocks import Piece, Pieces, character_before
from spillstore.search.patterns import compiled, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore.info import Cleaner, Stream
    from spillstore.read.byte_source import ByteSource

_CLEANED = 1024 * 1024  # bytes of a line that is cleaned; longer ones are searched as they are stored
_TEXT = 2000  # bytes of a line around its match that are told
_CURSOR = re.compile(
    r"(combined|stdout|stderr)@(\d{1,18})\+(\d{1,18})\+(\d{1,18})(?:~(\d{1,18})(!?))?", re.ASCII
)
_FEW = 500  # lines of a piece from which on a call for each costs more than the interpreter's lock
_LOOKS = 64  # matches or lines from one look at the clock to the next
_CONTEXT_BYTES = 256 * 1024


@dataclasses.dataclass(slots=True)
class _Counts:
    lines: int = 0
    matches: int = 0


class Search:
    """One page of a search.

    Args:
        artifact: sealed or not; or a string in one.
        batches: its bytes; as ``read.iteration.batches``.
        pattern: an RE2 regular expression, matched within lines.
        stream: the view.
        context: lines before and after.
        limit: matching lines of a page; 0 to count alone, to the end.
        cursor: of the page before.
        ignore_case: letters of either case are the same.
        literal: the pattern is text.
        invert: lines that do not match.
        cleaner: what a reader sees of lines; None for stored bytes.
        seconds: time after which the page ends with what it has, that for the pattern included; None for no such limit.
        on_progress: called with the bytes that are searched and those that there are; None for nobody.
    """

    def __init__(
        self,
        artifact: ByteSource,
        batches: Callable[..., Iterator[Any]],
        pattern: str,
        *,
        stream: Stream,
        context: int,
        limit: int,
        cursor: str | None,
        ignore_case: bool,
        literal: bool,
        invert: bool,
        cleaner: Cleaner | None,
        seconds: float | None,
        on_progress: Callable[[int, int], object] | None,
    ) -> None:
        self._artifact = artifact
        self._stream = stream
        self._context = context
        self._limit = limit
        self._invert = invert
        self._cleaner = cleaner
        self._on_progress = on_progress
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._patterns = [
            compiled(pattern, ignore_case=ignore_case, literal=literal, latin=latin)
            for latin in (False, True)
        ]
        # Where text is counted, and nothing is told of it, there is a faster way than to match it one by one.
        counting = not (limit or invert or ignore_case)
        self._text = text_of(pattern, literal=literal) if counting else None
        self._terminator = artifact.info.terminator
        self._reading = Pieces(batches, stream, self._terminator, self._ready)
        self._size, self._state = artifact.extent(stream)
        self._hole = artifact.info.view(
            stream
        ).hole  # as of now: more may have gone since the row above was read
        self._counts = _Counts()
        self._start = 0
        self._window: _Window | None = None  # of the line that is searched in windows now, or was left inside
        if cursor is not None:
            match = _CURSOR.fullmatch(cursor)
            if match is None or match[1] != stream:
                raise RangeError(f"{cursor[:80]!r} is no cursor of this search; take it from the page before")
            self._start, self._counts = int(match[2]), _Counts(int(match[3]), int(match[4]))
            if match[5]:
                line = int(match[5])
                if line > self._start:
                    raise RangeError(f"{cursor!r} is no cursor of this search; take it from the page before")
                self._window = _Window(line, 0, seen=self._start, told=bool(match[6]))
        self._looks = 0
        self._known = (-1, 0)  # where a line begins, and its number
        self._found: list[Match] = []
        self._windows = False
        self._uncleaned = False

    def run(self) -> SearchResult:
        """The page."""
        at = self._start
        stopped = False
        for piece in self._pieces():
            stop = self._search_window(piece) if piece.window else self._search(piece)
            if stop is not None:
                at, stopped = stop, True
                break
            at = piece.end if self._window is None else self._window.seen
            if self._on_progress is not None:
                self._on_progress(at, self._size)
            if self._deadline is not None and time.monotonic() > self._deadline:
                stopped = at < self._size
                break
        inside = self._left_inside() if stopped and self._window is not None else ""
        notes = []
        if self._windows:
            notes.append(f"lines above {line_blocks.LONGEST} bytes were searched in overlapping windows")
        if self._uncleaned:
            notes.append(f"lines above {_CLEANED} bytes were searched as they are stored")
        if self._hole is not None:
            notes.append(f"bytes {self._hole.start}-{self._hole.end} were dropped and could not be searched")
        cursor = f"{self._stream}@{at}+{self._counts.lines}+{self._counts.matches}{inside}"
        return SearchResult(
            matches=tuple(self._found),
            lines=self._counts.lines,
            total_matches=self._counts.matches,
            complete=not stopped,
            scanned=at,
            size=self._size,
            cursor=cursor if stopped else None,
            notes=tuple(notes),
        )

    def _left_inside(self) -> str:
        """The page ends inside a line: tell what is known of it, and what the cursor must say of it."""
        window = self._window
        assert window is not None  # the caller asked
        if not self._invert:
            self._counts.matches += window.matches
            if window.first is not None and not window.told:
                self._tell_window(window)
        return f"~{window.start}{'!' if window.told or window.first is not None else ''}"

    def _late(self) -> bool:
        """Whether the time is over; looks at the clock now and then."""
        if self._deadline is None:
            return False
        self._looks += 1
        return self._looks % _LOOKS == 0 and time.monotonic() > self._deadline

    # --- what is read -----------------------------------------------------------------------------------

    def _pieces(self) -> Iterator[Piece]:
        if self._hole is None:
            yield from self._reading.between(self._first(), self._size, inside=self._window is not None)
            return
        low, high = self._hole.start, self._hole.end
        yield from self._reading.between(self._first(), min(low, self._size), inside=self._window is not None)
        yield from self._reading.between(max(self._start, high), self._size, inside=self._window is not None)

    def _first(self) -> int:
        """Where reading begins: inside a line with the character before, which tells what ``^`` is not."""
        if self._window is None or self._start <= self._window.start:
            return self._start
        low = max(self._window.start, self._start - line_blocks.LONGEST_CHARACTER)
        before = self._artifact.read_bytes(low, self._start, stream=self._stream, holes="skip")
        return low + character_before(before, len(before) - 1)

    def _ready(self, start: int, line: int, data: bytes, first: int, last: int) -> Piece:
        """Whole lines, cleaned; nothing of them is kept if nothing of them is looked for."""
        place = (start + first, start + last, line)
        if first == last:
            return Piece(*place, b"", b"")
        if self._text is not None:
            text = self._cleaned(data[first:last])
            return Piece(*place, b"", b"", counts=self._counted(text, self._text))
        if self._terminator == b"\n" and self._cleaner is not None and self._cleaner.is_clean(data):
            if not self._invert and self._patterns[0].search(data, first, last) is None:
                return Piece(*place, b"", b"")
            return Piece(*place, lines := data[first:last], lines)
        lines = data[first:last]
        text = self._cleaned(lines)
        if not self._invert and not any(
            pattern.search(text, low, high) for low, high, pattern in self._runs(text)
        ):
            return Piece(*place, b"", b"")
        return Piece(*place, lines, text)

    def _counted(self, text: bytes, wanted: bytes) -> tuple[int, int]:
        """Lines that hold a text, and how often they do."""
        lines = matches = at = 0
        while True:
            if lines < _FEW:  # in which other threads run
                found = self._patterns[0].search(text, at)
                hit = -1 if found is None else found.start()
            else:
                hit = text.find(wanted, at)
            if hit < 0:
                return lines, matches
            at = text.find(b"\n", hit) + 1 or len(text)
            lines += 1
            matches += text.count(wanted, hit, at)

    # --- what is found ----------------------------------------------------------------------------------

    def _search(self, piece: Piece) -> int | None:
        """Look through a piece; where to go on, if the page is full or the time over."""
        text = self._cleaned(piece.data) if piece.text is None else piece.text
        if self._text is not None:
            lines, matches = piece.counts or self._counted(text, self._text)
            self._counts.lines += lines
            self._counts.matches += matches
            return None
        starts: list[int] | None = None  # of lines in what is stored, where cleaning has moved them
        for low, high, pattern in self._runs(text):
            stop, starts = self._search_run(piece, text, low, high, pattern, starts)
            if stop is not None:
                return stop
        return None

    def _search_run(
        self, piece: Piece, text: bytes, position: int, high: int, pattern: Any, starts: list[int] | None
    ) -> tuple[int | None, list[int] | None]:
        """Look through lines of one encoding."""
        while position < high:
            found = pattern.search(text, position, high)
            hit = high if found is None else found.start()
            if self._invert:
                line_end = text.find(b"\n", hit, high) + 1 or high
                first = text.rfind(b"\n", 0, hit) + 1 if found is not None else high
                for begin in _line_starts(text, position, first):
                    self._counts.lines += 1
                    self._counts.matches += 1
                    starts = self._take(piece, text, begin, begin, starts)
                    if self._full or self._late():
                        return self._behind(piece, text, begin, starts), starts
                position = line_end
                continue
            if found is None or (hit == high and text[:high].endswith(b"\n")):
                break
            begin = text.rfind(b"\n", 0, hit) + 1
            position = text.find(b"\n", hit, high) + 1 or high
            count, left = self._matches_in(pattern, text, found, position, may_stop=text is piece.data)
            if left is not None:
                place = max(begin, hit - _TEXT // 4)
                shown = text[place : min(position, place + _TEXT)].rstrip(b"\n")
                window = _Window(
                    piece.start + begin, self._line_of(piece, begin), seen=piece.start + left, matches=count
                )
                window.first = (piece.start + hit, shown, hit - place)
                self._window = window
                return window.seen, starts
            self._counts.lines += 1
            self._counts.matches += count
            starts = self._take(piece, text, begin, hit, starts)
            if self._full or self._late():
                return self._behind(piece, text, begin, starts), starts
        return None, starts

    @property
    def _full(self) -> bool:
        return bool(self._limit) and len(self._found) >= self._limit

    def _matches_in(
        self, pattern: Any, text: bytes, found: Any, line_end: int, *, may_stop: bool
    ) -> tuple[int, int | None]:
        """Matches of a line, from its first one on; and where the time was over, if it may stop there."""
        count = 0
        ends = line_end - (text[line_end - 1 : line_end] == b"\n")
        while found is not None:
            start, end = found.span()
            if start >= line_end or (count and start == end == ends < line_end):
                break  # of the next line, or nothing in front of this one's end
            count += 1
            position = end if end > start else end + 1
            if position >= line_end:
                break
            if may_stop and self._late():
                return count, position
            found = pattern.search(text, position, line_end)
        return count, None

    def _cleaned(self, data: bytes) -> bytes:
        if self._cleaner is None:
            return data if self._terminator == b"\n" else data.replace(b"\n", b"\x0b").replace(b"\r", b"\n")
        if _has_line_above(data, self._terminator, _CLEANED):
            self._uncleaned = True
            return data
        text = self._cleaner.text(data, self._terminator)
        if not data.endswith(self._terminator) and (not text or text.endswith(b"\n")):
            return text + b"\n"  # of a last line that shows nothing and has no end, there would be no trace
        return text

    def _pattern_for(self, text: bytes) -> Any:
        """For UTF-8, or else for single bytes."""
        return self._patterns[not (text.isascii() or _is_utf8(text))]

    def _runs(self, text: bytes) -> Iterator[tuple[int, int, Any]]:
        """Runs of whole lines that are text in UTF-8, or are not, and the pattern for each: ``[low, high)``."""
        if text.isascii() or _is_utf8(text):
            yield 0, len(text), self._patterns[0]
            return
        low = at = 0
        good = True
        for line in text.split(b"\n"):
            is_good = line.isascii() or _is_utf8(line)
            if is_good is not good:
                if low < at:
                    yield low, at, self._patterns[not good]
                low, good = at, is_good
            at += len(line) + 1
        if low < len(text):
            yield low, len(text), self._patterns[not good]

    def _take(
        self, piece: Piece, text: bytes, begin: int, hit: int, starts: list[int] | None
    ) -> list[int] | None:
        """Keep a matching line for the page; ``begin`` and ``hit`` are in the text."""
        if not self._limit:
            return starts
        data = piece.data
        end = text.find(b"\n", begin)
        line = text[begin : end if end >= 0 else len(text)]
        column = hit - begin
        if text is data:
            start, offset = begin, hit
        else:
            starts = starts or _starts(data, self._terminator)
            number = text.count(b"\n", 0, begin)
            start = starts[number]
            stored = data[start : starts[number + 1] if number + 1 < len(starts) else len(data)]
            offset = start
            if column and self._cleaner is not None and stored[:column] != line[:column]:
                offset += self._cleaner.offset(
                    stored, self._terminator, len(line[:column].decode(errors="replace"))
                )
            else:
                offset += column
        match = _match(self._line_of(piece, start), piece.start + offset, line, column)
        if self._context:
            match = self._with_context(match, *self._around(piece, text, begin))
        self._found.append(match)
        return starts

    def _around(
        self, piece: Piece, text: bytes, begin: int
    ) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
        """The lines before and behind the one that begins there, as far as the piece tells: None where it does not."""
        before: list[bytes] = []
        at = begin
        while at and len(before) < self._context:
            start = text.rfind(b"\n", 0, at - 1) + 1
            before.append(text[start : at - 1])
            at = start
        behind: list[bytes] = []
        at = text.find(b"\n", begin) + 1 or len(text)
        while at < len(text) and len(behind) < self._context:
            end = text.find(b"\n", at)
            behind.append(text[at : end if end >= 0 else len(text)])
            at = end + 1 or len(text)
        first = len(before) == self._context or piece.start == 0
        last = len(behind) == self._context or piece.end == self._size
        return _shown(before[::-1]) if first else None, _shown(behind) if last else None

    def _line_of(self, piece: Piece, start: int) -> int:
        """The number of the line that begins at a place in a piece; counted on from the one before in it."""
        known, line = self._known
        if not piece.start <= known <= piece.start + start:
            known, line = piece.start, piece.line
        line += piece.data.count(self._terminator, known - piece.start, start)
        self._known = (piece.start + start, line)
        return line

    def _behind(self, piece: Piece, text: bytes, begin: int, starts: list[int] | None) -> int:
        """The byte behind a line of a piece."""
        if text is piece.data:
            end = text.find(b"\n", begin) + 1 or len(text)
            return piece.start + end
        starts = starts or _starts(piece.data, self._terminator)
        number = text.count(b"\n", 0, begin) + 1
        return piece.start + (starts[number] if number < len(starts) else len(piece.data))

    def _search_window(self, piece: Piece) -> int | None:
        """A window of a very long line, as it is stored: every match counts once, the line once."""
        self._windows |= not piece.last
        if self._window is None:
            self._window = _Window(piece.start, piece.line, seen=piece.start)
        window = self._window
        window.line = window.line or piece.line
        if not self._scan_window(piece, window):
            return window.seen
        if not piece.last:
            return None
        self._window = None
        matched = window.told or window.first is not None
        if not self._invert:
            self._counts.matches += window.matches
        if matched is not self._invert and not window.told:
            self._counts.matches += self._invert
            self._tell_window(window)
        return piece.end if self._full else None

    def _scan_window(self, piece: Piece, window: _Window) -> bool:
        """Note the matches of a window; whether there was time for all of them.

        What it begins or ends with is no beginning or end of the line, so it has a character more at either side.
        """
        data = piece.data if self._terminator == b"\n" else piece.data.replace(b"\n", b"\x0b")
        if piece.last:
            data = data.removesuffix(self._terminator)
            end = last_start = len(data)
        else:
            end = character_before(data, len(data) - 1)
            # A match that begins in the overlap may be cut off here, and is found whole in the next window.
            last_start = len(data) - line_blocks.OVERLAP - 1
        pattern = self._pattern_for(data[:end])
        position = window.seen - piece.start
        while position <= last_start:
            found = pattern.search(data, position, end)
            start, stop = (end + 1, 0) if found is None else found.span()
            if start > last_start:
                break
            if window.first is None:
                low = max(0, start - _TEXT // 4)
                window.first = (piece.start + start, data[low : low + _TEXT], start - low)
            window.matches += 1
            position = stop + (stop == start)
            window.seen = piece.start + position
            if self._late():
                return False
        if not piece.last:
            window.seen = max(window.seen, piece.start + last_start + 1)
        return True

    def _tell_window(self, window: _Window) -> None:
        """Count a very long line, and keep it for the page."""
        self._counts.lines += 1
        if not self._limit:
            return
        byte, text, column = window.first or (window.start, b"", 0)
        before = self._artifact.chunks(window.start, byte, stream=self._stream, holes="skip")
        column_in_line = sum(len(block.translate(None, line_blocks.CONTINUING)) for block in before) + 1
        match = dataclasses.replace(
            _match(window.line, byte, text, column), clipped=True, column=column_in_line
        )
        self._found.append(self._with_context(match) if self._context else match)

    def _with_context(
        self, match: Match, before: tuple[str, ...] | None = None, after: tuple[str, ...] | None = None
    ) -> Match:
        """A match with the lines around it, read if they are not known; of what is too large to be shown, none."""
        low, high = max(1, match.line - self._context), match.line + self._context
        return dataclasses.replace(
            match,
            before=self._lines(low, match.line - 1) if before is None else before,
            after=self._lines(match.line + 1, high) if after is None else after,
        )

    def _lines(self, first: int, last: int) -> tuple[str, ...]:
        if last < first:
            return ()
        try:
            data = self._artifact.read_lines(
                first, last, stream=self._stream, holes="skip", max_bytes=_CONTEXT_BYTES
            )
        except RangeTooLargeError:
            return ()
        if not data:
            return ()
        text = self._cleaned(data)
        lines = text.split(b"\n")
        if not lines[-1]:
            lines.pop()
        return _shown(lines)


@dataclasses.dataclass(slots=True)
class _Window:
    """What is known of a line that is searched in windows, or was left inside.

    ``seen`` is where to go on; ``told``, that the line was counted on a page before; ``first``, the first match as (byte,
    text, place in the text); ``matches``, those that are not counted yet.
    """

    start: int
    line: int  # 0 where a cursor has not told it
    seen: int
    matches: int = 0
    told: bool = False
    first: tuple[int, bytes, int] | None = None


def _match(number: int, byte: int, line: bytes, column: int) -> Match:
    low = max(0, column - _TEXT // 4) if len(line) > _TEXT else 0
    while low and line[low] & 0xC0 == 0x80:  # noqa: PLR2004  # inside a character
        low -= 1
    shown = line[low : low + _TEXT]
    return Match(
        line=number,
        byte=byte,
        column=len(line[:column].decode(errors="replace")) + 1,
        text=shown.decode(errors="replace"),
        clipped=len(shown) < len(line),
    )


def _shown(lines: list[bytes]) -> tuple[str, ...]:
    return tuple(line[:_TEXT].decode(errors="replace") for line in lines)


def _line_starts(text: bytes, start: int, end: int) -> Iterator[int]:
    """Where the lines that begin in ``[start, end)`` do."""
    while start < end:
        yield start
        start = text.find(b"\n", start) + 1 or len(text)


def _starts(data: bytes, terminator: bytes) -> list[int]:
    """Where each line of stored bytes begins."""
    starts = [0]
    while at := data.find(terminator, starts[-1]) + 1:
        starts.append(at)
    return starts


def _has_line_above(data: bytes, terminator: bytes, size: int) -> bool:
    """Whether a line is longer than that. Most blocks need a few looks: such a line covers a whole half of ``size``."""
    half = size // 2
    if all(data.find(terminator, at, at + half) >= 0 for at in range(0, len(data) - half + 1, half)):
        return False
    return max(map(len, data.split(terminator))) > size


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
