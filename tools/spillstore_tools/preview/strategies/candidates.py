"""The lines of an output that matter most, found while it passes, with their neighbours, in bounded memory.

Only lines that hold a telling word are scored (``actionable``), and of lines that differ in their digits alone only the
first one.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from typing import TYPE_CHECKING

from spillstore.line_kinds import number_of
from spillstore.runtime import lazy_patterns as re
from spillstore_tools.preview.strategies.actionable import (
    FAILED_ANSWER,
    STRONG,
    SURE,
    Hints,
    counts_none,
    counts_some,
)
from spillstore_tools.preview.strategies.candidate import Around, Candidate, drowned
from spillstore_tools.preview.strategies.passages import LongPassages, best_passage, place_in
from spillstore_tools.preview.strategies.rare import CharsBefore, RareLines, breaks_pattern, has_words
from spillstore_tools.preview.text.clean import clean, clean_length
from spillstore_tools.preview.text.lines import Line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spillstore.line_filter import Word
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.strategies.rare import Kinds, Spot
    from spillstore_tools.preview.text.long_line import LongLine

_DIGITS = b"0123456789"
_HEXADECIMAL = b"0123456789abcdef"  # request ids and the like, once there are many kinds of lines
_FINE_KINDS = 1024
_PASSAGES = ((32, 16), (1 << 62, 2))  # up to this block, so many passages of a long line are looked at
_BEFORE, _AFTER = 8, 17  # neighbours that are kept
_CONTEXT_BYTES = 600  # of a neighbour that is kept
_CANDIDATES = 400
_CANDIDATE_BYTES = 8 * 1024 * 1024  # of their own lines, which may be long
_TEMPLATES = 8192
_TEMPLATE_BYTES, _TEMPLATE_END = 256, 64  # of a line's two ends, and of its end
_HITS = 48  # in one block, before lines of known kinds are left out
_SCORED_LINES = ((4, 256), (32, 32), (128, 6), (1 << 62, 2))  # up to this block, so many lines of a block
_OF_HARMLESS = 1 / 4  # of what a line that matters takes of these, so that no flood of others hides it
_RARE = 6  # the score of a rare line: below what is strong, above a warning
_FEW_RARE = (
    (4, 0),
    (8, 24),
    (24, 64),
)  # runs of rare lines that tell much, and that tell anything: of a run that ended well, beside strong lines, without any
_NEW_KIND = 3  # the score of a line from which on lines are of another kind, where nothing else stands out
_ALSO_RARE = 2  # what a line that holds a telling word has more where it is rare
_COUNTED = 16  # lines of a block that count failures, and are looked at for that alone
_STATUS = b"\0!"  # what those end in of answers that failed, whatever the numbers in the line
_FAILED = re.compile(FAILED_ANSWER.encode())
_SOME = b"\0+"  # what their keys end in; no letter that is left out of keys
_AGAIN, _LOOKED = 4, 16  # later lines of a candidate's kind that are kept, and that are looked at
_AGAIN_IN_ALL = 256  # of all kinds, since each has neighbours of up to 15 KB
_SCORED_OF_A_KIND = 24  # lines of one kind, however their names differ
_PARAGRAPH = 16 * 1024  # bytes above a line in which its heading is looked for
_HEADING = re.compile(rb"([#=*>-])\1+ \w|.*?(\S)\2{3,}\s*\Z")  # a line that signs set apart
_NARROWED = 16  # blocks after which hints that stand everywhere are given up


class CandidateFinder:
    """The observer that scores lines as they pass and keeps the best ones.

    Attributes:
        candidates: the lines kept so far, in order.
    """

    telling = staticmethod(place_in)

    def __init__(self) -> None:
        self._hints = Hints()
        self._terminator = b"\n"
        self._templates: dict[bytes, Candidate | None] = {}
        self._held_hints: dict[bytes, bytes] = {}  # the hint that lines of a kind hold
        self._ignored = _DIGITS
        self._blocks = 0
        self.candidates: list[Candidate] = []
        self._held = 0  # bytes of the candidates' lines
        self._again = 0  # later lines that they have
        self._chars = 0  # code points before the block
        self._rare = RareLines()
        self._scored: dict[int, int] = {}  # lines of each kind
        self._long = LongPassages()  # of the line that comes in pieces
        self._left = 0.0  # lines of the block that may still be scored
        self._blank = (-1, False)  # the block that a blank line was looked for in, and whether it has one
        self._counts = False  # whether there was a line that counts failures, none of them
        self._seen = (0, 0)  # from where to where bytes were searched ahead
        # The lines found: where each and the next begin, its number, where a hint may be, and the word there.
        self._ahead: deque[tuple[int, int, int, int, Word | None]] = deque()

    def ahead(self, start: int, line: int, data: bytes, terminator: bytes, cuts: Sequence[int]) -> None:
        """Count the lines and find those that may hold a telling word, in one call each: it lets go of the interpreter's lock."""
        if cuts:
            self._rare.ahead(start, line, data, terminator, cuts)
        self._seen = (start, start + len(data))
        self._ahead = deque(
            (start + first, start + after, line + before, start + place, word)
            for first, after, before, place, word in self._hints.lines(data, terminator)
        )

    def _lines(self, block: Block) -> Iterable[tuple[int, int, int, int, Word | None]]:
        """As in ``Hints``, of a block; a line found ahead may hold only a hint that was given up since."""
        if not (self._seen[0] <= block.start and block.end <= self._seen[1]):
            yield from self._hints.lines(block.raw, self._terminator)
            return
        found = self._ahead
        while found and found[0][0] < block.end:
            first, after, number, place, word = found.popleft()
            if first >= block.start:
                at = block.start
                yield first - at, after - at, number - block.first_line, place - at, word

    def block(self, block: Block) -> None:
        """Score the lines of a block."""
        self._terminator = block.terminator
        if block.long is not None:
            self._score_long(block)
        else:
            self._rare.block(block, CharsBefore(block, self._chars, self._terminator), self._terminator)
            self._score_lines(block)
        self._chars += block.chars

    def piece(self, line: LongLine, data: bytes) -> None:  # noqa: ARG002  # the interface
        """Look at the next piece of a line that is not held."""
        self._long.add(line)

    def _score_lines(self, block: Block) -> None:
        """Score the lines that hold a telling word; where there are many, known kinds that are of no interest are left out."""
        self._chars_before = CharsBefore(block, self._chars, self._terminator)
        self._left = float(next(most for blocks, most in _SCORED_LINES if self._blocks < blocks))
        self._blocks += 1
        if self._blocks % _NARROWED == 0 and (given_up := self._hints.narrow()):
            self._held_hints = {key: hint for key, hint in self._held_hints.items() if hint not in given_up}
        raw, hits = block.raw, 0
        for start, end, before, place, word in self._lines(block):
            key = self._key(raw[start:end])
            if hits >= _HITS and self._templates.get(key, self) is None:
                continue
            if (hint := self._held_hints.get(key)) is not None:
                self._hints.count(hint)
            elif (hint := self._hints.found(raw, start, end, place, word)) is None:
                continue
            elif len(self._held_hints) < _TEMPLATES:
                self._held_hints[key] = hint
            hits += 1
            self._meet(block, key, start, end, block.first_line + before)
        if self._counts:
            self._score_counts(block)

    def _score_counts(self, block: Block) -> None:
        """Score lines that count some failures where others like them have counted none; digits apart they are the same."""
        raw, at, number = block.raw, 0, block.first_line
        for _ in range(_COUNTED):
            found = counts_some().search(raw, at)
            if found is None:
                return
            start = raw.rfind(self._terminator, 0, found.start()) + 1
            end = raw.find(self._terminator, found.start()) + 1 or len(raw)
            number += raw.count(self._terminator, at, start)
            key = self._key(raw[start:end])
            if self._templates.get(key, self) is None:
                self._meet(block, key + _SOME, start, end, number)
            number += 1
            at = end

    def _key(self, line: bytes) -> bytes:
        """What lines of a kind share."""
        key = line.translate(None, self._ignored).removesuffix(self._terminator)
        if len(key) > _TEMPLATE_BYTES:
            key = key[: _TEMPLATE_BYTES - _TEMPLATE_END] + key[-_TEMPLATE_END:]
        return key + _STATUS if b"HTTP/" in line and _FAILED.search(line) else key

    def _meet(self, block: Block, key: bytes, start: int, end: int, number: int) -> None:
        """Count a line of a known kind; score one of a new kind."""
        if key not in self._templates:
            like = self._rare.kind(number)
            if like >= 0:
                like = -like - 1 if key.endswith(_STATUS) else like
                self._scored[like] = times = self._scored.get(like, 0) + 1
                if times > _SCORED_OF_A_KIND:
                    return
            if self._left > 0:
                self._left -= 1 if self._score(block, key, start, end, number) else _OF_HARMLESS
        elif (known := self._templates[key]) is not None:
            known.more += 1
            known.last = number
            self._meet_again(known, block, key, start, end, number)

    def _meet_again(
        self, known: Candidate, block: Block, key: bytes, start: int, end: int, number: int
    ) -> None:
        """Keep a line like one that matters, if others stand beside it than beside those before."""
        if known.score < STRONG or known.looked == _LOOKED or len(known.again) == _AGAIN:
            return
        known.looked += 1
        if self._again == _AGAIN_IN_ALL:
            return
        around = _neighbours(block.raw, block.start, start, end, number, self._terminator)
        if around.beside in (known.beside, *(each.beside for each in known.again)):
            return
        again = self._candidate(block, key, around, known.score, known.told)
        again.later = True
        known.again.append(again)
        self._again += 1

    def _score(self, block: Block, key: bytes, start: int, end: int, number: int) -> bool:
        """Score a line of a new kind; returns whether it is a candidate."""
        most = next(most for blocks, most in _PASSAGES if self._blocks <= blocks)
        points, _, text = best_passage(clean(block.raw[start:end], self._terminator), most)
        candidate = None
        if points >= 1:
            around = _neighbours(block.raw, block.start, start, end, number, self._terminator)
            candidate = self._candidate(block, key, around, points, text)
            self._keep(candidate)
        elif not self._counts and counts_none().search(block.raw, start, end):
            self._counts = True
        self._remember(key, candidate)
        return candidate is not None

    def _candidate(self, block: Block, key: bytes, around: Around, points: float, text: str) -> Candidate:
        return Candidate(
            around.line,
            points,
            text,
            around,
            self._chars_before.at(around.line.start - block.start),
            like=-1 if key.endswith(_STATUS) else self._rare.kind(around.line.number),
            kinds=self._rare.kinds(around.numbers),
            first=around.numbers[0],
            beside=around.beside,
            above=_above(block, around, self._terminator) if self._has_paragraphs(block) else None,
        )

    def _has_paragraphs(self, block: Block) -> bool:
        """Whether a block has a blank line; it is looked for once."""
        if self._blank[0] != block.start:
            self._blank = block.start, 2 * self._terminator in block.raw
        return self._blank[1]

    def _remember(self, key: bytes, candidate: Candidate | None) -> None:
        if len(self._templates) < _TEMPLATES:
            self._templates[key] = candidate
        if len(self._templates) >= _FINE_KINDS and self._ignored is _DIGITS:
            self._ignored = _HEXADECIMAL
            self._held_hints.clear()
            self._templates = {
                key.translate(None, _HEXADECIMAL): known for key, known in self._templates.items()
            }

    def _score_long(self, block: Block) -> None:
        line = block.long
        assert line is not None  # the caller asked
        line.telling = place_in
        self._long.end(line)
        points, _, text = self._long.best
        self._long = LongPassages()
        if points >= 1:
            self._keep(Candidate(line, points, text, [line], self._chars))

    def best(self, *, ended_well: bool | None = None) -> list[Candidate]:
        """The candidates, of which those are less that stand in floods; and, where kinds of lines tell something, the rare lines.

        Args:
            ended_well: whether the command ended with exit code 0: then only what is strong, and what is very rare. A log that is
                printed ends so, too, whatever it tells.
        """
        kinds = self._rare.found()
        candidates = [each for known in self.candidates for each in (known, *known.again)]
        best = {
            each.line.number: each
            for each in drowned(candidates, kinds.floods, kinds.is_routine)
            if not each.later
            or (not each.flood and (not kinds.told_apart or each.block - {each.line.number}))
        }
        strong = any(each.score >= STRONG for each in best.values())
        runs = kinds.runs if best or kinds.runs else kinds.named
        points = _points_of_rare(len(runs), least=bool(ended_well), strong=strong)
        telling = [run for run in runs if has_words(run) and breaks_pattern(run)] if strong else runs
        rare: set[int] = set()
        for run in runs if points else ():
            known = [best[spot.number] for spot in run if spot.number in best]
            for each in known:
                if each.score < STRONG:
                    best[each.line.number] = dataclasses.replace(
                        each, score=max(each.score, points) + _ALSO_RARE
                    )
            if run in telling and not any(each.score >= STRONG for each in known):
                best.setdefault(run[0].number, self._of(run, points, kinds))
            rare.update(spot.number for spot in run)
        if ended_well:
            best = {number: each for number, each in best.items() if each.score >= SURE or number in rare}
        if not best and (not ended_well or len(kinds.firsts) == 1):
            best = {spot.number: self._of([spot], _NEW_KIND, kinds) for spot in kinds.firsts}
        return [best[number] for number in sorted(best)]

    def _of(self, run: list[Spot], points: float, kinds: Kinds) -> Candidate:
        """The first of some rare lines, and around it the others and one more on either side, or the block that they stand in."""
        spot = run[0]
        around = _neighbours(spot.text, spot.at, spot.start, spot.end, spot.number, self._terminator)
        line = around.line
        known = dict(zip(range(spot.number - len(spot.above), spot.number), spot.above, strict=True))
        known |= dict(enumerate((spot.kind, *spot.below), spot.number))
        block = kinds.told_apart and frozenset(
            number for number, kind in known.items() if not kinds.is_routine(number_of(kind))
        )
        near: Sequence[Line] = around
        if not block:
            near = [line for line in around if spot.number - 1 <= line.number <= run[-1].number + 1]
        beside = {spot.number - 1: spot.above[-1:], run[-1].number + 1: run[-1].below[:1]}
        common = {
            number for number, of in beside.items() if any(number_of(kind) in kinds.floods for kind in of)
        }
        return Candidate(
            line,
            points,
            line.text,
            near,
            spot.chars_before,
            like=spot.kind,
            rare=True,
            common=frozenset(common),
            block=block,
        )

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
        self._again = sum(len(each.again) for each in best)
        kept = {id(candidate) for candidate in best}
        for key, known in self._templates.items():
            if known is not None and id(known) not in kept:
                self._templates[key] = None


