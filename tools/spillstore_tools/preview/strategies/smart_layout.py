"""How ``smart`` deals out the room: a short head, a longer tail, then excerpts by rank.

The first cause comes before its consequences, and one line of each kind before a second of any. Room that is left over
lengthens tail and head. Three or more equal lines are shown as one and a gap.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.preview.parts import Note, length_of
from spillstore_tools.preview.scan.position import Position
from spillstore_tools.preview.strategies.actionable import STRONG, SURE, score
from spillstore_tools.preview.strategies.candidate import Near, ranked
from spillstore_tools.preview.strategies.ends import beginning, ending
from spillstore_tools.preview.strategies.fit import marker_width, merged, with_marker
from spillstore_tools.preview.strategies.novelty import Novelty
from spillstore_tools.preview.text.runs import runs

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Gap, Part
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.candidate import Candidate
    from spillstore_tools.preview.strategies.ends import End
    from spillstore_tools.preview.strategies.request import Request
    from spillstore_tools.preview.text.lines import Line

_WIDEST, _WIDE, _NARROW, _BESIDE = Near(4, 6), Near(3, 5), Near(3, 4), Near(2, 2)
_BLOCK, _ABOVE_IT, _ALONE = Near(0, 0), Near(3, 0, block=False), Near(0, 0, block=False)
_NEXT = 16  # lines from the one that matters most to a block that goes on with it
_SMALL = 2  # lines of a block that is shown beside strong lines wherever it stands
_CLEAR = 12  # the score of a line that says itself what is wrong
_OF_MANY = 2  # candidates with many like them that may have neighbours
_LEAST = 2  # neighbours of what matters most that are shown whatever they tell
_ABOVE = 20  # lines of the end above the first of those in it that report a failure
_QUIET = 20  # lines of an end that reports none, beside others that do
_OFTEN = 5  # lines like one that is shown, behind which the neighbours of most tell nothing
_FEW = 2  # lines that are not strong, beside strong ones
_PASSING = 3  # candidates, behind which a word in passing far from what is sure tells nothing
_FEW_STRONG = 2  # excerpts of a run that went well
_HEAD_SHARE, _TAIL_SHARE = 0.08, 0.25
_ENOUGH = 3000  # code points, behind which only strong lines are shown
_OF_A_KIND = 0.75  # of a line's score, for each one of its kind that came before it
_MOST_OF_A_KIND = 6  # candidates that are shown
_BRIEF = 1200  # of a run that went well
_VERDICT = 600  # code points at the end, where a run says that it went well
_WELL = re.compile(
    r"(?im)\b[1-9]\d* (?:tests? )?pass(?:ed|ing)\b|\bbuild succe(?:ss|eded)|^\W*(?:test result: |result: )?(?:ok|success)\b.{0,20}$"
    r"|\b(?:successfully (?:built|installed|completed|finished)|(?:completed|finished) successfully|all (?:tests|checks) passed)"
    r"|\b(?:finished|completed|done|built|added|compiled)\b.{0,60}\bin \d|\bup[ -]to[ -]date\W*$|\b0 (?:errors|failures|failed)\b"
)
_SHORTEST = len("1: \n")  # what a line takes
LINE = 400


class _Note(NamedTuple):
    """What is said of lines like one that is shown, and how many they are."""

    text: str
    more: int


@dataclasses.dataclass(slots=True)
class _Dealt:
    """What of the room is taken.

    Attributes:
        used: code points.
        enough: code points behind which only strong lines are shown.
        rank: candidates that are shown.
        aside: those of them that are no failures, beside lines that are.
        sure: the numbers of those that cannot be a word in passing.
        kinds: candidates of each kind that were met.
    """

    used: int
    enough: int
    rank: int = 0
    aside: int = 0
    sure: list[int] = dataclasses.field(default_factory=list)
    kinds: Counter[str] = dataclasses.field(default_factory=Counter)

    @property
    def plenty(self) -> bool:
        """Whether enough is shown."""
        return self.used > self.enough

    def take(self, candidate: Candidate, cost: int, *, aside: bool) -> None:
        """Count a candidate that is shown."""
        self.used += cost
        self.rank += 1
        self.aside += aside
        if candidate.score >= SURE:
            self.sure.append(candidate.line.number)


class Layout:
    """Deals out the room."""

    def __init__(self, overview: Overview, request: Request, room: int) -> None:
        self._overview = overview
        self._request = request
        self._line_limit = request.line_limit or LINE
        self._marker = marker_width(overview, request)
        self._room = room
        self._excerpts: dict[int, Line] = {}  # by number
        self._at: dict[int, int] = {}  # code points before each excerpt
        self._notes: dict[int, _Note] = {}
        self._rests: dict[int, Gap] = {}  # of the lines behind an excerpt that show the same
        self._clips: dict[int, list[Part]] = {}
        self._first = 0  # the number of the line that matters most
        self._telling: set[int] = set()  # numbers of the candidates' lines
        self._whole: set[int] = set()  # these, and the blocks of strong ones: no end leaves them out
        self._flooding: set[str] = set()  # kinds of lines that the ends have shown enough of
        self._strong = self._stands_out = self._went_well = False

    def fill(self, candidates: list[Candidate]) -> list[Part]:
        """The parts: both ends, and the excerpts between them that matter and that there is room for."""
        self._strong = any(candidate.score >= STRONG for candidate in candidates)
        self._stands_out = self._strong or any(candidate.rare for candidate in candidates)
        self._telling = {
            each.line.number
            for each in candidates
            if not each.flood and (each.score >= STRONG or not self._strong)
        }
        strong = (each for each in candidates if each.line.number in self._telling and each.score >= STRONG)
        ends = [each for each in strong if any(each.near_to(*end) for end in self._overview.kept)]
        self._whole = self._telling.union(*({line.number for line in each.near(_BLOCK)} for each in ends))
        head, tail = self._ends(_HEAD_SHARE, _TAIL_SHARE)
        enough = self._enough(tail)
        dealt = _Dealt(head.length + tail.length, enough)
        for candidate in ranked(candidates):
            if self._between(candidate.line, head, tail) and self._is_due(candidate, dealt):
                self._show(candidate, head, tail, dealt)
        dealt.used -= self._close_small_gaps(candidates) + self._collapse()
        return self._join(*self._lengthened(head, tail, min(self._room, enough) - dealt.used))

    def _is_due(self, candidate: Candidate, dealt: _Dealt) -> bool:
        """Whether a candidate tells something beside those that are shown; counts its kind."""
        dealt.kinds[candidate.kind] += 1
        times = dealt.kinds[candidate.kind]
        if times > _MOST_OF_A_KIND or (self._went_well and dealt.rank == _FEW_STRONG):
            return False
        if dealt.rank and dealt.plenty and candidate.score * _OF_A_KIND ** (times - 1) < STRONG:
            return False
        if dealt.rank >= _PASSING and self._in_passing(candidate, dealt.sure):
            return False
        return not (self._is_aside(candidate) and (candidate.flood or dealt.aside == _FEW))

    def _is_aside(self, candidate: Candidate) -> bool:
        """Whether it is no failure, beside lines that are, or not rare, beside lines that are."""
        return candidate.score < STRONG and (self._strong or (self._stands_out and not candidate.rare))

    def _show(self, candidate: Candidate, head: End, tail: End, dealt: _Dealt) -> None:
        """Take a candidate, with as many neighbours as there is room for; nothing if there is none for the line alone."""
        note = self._note(candidate)
        if dealt.used + self._cost([candidate.line]) + len(note) > self._room:
            return
        rank = dealt.rank or int(candidate.later)
        for most in self._near(candidate, rank, plenty=dealt.plenty):
            near = self._context(candidate, most, 0 if rank else _LEAST)
            wanted = [line for line in near if self._between(line, head, tail)]
            cost = self._cost(wanted) + len(note)
            if dealt.used + cost > self._room:
                continue
            self._first = self._first or candidate.line.number
            dealt.take(candidate, cost, aside=self._is_aside(candidate))
            self._take(candidate, wanted)
            if note:
                self._notes[candidate.line.number] = _Note(note, candidate.more)
            return

    def _near(self, candidate: Candidate, rank: int, *, plenty: bool) -> list[Near]:
        """How many neighbours a candidate may have, from the most to none: fewer where others tell more."""
        if candidate.more >= _OFTEN:
            return [_ALONE] if rank >= _OF_MANY else [_ABOVE_IT if rank else _BESIDE, _ALONE]
        if self._is_aside(candidate):
            most = [_BLOCK]
        elif plenty or self._went_well:
            most = [_BESIDE]
        elif rank or candidate.rare:
            most = [_NARROW, _BESIDE]
        else:
            most = [_WIDE, _NARROW, _BESIDE]
            if candidate.score < _CLEAR:
                most.insert(0, _WIDEST)
        if rank and not self._belongs(candidate):
            most = [each._replace(block=False) for each in most]
        return [*most, _ALONE]

    def _in_passing(self, candidate: Candidate, sure: list[int]) -> bool:
        """Whether it only holds a word that may stand anywhere, far from those that are sure."""
        number = candidate.line.number
        return (
            bool(sure)
            and not candidate.rare
            and STRONG <= candidate.score < SURE
            and not any(each < number <= each + _NEXT for each in sure)
        )

    def _belongs(self, candidate: Candidate) -> bool:
        """Whether a block is that of what matters most, a little above, or so small that it tells what its first line does."""
        number = candidate.line.number
        return (
            self._first < number <= self._first + _NEXT or not {number + _SMALL, number - 1} & candidate.block
        )

    def _enough(self, tail: End) -> int:
        """Code points behind which only what matters most is shown: few where all went well, all there are where nothing stands out."""
        words = "".join(part.text for part in tail.parts)[-_VERDICT:]
        self._went_well = (
            self._request.ended_well is not False
            and bool(_WELL.search(words))
            and not any(score(line) >= STRONG for line in words.split("\n"))
        )
        if self._strong and self._request.ended_well is not True:
            self._went_well = False
        if self._went_well:
            return _BRIEF
        return _ENOUGH if self._strong else self._room

    def _context(self, candidate: Candidate, most: Near, least: int) -> list[Line]:
        """A candidate and its neighbours up to the last on each side that tells something new, ``least`` whatever they tell."""
        near, number = candidate.near(most), candidate.line.number
        above = [line for line in reversed(near) if line.number < number]
        below = [line for line in near if line.number > number]
        least = 0 if candidate.rare else least
        common = candidate.common - self._telling
        above = Novelty(self._telling, self._flooding, common).told(above, least, names=True)
        below = Novelty(self._telling, self._flooding, common).told(below, 0 if candidate.more else least)
        heading = candidate.heading if most.before and not above else None
        top = [candidate.above[0]] if candidate.above and most.before and candidate.score >= STRONG else []
        return [*top, *([heading] if heading else reversed(above)), candidate.line, *below]

    def _between(self, line: Line, head: End, tail: End) -> bool:
        return line.start >= head.position.byte and line.end <= tail.position.byte

    def _close_small_gaps(self, candidates: list[Candidate]) -> int:
        """Show what lies between two excerpts where that takes no more room than to say that it is missing."""
        saved = 0
        known = {number: candidate for candidate in candidates for number in candidate.numbers}
        numbers = sorted(self._excerpts)
        for low, high in pairwise(numbers):
            between = range(low + 1, high)
            if not 0 < len(between) * _SHORTEST <= self._marker or not all(each in known for each in between):
                continue
            lines = [(known[number], known[number].neighbour(number)) for number in between]
            room = sum(self._line_cost(line) for _, line in lines)
            if room <= self._marker:
                saved += self._marker - room
                for candidate, line in lines:
                    self._take(candidate, [line])
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
        if candidate.above is not None and (line := candidate.above[0]) in wanted:
            self._excerpts[line.number] = line
            self._at[line.number] = at - candidate.above[1]
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
        room, start = self._room, Novelty(self._whole)
        head = beginning(self._overview, int(room * head_share), self._request, novelty=start)
        end = self._end()
        tail = ending(self._overview, int(room * tail_share), self._request, head.position, novelty=end)
        self._flooding = start.flooding | end.flooding
        return head, tail

    def _end(self) -> Novelty:
        return Novelty(self._whole, above=_ABOVE, quiet=_QUIET if self._strong or self._went_well else None)

    def _lengthened(self, head: End, tail: End, left: int) -> tuple[End, End]:
        """Both ends with what is left over, but no further than the nearest excerpt, nor beyond what tells something new."""
        if left <= 0:
            return head, tail
        overview, request = self._overview, self._request
        first, last = min(self._excerpts, default=0), max(self._excerpts, default=0)
        low = self._excerpts[first].start if first else tail.position.byte
        high = self._behind(last).byte if last else head.position.byte
        room = tail.length + int(left * (0.65 if first else 0.6))
        longer = ending(overview, room, request, Position(high, 0), novelty=self._end())
        if longer.length >= tail.length:
            left -= longer.length - tail.length
            tail = longer
        stop = min(low, tail.position.byte)
        room = head.length + left
        longer = beginning(overview, room, request, stop=stop, novelty=Novelty(self._whole))
        return (longer if longer.length >= head.length else head), tail

    def _behind(self, number: int) -> Position:
        """Where an excerpt ends, equal lines behind it included."""
        rest = self._rests.get(number)
        return (
            Position(rest.end, rest.last_line + 1)
            if rest
            else Position(self._excerpts[number].end, number + 1)
        )

    def _join(self, head: End, tail: End) -> list[Part]:
        """Head, excerpts and tail in order, a gap wherever something is missing."""
        parts: list[Part] = list(head.parts)
        place, chars = head.position, head.chars
        told = 0  # lines like one of the excerpt that goes on: the same number is told once
        for number, line in sorted(self._excerpts.items()):
            gap = self._gap(place, Position(line.start, number), self._at[number] - chars)
            parts += gap
            told = 0 if gap else told
            parts += [Note(self._label(line)), *self._clipped(line)]
            place, chars = self._behind(number), self._at[number] + line.chars
            if rest := self._rests.get(number):
                parts.append(rest)
                chars += rest.chars or 0
            if (note := self._notes.get(number)) and note.more != told:
                parts.append(Note(note.text))
                told = note.more
        parts += self._gap(place, tail.position, self._overview.chars - tail.chars - chars)
        return merged([*parts, *tail.parts])

    def _gap(self, low: Position, high: Position, chars: int) -> list[Part]:
        if low.byte >= high.byte:
            return []
        gap = self._overview.gap(low, high, chars)
        return [with_marker(gap, self._overview, self._request.marker)]
