"""Lines of kinds that stand hardly anywhere in an output whose other lines are nearly all of kinds that stand often.

Such a line may be a message in any language, or the one that breaks a pattern: no word of it has to be known. The kinds are
counted while the output passes (``spillstore.line_kinds``); which of them are rare is told when it has ended.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, deque
from typing import TYPE_CHECKING

from spillstore.line_kinds import LineKinds, number_of
from spillstore.runtime import lazy_patterns as re
from spillstore_tools.preview.text.clean import clean_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from spillstore.line_kinds import Rare
    from spillstore_tools.preview.scan.block import Block

_LEAST_LINES = 40  # of an output, so that anything can be said about its kinds
_SELDOM = 3  # lines that a rare kind has at most
_OFTEN = 5  # and a frequent one at least
_NEARLY_ALL = 0.85  # the share of lines that are of frequent kinds
_MOST_RARE = 0.06  # the share of lines that are of rare ones
_BESIDE = 8  # lines before and behind that tell whether a rare line breaks a pattern
_KEPT = 512  # rare lines
_FLOOD, _FLOOD_SHARE = 12, 0.02  # a flood has so many lines, and this share of all
_MOSTLY = 0.7  # of all lines: if so many are in floods, all others are told apart
_BEFORE, _AFTER = 400, 1200  # bytes around a line that are kept, for its neighbours
_LINE = 2048  # bytes of a line that is kept at all
_WHOLE = 16  # blocks, behind which only some are counted: where the kinds are known, that would cost more than it tells
_FIRSTS = 16  # first lines of frequent kinds that are kept
_LATE = 0.25  # of all lines, behind which a kind begins late
_FILES = re.compile(rb"[^\s/\\]*[/\\]\S*|[\w-]+\.[A-Za-z]\w*\S*")
_TELLS = re.compile(rb"[^\W_]|[\x80-\xff]")
_EACH = 16  # of how many blocks one is counted then


@dataclasses.dataclass(frozen=True, slots=True)
class Spot:
    """A rare line.

    Attributes:
        kind: the number of its kind.
        number: its line number.
        text: whole lines: it, and those around it.
        at: the position of their first byte in the output.
        start: where the line begins in ``text``.
        end: where the next one does.
        chars_before: code points of the output before the line.
        above: the kinds of the lines before it.
        below: the kinds of the lines behind it.
    """

    kind: int
    number: int
    text: bytes
    at: int
    start: int
    end: int
    chars_before: int
    above: Sequence[int]
    below: Sequence[int]


@dataclasses.dataclass(frozen=True, slots=True)
class Kinds:
    """What the kinds of all lines tell.

    Attributes:
        floods: kinds that stand very often, by their number, each with how many lines it has.
        runs: rare lines, those one behind the other together; where not nearly all lines are of frequent kinds, only
            those that stand alone among such lines.
        firsts: the first lines of frequent kinds that begin late.
        named: rare lines that differ from a line beside them, or from many other rare ones, in the names of files and in numbers alone.
        told_apart: the kinds that are no floods, where most lines are in floods.
    """

    floods: dict[int, int] = dataclasses.field(default_factory=dict)
    runs: list[list[Spot]] = dataclasses.field(default_factory=list)
    firsts: list[Spot] = dataclasses.field(default_factory=list)
    named: list[list[Spot]] = dataclasses.field(default_factory=list)
    told_apart: frozenset[int] = frozenset()

    def is_routine(self, kind: int) -> bool:
        """Whether a line of that kind tells nothing by being there; also of lines whose kinds were not counted."""
        return kind not in self.told_apart


class CharsBefore:
    """Counts the code points of the output before places in a block, which are asked for in order.

    Args:
        block: the block.
        chars: code points of the output before it.
        terminator: what ends a line.
    """

    def __init__(self, block: Block, chars: int, terminator: bytes) -> None:
        self._block, self._chars, self._terminator = block, chars, terminator
        self._place = 0

    def at(self, place: int) -> int:
        """Code points before a place; those before the block where they are not counted."""
        if self._block.counted:
            skipped = place - self._place
            if not self._block.is_clean:
                skipped = clean_length(self._block.raw[self._place : place], self._terminator)
            self._chars += skipped
            self._place = place
        return self._chars


@dataclasses.dataclass(slots=True)
class _Counted:
    """Blocks whose lines were counted together.

    Attributes:
        start: the position of their first byte.
        end: where they end.
        line: the number of their first line; 0 until that is known.
        kinds: the kind of each line.
        rare: the rare lines, those that are still to be kept.
    """

    start: int
    end: int
    line: int
    kinds: Sequence[int]
    rare: deque[Rare]


class RareLines:
    """Counts the kinds of lines as blocks pass, and keeps the lines of kinds that are rare so far."""

    def __init__(self) -> None:
        self._kinds = LineKinds()
        self._spots: list[Spot] = []
        self._firsts: list[Spot] = []  # the first lines of kinds that are frequent
        self._full = -1  # the block for which room was made last
        self._blocks = 0  # that have passed, or were seen ahead
        self._until = 0  # up to where
        self._counted: deque[_Counted] = deque()  # of these what may still be asked for

    def ahead(self, start: int, line: int, data: bytes, terminator: bytes, cuts: Sequence[int]) -> None:
        """Count the lines of the next blocks; as in ``Observer``."""
        self._counted.clear()
        whole = cuts[: max(0, _WHOLE - self._blocks)]
        low = 0
        if whole:
            self._count(start, line, data, terminator, whole)
            low = whole[-1]
        for number, cut in enumerate(cuts[len(whole) :], self._blocks + len(whole)):
            if number % _EACH == 0:
                self._count(start + low, 0, data[low:cut], terminator, (cut - low,))
            low = cut
        self._blocks += len(cuts)
        self._until = start + low

    def _count(self, start: int, line: int, data: bytes, terminator: bytes, cuts: Sequence[int]) -> None:
        if not self._kinds.given_up:
            kinds, rare = self._kinds.add(data, terminator, cuts)
            self._counted.append(_Counted(start, start + cuts[-1], line, kinds, deque(rare)))

    def block(self, block: Block, chars: CharsBefore, terminator: bytes) -> None:
        """Count the lines of a block, and keep the rare ones."""
        if block.end > self._until:
            self.ahead(block.start, block.first_line, block.raw, terminator, (len(block.raw),))
        while self._counted and self._counted[0].end <= block.start:
            self._counted.popleft()
        if not self._counted or self._counted[0].start > block.start:
            return
        counted = self._counted[0]
        counted.line = counted.line or block.first_line
        while counted.rare and counted.start + counted.rare[0].start < block.end:
            self._keep(block, counted, counted.rare.popleft(), chars, terminator)

    def kind(self, line: int) -> int:
        """A line's kind, as in ``LineKinds``; -1 if it was not counted."""
        if not self._counted:
            return -1
        counted = self._counted[0]
        index = line - counted.line
        return counted.kinds[index] if counted.line and 0 <= index < len(counted.kinds) else -1

    def kinds(self, lines: range) -> tuple[int, ...]:
        """The kinds of lines one behind the other, as in ``kind``."""
        counted = self._counted[0] if self._counted else None
        if counted is not None and counted.line:
            low, high = lines[0] - counted.line, lines[-1] + 1 - counted.line
            if low >= 0 and high <= len(counted.kinds):
                return tuple(counted.kinds[low:high])
        return tuple(map(self.kind, lines))

    def _keep(
        self, block: Block, counted: _Counted, rare: Rare, chars: CharsBefore, terminator: bytes
    ) -> None:
        before = counted.start - block.start
        start, end = before + rare.start, before + rare.end
        if end - start > _LINE:
            return
        if len(self._spots) >= _KEPT and self._full != block.start:
            self._full = block.start
            self._forget()
        if len(self._spots) >= _KEPT:
            return
        raw = block.raw
        low = max(0, start - _BEFORE)
        low = raw.find(terminator, low, start) + 1 if low else 0
        high = raw.rfind(terminator, end, end + _AFTER) + 1 or end
        spot = Spot(
            kind=rare.kind,
            number=counted.line + rare.number,
            text=raw[low:high],
            at=block.start + low,
            start=start - low,
            end=end - low,
            chars_before=chars.at(start),
            above=tuple(counted.kinds[max(0, rare.number - _BESIDE) : rare.number]),
            below=tuple(counted.kinds[rare.number + 1 : rare.number + 1 + _BESIDE]),
        )
        self._spots.append(spot)

    def _forget(self) -> None:
        """Give up the lines whose kinds have become frequent, but for the first one of each, of the first kinds."""
        counts = self._kinds.counts()
        self._firsts = _first_ones(self._firsts, self._spots, counts)
        self._spots = [spot for spot in self._spots if counts[spot.kind] <= _SELDOM]

    def found(self) -> Kinds:
        """What can be said so far."""
        lines = self._kinds.lines
        if self._kinds.given_up or lines < _LEAST_LINES:
            return Kinds()
        counts = self._kinds.counts()
        floods = {
            kind: count for kind, count in enumerate(counts) if count >= max(_FLOOD, lines * _FLOOD_SHARE)
        }
        often = sum(count for count in counts if count >= _OFTEN)
        seldom = sum(count for count in counts if count <= _SELDOM)
        runs = _runs(spot for spot in self._spots if counts[spot.kind] <= _SELDOM)
        if often < _NEARLY_ALL * lines or seldom > _MOST_RARE * lines:
            runs = [run for run in runs if _is_alone(run, counts)]
        firsts = [
            spot for spot in _first_ones(self._firsts, self._spots, counts) if spot.number > lines * _LATE
        ]
        telling, named = _apart(runs)
        apart = {*range(len(counts))} - floods.keys() if sum(floods.values()) >= _MOSTLY * lines else ()
        return Kinds(floods, telling, firsts, named, frozenset(apart))


