"""``smart``: the head, the tail, and from the middle the lines that matter, each with a little context.

While the output passes, lines that hold a telling word are judged (``actionable``); the best are kept with their
neighbours, in bounded memory. When it has ended, the room is dealt out: a short head, a longer tail, then excerpts by
rank, the first cause before its consequences and one of each kind before a second of any; what is left over lengthens
tail and head. Where nothing stands out, the head and the tail get everything. Three or more equal lines are shown as
one and a gap. Diffs and source code up to a megabyte are cut between whole units instead (``units``).
"""

from __future__ import annotations

import dataclasses
from functools import partial
from itertools import accumulate, pairwise, takewhile
from typing import TYPE_CHECKING

from spillstore.settings import MIB
from spillstore_tools.preview.actionable import STRONG, Hints, score
from spillstore_tools.preview.clean import clean, clean_length, split_lines
from spillstore_tools.preview.element import replaced
from spillstore_tools.preview.lines import Line, runs
from spillstore_tools.preview.parts import Note, Shown, gaps_of, length_of
from spillstore_tools.preview.scan import Place
from spillstore_tools.preview.strategies import (
    beginning,
    ending,
    fitted,
    merged,
    nothing_shown,
    placed,
    register,
    widest,
)
from spillstore_tools.preview.units import cut_units

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Gap, Part
    from spillstore_tools.preview.scan import Block, Observer, Overview
    from spillstore_tools.preview.strategies import End, Request

_DIGITS = b"0123456789"
_HEXADECIMAL = b"0123456789abcdef"  # request ids and the like, once there are many kinds of lines
_FINE_KINDS = 1024
_JUDGED = 400  # characters of a line that are looked at
_BEFORE, _AFTER = 8, 10  # neighbours that are kept
_NEAR = (
    (8, 10),
    (2, 4),
    (1, 1),
    (0, 0),
)  # neighbours that are shown: of the first in rank, of others, at need
_WIDE = 3  # candidates that may have the most
_CONTEXT_BYTES = 600  # of a neighbour that is kept
_CANDIDATES = 400
_CANDIDATE_BYTES = 8 * 1024 * 1024  # of their own lines, which may be long
_TEMPLATES = 8192
_TEMPLATE_BYTES = 256
_HITS = 48  # in one block, before it is looked at as a whole
_JUDGED_LINES = ((4, 256), (32, 32), (128, 6), (1 << 62, 2))  # up to this block, so many lines of a block
_NARROWED = 16  # blocks after which hints that stand everywhere are given up
_HEAD_SHARE, _TAIL_SHARE = 0.12, 0.28
_LINE = 400
_FEW_LINES = 16  # which share the room, where some of them are long
_SHARES = (1, 1.2, 1.5, 2, 3, 4, 6)  # parts of the room that one of them may have, the largest first


@dataclasses.dataclass(slots=True)
class Candidate:
    """A line that matters.

    Attributes:
        line: the line.
        score: how much it matters.
        kind: what lines like it have in common.
        around: the line and its neighbours in the same block.
        chars_before: code points of the output before the line.
        more: how many later lines differ from it in digits alone, or behind their first 256 bytes.
        last: the last of them.
    """

    line: Line
    score: float
    kind: str
    around: list[Line]
    chars_before: int
    more: int = 0
    last: int = 0

    def near(self, before: int, after: int) -> list[Line]:
        """The line, and some of its neighbours."""
        number = self.line.number
        return [line for line in self.around if number - before <= line.number <= number + after]


