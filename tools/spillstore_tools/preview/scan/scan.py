"""One pass over a view of output: its size, its beginning, its end, and all of it if that is little.

The sequence is cut into blocks of about 64 KiB of whole lines, at places that depend on its bytes alone, never on how
they were fed. So a pass over stored chunks sees what a pass over the live output saw, and a preview made again is the
same text. Memory: the two windows, whatever is fed.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re
from spillstore.text_scan import survey
from spillstore_tools.preview.binary.recognise import HEAD_BYTES, is_noise
from spillstore_tools.preview.scan.block import Block
from spillstore_tools.preview.scan.overview import Overview
from spillstore_tools.preview.scan.windows import WIDEST, Windows
from spillstore_tools.preview.text.clean import clean_length, redrawn
from spillstore_tools.preview.text.lines import BLOCK
from spillstore_tools.preview.text.long_line import LongLine
from spillstore_tools.preview.text.stream import settled_length

if TYPE_CHECKING:
    from spillstore_tools.preview.scan.block import Observer

_COUNTED = 256 * 1024
# A bracket and what follows one in JSON; no line of a log that begins with a bracket matches.
_JSON = re.compile(
    rb"""(?:\xef\xbb\xbf)?\s*(?:\{\s*["}]|\[\s*(?:[\[{\]"]|(?:-?\d[\d.eE+-]*|true|false|null)\s*[,\]]\s*[\[{"\d\-tfn]))"""
)


class Scan:
    r"""Takes the bytes of one view with ``feed``; ``finish`` gives the ``Overview``.

    Args:
        head_chars: code points of cleaned text to keep from the beginning, at least.
        tail_chars: likewise from the end.
        keep_bytes: keep all output up to this size.
        keep_json: likewise of output that begins as JSON does.
        terminator: what ends a line.
        observer: receives every block.
        exact: count every code point; else only up to 256 KiB, and bytes from there on, which takes a third of the time,
            and a tenth where there is much to clean. Both windows are as large as ever.
        text_only: lines of binary content are not shown, so they are counted alone: the observer does not get them, and what
            was overwritten in them is not looked for, which takes a hundred times as long.

    Example:
        >>> scan = Scan(head_chars=10, tail_chars=10)
        >>> scan.feed(b"one\ntwo\n")
        >>> overview = scan.finish()
        >>> overview.lines, overview.chars, overview.whole, [line.text for line in overview.forward()]
        (2, 8, True, ['one\n', 'two\n'])
    """

    def __init__(
        self,
        *,
        head_chars: int,
        tail_chars: int,
        keep_bytes: int = 0,
        keep_json: int = 0,
        terminator: bytes = b"\n",
        observer: Observer | None = None,
        exact: bool = True,
        text_only: bool = False,
    ) -> None:
        self._exact = exact
        self._text_only = text_only
        self._noise = False  # the content is binary, and its lines are not shown
        self._counted = True
        self._windows = Windows(head_chars, tail_chars, keep_bytes)
        self._keep_json = keep_json
        self._least_bytes = WIDEST * (head_chars + tail_chars)  # of a long line that is kept whole
        self._terminator = terminator
        self._observer = observer
        self._buffer = bytearray()
        self._long: LongLine | None = None
        self._pieces: list[bytes] = []  # of the long line, while it is short enough to be kept whole
        self._position = 0  # of the buffer's first byte
        self._lines = 0
        self._redrawn = 0
        self._overwritten: tuple[Block, Block] | None = None  # the first and the last block with such lines
        self._in_torn_line = False  # a line that began in a hole has not ended yet
        self.chars = 0

    @property
    def size(self) -> int:
        """Bytes fed so far."""
        return self._position + len(self._buffer)

    def feed(self, *pieces: bytes | memoryview) -> None:
        """Take the next bytes, in pieces as they have come."""
        if self._in_torn_line:
            data = b"".join(pieces)
            cut = data.find(self._terminator) + 1 or len(data)
            self._in_torn_line = not data.endswith(self._terminator, 0, cut)
            self._position += cut
            self.chars += cut
            pieces = (memoryview(data)[cut:],)
        if len(self._buffer) + sum(map(len, pieces)) < BLOCK:
            for piece in pieces:
                self._buffer += piece
            return
        # Copied once: pages that are touched for the first time cost more than the rest.
        whole = b"".join((self._buffer, *pieces))
        self._buffer.clear()
        taken = 0
        if (
            self._observer is not None
            and len(whole) >= 2 * BLOCK
            and self._position
            and not (self._long or self._noise)
        ):
            self._observer.ahead(self._position, self._lines + 1, whole, self._terminator, self._cuts(whole))
        while len(whole) - taken >= BLOCK:
            taken += self._take(whole, taken)
        self._buffer += memoryview(whole)[taken:]

    def skip(self, size: int, lines: int, *, torn: bool) -> None:
        """Count bytes that do not exist any more. A line of which a part is gone counts as missing, too.

        Args:
            size: bytes.
            lines: lines of the view up to and with the last one of which a part is gone.
            torn: whether that line's end is still to come.
        """
        self.flush()
        begun = self._position - (self._long.start if self._long else self._position)
        self.chars += begun + len(self._buffer) + size
        self._position += len(self._buffer) + size
        self._buffer.clear()
        self._long = None
        self._pieces.clear()
        self._windows.close_head()
        self._lines = lines
        self._in_torn_line = torn

    def flush(self) -> None:
        """Pass on the whole lines that are held, as a block; for who feeds what was cut into blocks already."""
        if self._long is None and (cut := self._buffer.rfind(self._terminator) + 1):
            self._lines_block(bytes(self._buffer[:cut]))
            del self._buffer[:cut]

    def finish(self) -> Overview:
        """The overview; call it once, when nothing more will be fed.

        Characters in a hole cannot be counted; its bytes stand for them.
        """
        if self._long is not None:
            cut = self._buffer.find(self._terminator) + 1
            self._long_piece(bytes(self._buffer[: cut or len(self._buffer)]), last=True)
            del self._buffer[: cut or len(self._buffer)]
        if self._buffer:
            self._lines_block(bytes(self._buffer))
            self._buffer.clear()
        return Overview(
            size=self._position,
            lines=self._lines,
            chars=self.chars,
            head=tuple(self._windows.head),
            tail=tuple(self._windows.tail),
            whole=not self._windows.dropped,
            terminator=self._terminator,
            observer=self._observer,
            counted=self._counted,
            redrawn=self._redrawn,
            redrawn_span=_span(*self._overwritten) if self._overwritten else (0, 0),
        )

    def snapshot(self) -> tuple[Overview, bytes]:
        """The overview so far, while more comes; and the last bytes, which it leaves out if their meaning is still open."""
        settled = settled_length(self._buffer)
        rest = bytes(self._buffer[settled:])
        before = {
            **self.__dict__,
            "_windows": self._windows.copy(),
            "_long": copy.deepcopy(self._long),
            "_pieces": list(self._pieces),
        }
        self._buffer = self._buffer[:settled]
        self._observer = None  # it receives the last lines when they are whole
        overview = self.finish()
        self.__dict__.update(before)
        return dataclasses.replace(overview, observer=self._observer), rest

    def _cuts(self, data: bytes) -> list[int]:
        """Where the next blocks of whole lines end."""
        cuts: list[int] = []
        at = 0
        while len(data) - at >= BLOCK and (cut := data.rfind(self._terminator, at, at + BLOCK) + 1) > at:
            cuts.append(cut)
            at = cut
        return cuts

    def _take(self, data: bytes, at: int) -> int:
        """Make one block, or a piece of a long line, of the bytes from ``at`` on; returns its length."""
        limit = at + BLOCK
        if not self._position:
            if _JSON.match(data, at):
                self._windows.keep_bytes = max(self._windows.keep_bytes, self._keep_json)
            self._noise = self._text_only and is_noise(data[at : at + HEAD_BYTES])
        if self._long is None:
            cut = data.rfind(self._terminator, at, limit) + 1
            if cut > at:
                self._lines_block(data[at:cut])
                return cut - at
            self._long = LongLine(self._lines + 1, self._position, self._terminator)
        cut = data.find(self._terminator, at, limit) + 1
        self._long_piece(data[at : cut or limit], last=bool(cut))
        return (cut or limit) - at

    def _lines_block(self, raw: bytes) -> None:
        end = self._terminator
        found = survey(raw, end)
        counted = self._exact or self.chars < _COUNTED
        is_clean = found.plain and found.ascii and end == b"\n"
        block = Block(
            self._position,
            self._lines + 1,
            raw,
            found.ends + (not raw.endswith(end)),
            len(raw) if is_clean or not counted else clean_length(raw, end),
            counted=counted,
            terminator=end,
            is_clean=is_clean,
        )
        self._counted = self._counted and counted
        self._add(block, 0 if is_clean or self._noise else redrawn(raw, end))

    def _long_piece(self, piece: bytes, *, last: bool) -> None:
        long = self._long
        assert long is not None  # the callers made sure
        self._pieces.append(piece)
        self._position += len(piece)
        whole = self._position - long.start <= max(self._windows.keep_bytes, self._least_bytes)
        if not whole:
            for each in self._pieces[:-1]:
                long.add(each, last=False)
                self._pass_on(long, each)
            long.add(piece, last=last)
            self._pass_on(long, piece)
            self._pieces.clear()
        if last:
            self._position = long.start
            self._long = None
            if whole:
                self._lines_block(b"".join(self._pieces))
                self._pieces.clear()
            else:
                block = Block(long.start, long.number, b"", 1, long.chars, long, terminator=self._terminator)
                self._add(block, long.redrawn)

    def _pass_on(self, long: LongLine, piece: bytes) -> None:
        """Show a piece of a line that is not held to an observer that asks for them."""
        if self._observer is not None and not self._noise and hasattr(self._observer, "piece"):
            self._observer.piece(long, piece)

    def _add(self, block: Block, overwritten: int) -> None:
        if overwritten:
            self._redrawn += overwritten
            self._overwritten = (self._overwritten[0] if self._overwritten else block, block)
        self._position = block.end
        self._lines += block.lines
        self.chars += block.chars
        if self._observer is not None and not self._noise:
            self._observer.block(block)
        self._windows.add(block)


def _span(first: Block, last: Block) -> tuple[int, int]:
    """From the first to the last line of these blocks in which characters were overwritten."""
    start = next(line.start for line in first.forward() if line.redrawn)
    return start, next(line.end for line in last.backward() if line.redrawn)