def _first_ones(firsts: Sequence[Spot], spots: Iterable[Spot], counts: Sequence[int]) -> list[Spot]:
    """The first line of each kind that is frequent, as many as are kept."""
    found = {spot.kind: spot for spot in firsts}
    for spot in spots:
        if counts[spot.kind] >= 2 * _OFTEN and spot.number > _LEAST_LINES and len(found) < _FIRSTS:
            found.setdefault(spot.kind, spot)
    return list(found.values())


def _runs(spots: Iterable[Spot]) -> list[list[Spot]]:
    """Lines, those one behind the other together."""
    runs: list[list[Spot]] = []
    for spot in spots:
        if runs and spot.number == runs[-1][-1].number + 1:
            runs[-1].append(spot)
        else:
            runs.append([spot])
    return runs


def has_words(run: Sequence[Spot]) -> bool:
    """Whether rare lines hold a letter or a digit: signs alone tell nothing beside lines that do."""
    return any(_TELLS.search(spot.text, spot.start, spot.end) for spot in run)


def breaks_pattern(run: Sequence[Spot]) -> bool:
    """Whether rare lines stand inside of what goes on behind them as before, and not where one thing ends and another begins."""
    above, below = (Counter(map(number_of, kinds)) for kinds in (run[0].above, run[-1].below))
    return any(kind != -1 and times > 1 and below[kind] > 1 for kind, times in above.items())