class Watcher:
    """Judges lines as they pass."""

    def __init__(self) -> None:
        self._hints = Hints()
        self._terminator = b"\n"
        self._templates: dict[bytes, Candidate | None] = {}
        self._folded = _DIGITS
        self._blocks = 0
        self.candidates: list[Candidate] = []
        self._held = 0  # bytes of the candidates' lines
        self._chars = 0  # code points before the block
        self._counted = (0, 0)  # bytes of the block, and the code points they are
        self._left = 0  # lines of the block that may still be judged

    def block(self, block: Block) -> None:
        """Judge the lines of a block."""
        self._terminator = block.terminator
        if block.long is not None:
            self._judge_long(block)
        else:
            self._judge_lines(block)
        self._chars += block.chars

    def _judge_lines(self, block: Block) -> None:
        """Line by line where telling words are rare, else the whole block at once, known kinds of lines first."""
        self._counted = (0, 0)
        self._left = next(most for blocks, most in _JUDGED_LINES if self._blocks < blocks)
        self._blocks += 1
        if self._blocks % _NARROWED == 0:
            self._hints.narrow()
        raw, end_of_line = block.raw, self._terminator
        position, number, counted = 0, block.first_line, 0
        for _ in range(_HITS):
            hit = self._hints.search(raw, position)
            if hit < 0:
                return
            hit += raw.startswith(end_of_line, hit)  # what stands before a word may end the line before
            start = raw.rfind(end_of_line, 0, hit) + 1
            position = (raw.find(end_of_line, hit) + 1) or len(raw)
            number += raw.count(end_of_line, counted, start)
            counted = start
            self._look(block, start, position, number)
            if position >= len(raw):
                return
        self._judge_rest(block, position, number + 1)

    def _judge_rest(self, block: Block, position: int, number: int) -> None:
        rest = block.raw[position:]
        lines = split_lines(rest, self._terminator)
        keys = rest.translate(None, self._folded).split(self._terminator)
        known = self._templates
        told = [index for index, key in enumerate(keys) if known.get(key, 1) is not None]
        starts = list(accumulate(map(len, lines), initial=position))
        for index in told:
            if index >= len(lines):
                break  # behind the last line end
            line = lines[index]
            if self._hints.search(line) >= 0:
                folded = self._folded
                self._look(block, starts[index], starts[index + 1], number + index)
                if self._folded is not folded:
                    self._judge_rest(block, starts[index + 1], number + index + 1)
                    return
            elif len(known) < _TEMPLATES and len(keys[index]) <= _TEMPLATE_BYTES:
                known[keys[index]] = None  # dull, and known to be from now on

    def _look(self, block: Block, start: int, end: int, number: int) -> None:
        """Count a line of a known kind; judge one of a new kind."""
        key = block.raw[start:end].translate(None, self._folded).removesuffix(self._terminator)
        key = key[:_TEMPLATE_BYTES]
        if key not in self._templates:
            if self._left:
                self._left -= 1
                self._judge(block, key, start, end, number)
        elif (known := self._templates[key]) is not None:
            known.more += 1
            known.last = number

    def _judge(self, block: Block, key: bytes, start: int, end: int, number: int) -> None:
        overwritten = block.raw.find(b"\r", start, end - 2) >= 0  # so that what shows may stand at the end
        judged = end if overwritten else min(end, start + 2 * _JUDGED)
        text = clean(block.raw[start:judged], self._terminator)[:_JUDGED].rstrip("\n")
        points = score(text)
        candidate = None
        if points >= 1:
            around = _neighbours(block, start, end, number, self._terminator)
            line = next(line for line in around if line.number == number)
            candidate = Candidate(line, points, _kind(text), around, self._chars_before(block, start))
            self._keep(candidate)
        self._remember(key, candidate)

    def _remember(self, key: bytes, candidate: Candidate | None) -> None:
        if len(self._templates) < _TEMPLATES:
            self._templates[key] = candidate
        if len(self._templates) >= _FINE_KINDS and self._folded is _DIGITS:
            self._folded = _HEXADECIMAL
            self._templates = {
                key.translate(None, _HEXADECIMAL): known for key, known in self._templates.items()
            }

    def _chars_before(self, block: Block, start: int) -> int:
        if not block.counted:
            return self._chars  # nobody will ask
        counted, chars = self._counted
        chars += clean_length(block.raw[counted:start], self._terminator)
        self._counted = (start, chars)
        return self._chars + chars

    def _judge_long(self, block: Block) -> None:
        line = block.long
        assert line is not None  # the caller asked
        points = score(line.text[:_JUDGED])
        if points >= 1:
            self._keep(Candidate(line, points, _kind(line.text[:_JUDGED]), [line], self._chars))

    def _keep(self, candidate: Candidate) -> None:
        self.candidates.append(candidate)
        self._held += candidate.line.held
        if len(self.candidates) >= 2 * _CANDIDATES or self._held > _CANDIDATE_BYTES:
            self._drop_the_least()

    def _drop_the_least(self) -> None:
        best: list[Candidate] = []
        self._held = 0
        for candidate in sorted(self.candidates, key=lambda each: (-each.score, each.line.number)):
            if len(best) == _CANDIDATES or (best and self._held > _CANDIDATE_BYTES // 2):
                break
            best.append(candidate)
            self._held += candidate.line.held
        self.candidates = sorted(best, key=lambda each: each.line.number)
        kept = {id(candidate) for candidate in best}
        for key, known in self._templates.items():
            if known is not None and id(known) not in kept:
                self._templates[key] = None


def _kind(text: str) -> str:
    """The letters of a line's beginning and end: what is left when places and numbers are gone."""
    letters = "".join(filter(str.isalpha, text))
    return letters[:24] + letters[-16:]


def _neighbours(block: Block, start: int, end: int, number: int, terminator: bytes) -> list[Line]:
    raw = block.raw
    spans = [(start, end)]
    low, high = start, end
    for _ in range(_BEFORE):
        if low == 0:
            break
        before = raw.rfind(terminator, 0, low - 1) + 1
        if low - before > _CONTEXT_BYTES:
            break
        spans.insert(0, (before, low))
        low, number = before, number - 1
    for _ in range(_AFTER):
        after = raw.find(terminator, high) + 1
        if high >= len(raw) or not after or after - high > _CONTEXT_BYTES:
            break
        spans.append((high, after))
        high = after
    return [
        Line(number + index, block.start + low, raw[low:high], terminator)
        for index, (low, high) in enumerate(spans)
    ]


class Smart:
    """The strategy; see the module."""

    keep_bytes = MIB  # a diff or source code is cut as a whole

    def observer(self) -> Observer | None:
        """Judges the lines."""
        return Watcher()

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Strategy``; never None."""
        if overview.chars <= request.limit and (text := overview.text()) is not None:
            return [Shown(text, 0, overview.size)]
        if widest(overview, request) >= request.limit // 2:
            return nothing_shown(overview, request)
        if (units := _units(overview, request)) is not None:
            return units
        watcher = overview.observer
        candidates = watcher.candidates if isinstance(watcher, Watcher) and request.actionable else []
        least = min(request.line_limit or _LINE, request.limit // 8)
        # Few lines share the room: as much of each as lets all of them be shown.
        shares = [int(request.limit / share) for share in _SHARES] if overview.lines <= _FEW_LINES else []
        for line_limit in (*shares, least):
            wanted = dataclasses.replace(request, line_limit=line_limit, repeats=True)
            parts = fitted(overview, wanted, partial(_filled, overview, wanted, candidates))
            if line_limit == least or all(
                gap.first_line == gap.last_line and not gap.lines for gap in gaps_of(parts)
            ):
                break
        return parts


def _filled(overview: Overview, request: Request, candidates: list[Candidate], room: int) -> list[Part]:
    return _Layout(overview, request, room).fill(candidates)


def _units(overview: Overview, request: Request) -> list[Part] | None:
    """Diffs and source code between whole units; None for anything else."""
    text = overview.text() if request.whole_units and overview.size <= MIB else None
    if text is None:
        return None
    cuts = cut_units(text, request.limit, source_hint=request.hint)
    return replaced(overview, text, cuts, request.limit) if cuts else None


class _Layout:
    """Deals out the room."""

    def __init__(self, overview: Overview, request: Request, room: int) -> None:
        self._overview = overview
        self._request = request
        self._line_limit = request.line_limit or _LINE
        self._marker = widest(overview, request)
        self._room = room
        self._excerpts: dict[int, Line] = {}  # by number
        self._at: dict[int, int] = {}  # code points before each excerpt
        self._notes: dict[int, str] = {}
        self._rests: dict[int, Gap] = {}  # of the lines behind an excerpt that show the same
        self._clips: dict[int, list[Part]] = {}

    def fill(self, candidates: list[Candidate]) -> list[Part]:
        head, tail = self._ends(_HEAD_SHARE, _TAIL_SHARE)
        used = head.length + tail.length
        rank = 0
        for candidate in _ranked(candidates):
            if not self._between(candidate.line, head, tail):
                continue
            note = self._note(candidate)
            for before, after in _NEAR[0 if rank < _WIDE else 1 :]:
                wanted = [line for line in candidate.near(before, after) if self._between(line, head, tail)]
                cost = self._cost(wanted) + len(note)
                if used + cost <= self._room:
                    used += cost
                    rank += 1
                    self._take(candidate, wanted)
                    if note:
                        self._notes[candidate.line.number] = note
                    break
        used -= self._close_small_gaps(candidates) + self._collapse()
        return self._join(*self._lengthened(head, tail, self._room - used))

    def _between(self, line: Line, head: End, tail: End) -> bool:
        return line.start >= head.place.byte and line.end <= tail.place.byte

    def _close_small_gaps(self, candidates: list[Candidate]) -> int:
        """Show what lies between two excerpts where that takes no more room than to say that it is missing."""
        saved = 0
        known = {line.number: (candidate, line) for candidate in candidates for line in candidate.around}
        numbers = sorted(self._excerpts)
        for low, high in pairwise(numbers):
            between = range(low + 1, high)
            if not between or not all(number in known for number in between):
                continue
            room = sum(self._line_cost(known[number][1]) for number in between)
            if room <= self._marker:
                saved += self._marker - room
                for number in between:
                    self._take(known[number][0], [known[number][1]])
        return saved

    def _collapse(self) -> int:
        """Show equal excerpts that follow each other as one; returns the room that this gains."""
        saved = 0
        for run in list(runs(self._excerpts[number] for number in sorted(self._excerpts))):
            rest = run.rest(self._request.repeat_marker)
            if rest is None or any(
                each in self._notes for each in range(rest.first_line, rest.last_line + 1)
            ):
                continue
            for number in range(rest.first_line, rest.last_line + 1):
                saved += self._line_cost(self._excerpts.pop(number))
            saved -= len(rest.text)
            self._rests[run.first.number] = rest
        return saved

    def _take(self, candidate: Candidate, wanted: list[Line]) -> None:
        at = candidate.chars_before - sum(
            line.chars for line in candidate.around if line.number < candidate.line.number
        )
        for line in candidate.around:
            if line in wanted:
                self._excerpts[line.number] = line
                self._at[line.number] = at
            at += line.chars

    def _line_cost(self, line: Line) -> int:
        return length_of(self._clipped(line)) + len(self._label(line))

    def _note(self, candidate: Candidate) -> str:
        if not candidate.more:
            return ""
        last = candidate.last + self._request.first_line - 1
        note = f"  [and {candidate.more} more like this, to line {last}]\n"
        return note if candidate.line.ended else f"\n{note}"

    def _label(self, line: Line) -> str:
        return f"{line.number + self._request.first_line - 1}: "

    def _clipped(self, line: Line) -> list[Part]:
        if line.number not in self._clips:
            self._clips[line.number] = line.clipped(self._line_limit, self._request.clip_marker)
        return self._clips[line.number]

    def _cost(self, lines: list[Line]) -> int:
        """Code points that it takes to show these neighbours as well, and the gaps around them."""
        new = {line.number: line for line in lines if line.number not in self._excerpts}
        borders = sum((number + 1 in new) + (number + 1 in self._excerpts) for number in new)
        borders += sum(number - 1 in self._excerpts for number in new)
        return sum(map(self._line_cost, new.values())) + self._marker * (len(new) - borders)

    def _ends(self, head_share: float, tail_share: float) -> tuple[End, End]:
        room = self._room
        head = beginning(self._overview.forward(), int(room * head_share), self._request)
        tail = ending(
            self._overview.backward(), int(room * tail_share), self._request, head.place, self._overview
        )
        return head, tail

    def _lengthened(self, head: End, tail: End, left: int) -> tuple[End, End]:
        """Both ends with what is left over, but no further than the nearest excerpt."""
        if left <= 0:
            return head, tail
        overview, request = self._overview, self._request
        first, last = min(self._excerpts, default=0), max(self._excerpts, default=0)
        low = self._excerpts[first].start if first else tail.place.byte
        high = self._behind(last).byte if last else head.place.byte
        room = tail.length + int(left * (0.65 if first else 0.6))
        longer = ending(overview.backward(), room, request, Place(high, 0), overview)
        if longer.length >= tail.length:
            left -= longer.length - tail.length
            tail = longer
        stop = min(low, tail.place.byte)
        lines = takewhile(lambda line: line.end <= stop, overview.forward())
        longer = beginning(lines, head.length + left, request)
        return (longer if longer.length >= head.length else head), tail

    def _behind(self, number: int) -> Place:
        """Where an excerpt ends, equal lines behind it included."""
        rest = self._rests.get(number)
        return Place(rest.end, rest.last_line + 1) if rest else Place(self._excerpts[number].end, number + 1)

    def _join(self, head: End, tail: End) -> list[Part]:
        """Head, excerpts and tail in order, a gap wherever something is missing."""
        parts: list[Part] = list(head.parts)
        place, chars = head.place, head.chars
        for number, line in sorted(self._excerpts.items()):
            parts += self._gap(place, Place(line.start, number), self._at[number] - chars)
            parts += [Note(self._label(line)), *self._clipped(line)]
            place, chars = self._behind(number), self._at[number] + line.chars
            if rest := self._rests.get(number):
                parts.append(rest)
                chars += rest.chars or 0
            if note := self._notes.get(number):
                parts.append(Note(note))
        parts += self._gap(place, tail.place, self._overview.chars - tail.chars - chars)
        return merged([*parts, *tail.parts])

    def _gap(self, low: Place, high: Place, chars: int) -> list[Part]:
        if low.byte >= high.byte:
            return []
        gap = self._overview.gap(low, high, chars)
        return [placed(gap, self._overview, self._request.marker)]


def _ranked(candidates: list[Candidate]) -> list[Candidate]:
    """By score; the first strong one first, and less for each one more of a kind."""
    ranked = []
    seen: dict[str, int] = {}
    first = True
    for candidate in sorted(candidates, key=lambda each: each.line.number):
        points = candidate.score - min(4, candidate.more / 50)
        if first and points >= STRONG:
            points, first = points + 6, False
        times = seen[candidate.kind] = seen.get(candidate.kind, 0) + 1
        ranked.append((-points * 0.75 ** (times - 1), candidate.line.number, candidate))
    return [candidate for _, _, candidate in sorted(ranked, key=lambda each: each[:2])]


register("smart", Smart)
