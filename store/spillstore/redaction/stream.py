"""One stream in UTF-8 or of any bytes, its secrets replaced as it passes: the same result however it is cut into writes.

Lines are looked at whole. A line that goes on is looked at again when more of it has come, and what cannot belong to a
secret any more is let go at once: the finder says from where on it cannot tell (``finder.py``). So a prompt shows before
its line ends, and ``password=hun`` shows up to the sign. It is looked at from ``TRIMMED`` bytes before what is not told yet,
and while what has come can only go on with what is held, not at all: so the work is linear, whatever the writes.

A line of more than ``WINDOW`` bytes is looked at in steps. A step stands at a place that depends on the line alone, never
on the writes: ``WINDOW`` bytes behind where the step before could still tell everything. It goes on from where this one
can tell everything, and sees ``CONTEXT`` bytes before that. If that is less than half a window, a secret may be there
that is longer than the rules can follow: it is taken out as far as the window goes, and on until what ends it.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import TYPE_CHECKING

from spillstore.redaction.headers import LONGEST_COOKIE
from spillstore.redaction.look import CONTEXT, LINE_END, Look, line_start
from spillstore.redaction.nextlines import TRIMMED
from spillstore.redaction.scan import Scanned, State, scan, search
from spillstore.runtime import lazy_patterns as re
from spillstore.runtime.ahead import Ahead, helped
from spillstore.text_scan import COLOUR, LONGEST_COLOUR

if TYPE_CHECKING:
    from typing import TypeAlias

    from spillstore.redaction.own_rules import OwnRules
    from spillstore.redaction.spans import Span

    Piece: TypeAlias = bytes | memoryview

WINDOW = 64 * 1024
_LEAST = WINDOW // 2
_AT_ONCE = 4 * WINDOW  # of lines
_PARTS = 4  # so large, which threads may search at once
_BEFORE_COOKIE = 16  # bytes of a header's name before these letters
_END = re.compile(rb"[\s\"'`<>\x00]")
_NO_WORD = re.compile(rb"[^A-Za-z0-9_]")
_NOTHING = State()
_HOT = 32  # rules that a line's end calls: then it is looked at again behind whole words alone
_ENDS = re.compile(rb"[\r\n\x1b]")  # of a line; a colour is looked through


@dataclasses.dataclass(slots=True)
class Tally:
    """What was done so far.

    Attributes:
        counts: how many secrets were taken out, by kind.
        looked_at: bytes that the rules have seen: those of a line that has not ended are seen again when more comes.
    """

    counts: dict[str, int] = dataclasses.field(default_factory=dict)
    looked_at: int = 0


class ByteRedactor:
    """Takes the secrets out of one stream of bytes, whose text has one byte a character or is in UTF-8.

    It keeps at most ``WINDOW`` and ``CONTEXT`` bytes.

    Args:
        rules: what is taken out.
        tally: what was done; what this one does is added.
    """

    def __init__(self, rules: OwnRules, tally: Tally) -> None:
        self._rules = rules
        self._tally = tally
        self._state = State()
        self._rest = b""  # from the line's beginning, or from the context of the next step
        self._base = 0  # in it: the line before that was told, and the next step stands a window behind
        self._done = 0  # in it: everything before that was given out
        self._within = False  # the rest begins inside a line
        self._more: list[Piece] = []  # what has come since, and only goes on with what is held
        self._until: re.Pattern[bytes] | None = None  # what alone can end that
        self._room = 0  # bytes until it is looked at all the same
        self._swallowing: re.Pattern[bytes] | None = (
            None  # inside a secret that no rule could follow: what ends it
        )

    def pieces(self, data: bytes) -> list[Piece]:
        """Take the next bytes; return those that no secret can hold any more, secrets replaced.

        Most of it is in pieces of 256 KiB, views of the data where nothing was replaced.
        """
        if self._until is not None and self._goes_on(data):
            self._more.append(data)
            return []
        return self._advance(data, final=False)

    def rest(self, data: bytes = b"") -> list[Piece]:
        """The stream ended with these bytes: return them and what was held back, secrets replaced."""
        return self._advance(data, final=True)

    def _goes_on(self, data: bytes) -> bool:
        """Whether all of it only goes on with what is held, so that it need not be looked at again."""
        assert self._until is not None  # the caller asked
        self._room -= len(data)
        return self._room > 0 and self._until.search(data) is None and _ENDS.search(data) is None

    def _scan(
        self,
        buffer: bytes,
        start: int,
        end: int,
        *,
        final: bool,
        step: bool = False,
        found: Look | None = None,
    ) -> Scanned:
        since = max(0, self._done - start)
        self._tally.looked_at += end - start
        text = buffer[start:end]
        return scan(text, self._rules, self._state, since=since, final=final, step=step, found=found)

    def _advance(self, data: bytes, *, final: bool) -> list[Piece]:
        out: list[Piece] = []
        taken = self._whole(data, out)
        buffer = b"".join((self._rest, *self._more, data[taken:]))
        self._more.clear()
        self._until = None
        size = len(buffer)
        start, base = 0, self._base  # of what is looked at, and of the step
        told = self._done  # everything before this can be told
        while True:
            if self._swallowing is not None:
                ended = self._swallowing.search(buffer, self._done)
                start = base = told = self._done = size if ended is None else ended.start()
                if ended is None:
                    break
                self._swallowing, self._within = None, True
            reach = min(size, base + WINDOW)
            cut = _line_end(buffer, base, reach) if self._within else _whole_lines(buffer, start, 0)
            if cut >= 0:
                found = self._scan(buffer, start, cut, final=True)
                self._state = found.state
                self._replace(buffer, start, found.spans, out)
                start = base = told = cut
                self._within = False
                continue
            if start == size:
                break
            step = size - base >= WINDOW
            found = self._scan(buffer, start, reach, final=final and not step, step=step)
            self._replace(buffer, start, found.spans, out)
            hold = found.hold
            told = max(told, start + hold)
            if not step:
                self._until = found.until or (_NO_WORD if found.tried > _HOT else None)
                break
            if start + hold <= base + WINDOW - _LEAST:
                out += (buffer[self._done : told], self._placeholder("SECRET"))
                self._swallowing = LINE_END if self._state.key is not None else _END
                start = base = told = self._done = reach
            else:
                base = start + hold
                start = max(start, _kept_from(buffer, base - CONTEXT))
            self._within = True
            self._state = self._state._replace(expected=None, distant=())
        out.append(buffer[self._done : told] if told > self._done else b"")
        if told - start > 2 * TRIMMED:
            start = _kept_from(buffer, told - TRIMMED)
            self._state = self._state._replace(expected=None, distant=())
        self._rest = buffer[start:]
        self._base, self._done = base - start, max(told, self._done) - start
        self._room = self._base + WINDOW - len(self._rest)
        return out

    def _whole(self, data: bytes, out: list[Piece]) -> int:
        """Look at the whole lines of what came, copied only where a rule may apply; returns where the rest of it begins.

        A worker that has nothing to do searches one part while this searches another; what was found is judged in order.
        """
        if self._within or self._swallowing is not None:
            return 0
        place = 0
        if held := len(self._rest) + sum(map(len, self._more)):
            # Of much the line alone that was begun, since it is copied.
            room = max(0, WINDOW - held)
            cut = _whole_lines(data, 0, held) if len(data) < _AT_ONCE else _line_end(data, 0, room)
            if cut < 0:
                return 0
            self._lines(b"".join((self._rest, *self._more, memoryview(data)[:cut])), None, out)
            self._more.clear()
            place = cut
        while parts := _parts(data, place):
            others = parts[1:] if helped() else []
            ahead = [Ahead(functools.partial(search, data, *part)) for part in others]
            for part, searched in itertools.zip_longest(parts, [None, *ahead]):
                for low, high, found in search(data, *part) if searched is None else searched.result():
                    if found is None and self._state == _NOTHING and not self._rules.patterns:
                        out.append(memoryview(data)[low:high])
                        self._tally.looked_at += high - low
                        continue
                    look = Look(data[low:high], final=True) if found is None else found
                    # A text with colours was searched without them.
                    text = look.text if len(look.text) == high - low else data[low:high]
                    self._lines(text, look, out)
            place = parts[-1][1]
        return place

    def _lines(self, text: bytes, found: Look | None, out: list[Piece]) -> None:
        """Give out whole lines, secrets replaced; ``found`` is what was found in them."""
        scanned = self._scan(text, 0, len(text), final=True, found=found)
        self._state = scanned.state
        self._replace(text, 0, scanned.spans, out)
        out.append(text[self._done :])
        self._rest, self._base, self._done = b"", 0, 0

    def _replace(self, buffer: bytes, start: int, spans: list[Span], out: list[Piece]) -> None:
        """Give out everything up to the last secret, secrets replaced."""
        for first, last, kind, begins in spans:
            if last + start > self._done:
                out.append(buffer[self._done : max(first + start, self._done)])
                if begins:
                    out.append(self._placeholder(kind))
                self._done = last + start

    def _placeholder(self, kind: str) -> bytes:
        counts = self._tally.counts
        counts[kind] = counts.get(kind, 0) + 1
        return b"[REDACTED: %b]" % kind.encode()


def _kept_from(buffer: bytes, start: int) -> int:
    """Where what is kept of a line begins: a cookie may stand far behind the name of its header, and a colour is kept whole."""
    low = max(0, start - LONGEST_COOKIE)
    headers = [at for name in (b"ookie", b"OOKIE") if (at := buffer.rfind(name, low, start + TRIMMED)) >= 0]
    kept = min([start, *(at - _BEFORE_COOKIE for at in headers if at >= _BEFORE_COOKIE)])
    escape = buffer.rfind(b"\x1b", max(0, kept - LONGEST_COLOUR), kept)
    within = escape >= 0 and (colour := COLOUR.match(buffer, escape)) and colour.end() > kept
    return escape if within else kept


def _line_end(buffer: bytes, base: int, reach: int) -> int:
    """The end of the line that was looked at in steps; -1 if it is not there."""
    start = max(0, base)  # what is before is not kept any more
    feed = buffer.find(b"\n", start, reach)
    carriage = buffer.find(
        b"\r", start, reach if feed < 0 else feed
    )  # three times as fast as one search for both
    end = feed if carriage < 0 else carriage
    return -1 if end < 0 else end + 1


def _parts(data: bytes, place: int) -> list[tuple[int, int]]:
    """Where some parts of whole lines begin and end from a place on."""
    parts: list[tuple[int, int]] = []
    while len(parts) < _PARTS and (cut := _whole_lines(data, place, 0)) >= 0:
        parts.append((place, cut))
        place = cut
    return parts


def _whole_lines(buffer: bytes, start: int, held: int) -> int:
    """The end of lines of which none is longer than a window, ``held`` bytes before the first; -1 if there is none."""
    cut = -1
    place = start
    while place - start < _AT_ONCE:
        reach = max(place, place + WINDOW - (held if cut < 0 else 0))
        end = line_start(buffer, reach, place)
        if end == place:
            break
        cut = place = end
    return cut