def _apart(runs: Sequence[list[Spot]]) -> tuple[list[list[Spot]], list[list[Spot]]]:
    """Runs with a line that is like no other, and runs whose lines differ from others in names of files and in numbers alone."""
    times = Counter(_form(spot.text[spot.start : spot.end]) for run in runs for spot in run)
    apart: tuple[list[list[Spot]], list[list[Spot]]] = ([], [])
    for run in runs:
        apart[all(_is_named(spot, times) for spot in run)].append(run)
    return apart


def _is_named(spot: Spot, times: Mapping[bytes, int]) -> bool:
    """Whether a rare line has the form of one beside it, or of many other rare ones."""
    form = _form(spot.text[spot.start : spot.end])
    above = spot.text[: spot.start].splitlines()[-1:]
    below = spot.text[spot.end :].splitlines()[:1]
    return form != b"" and (times[form] > _SELDOM or any(_form(line) == form for line in (*above, *below)))


def _form(line: bytes) -> bytes:
    r"""What is left of a line without names of files and numbers; nothing where there is no such name.

    Example:
        >>> _form(b"'./types.py' -> '/tmp/cache/types.py'\n"), _form(b"loss nan of epoch 7")
        (b'\x00 -> \x00', b'')
    """
    form, names = _FILES.subn(b"\0", line)
    return b" ".join(form.translate(None, b"0123456789").split()) if names else b""


def _is_alone(run: Sequence[Spot], counts: Sequence[int]) -> bool:
    """Whether all lines but one around a run are of kinds that stand often."""
    beside = (*run[0].above, *run[-1].below)
    often = sum(kind != -1 and counts[number_of(kind)] >= 2 * _OFTEN for kind in beside)
    return len(run) <= _BESIDE and len(beside) >= _BESIDE and often >= len(beside) - 1