def _neighbours(raw: bytes, at: int, start: int, end: int, number: int, terminator: bytes) -> Around:
    """A line and those around it, of whole lines that begin at byte ``at`` of the output."""
    low, high, first = start, end, number
    for _ in range(_BEFORE):
        if low == 0:
            break
        before = raw.rfind(terminator, 0, low - 1) + 1
        if low - before > _CONTEXT_BYTES:
            break
        low, first = before, first - 1
    last = number
    for _ in range(_AFTER):
        after = raw.find(terminator, high) + 1
        if high >= len(raw) or not after or after - high > _CONTEXT_BYTES:
            break
        high, last = after, last + 1
    line = Line(number, at + start, raw[start:end], terminator)
    return Around(line, raw[low:high], at + low, range(first, last + 1), terminator, place_in)


def _above(block: Block, around: Around, terminator: bytes) -> tuple[Line, int] | None:
    """The first line of the paragraph that lines of a block stand in, if it has the form of a heading; and the code points before them."""
    raw, end = block.raw, around.start - block.start
    low = raw.rfind(2 * terminator, max(0, end - _PARAGRAPH), end)
    if low < 0:
        return None
    low += 2
    high = raw.find(terminator, low) + 1
    if high > end or high - low > _CONTEXT_BYTES or not _HEADING.match(raw, low, high):
        return None
    number = around.numbers[0] - raw.count(terminator, low, end)
    return Line(number, block.start + low, raw[low:high], terminator), clean_length(raw[low:end], terminator)


def _points_of_rare(runs: int, *, least: bool, strong: bool) -> float:
    """The score of rare lines: the more there are, the less each of them tells; 0 where they tell nothing."""
    few, most = _FEW_RARE[0 if least else 1 if strong else 2]
    return _RARE if runs <= few else _RARE / 2 if runs <= most else 0
