"""A line that may be shown, with its neighbours, and the order in which such lines are."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, overload

from spillstore.line_kinds import number_of
from spillstore_tools.preview.strategies.actionable import STRONG
from spillstore_tools.preview.strategies.novelty import kind_of
from spillstore_tools.preview.text.lines import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_FIRST, _LAST = 6, 3  # what the first and the last strong line have more
_TOLD = 24  # lines of a kind with telling words, from which on they flood
_TOLD_SHARE = 0.25  # or that share of the lines of the kind
_TOLD_LEAST = 0.05  # the share that they have at least, unless so many differ in more than digits
_LOOKED_AT = 200  # characters of a neighbour
_ABOVE, _BELOW = 8, 16  # lines of a block that a candidate stands in, at most
_LOOSE = 2  # lines in a row that have no form of a block's, as a heading has none
_PREFIX = 8  # characters that lines of one log begin with, digits apart
_DIGITS = b"0123456789"
_NO_DIGITS = dict.fromkeys(map(ord, "0123456789"))
_DROWNED = 0.6  # of the score of a line that stands in a flood of its like


class Near(NamedTuple):
    """How many neighbours may be shown before and behind a line, and whether its block goes on beyond them."""

    before: int
    after: int
    block: bool = True


class Around(Sequence[Line]):
    """A line and those around it, which are made when they are asked for: of most candidates they never are.

    Attributes:
        line: the line itself.
        start: the position of the first of them in the output.
        numbers: their numbers.

    Args:
        line: likewise.
        raw: the bytes of all of them.
        start: likewise.
        numbers: likewise.
        terminator: what ends a line.
        telling: as of a line.
    """

    def __init__(
        self,
        line: Line,
        raw: bytes,
        start: int,
        numbers: range,
        terminator: bytes,
        telling: Callable[[str], int | None],
    ) -> None:
        self.line = line
        self.start = start
        self.numbers = numbers
        self._raw, self._terminator, self._telling = raw, terminator, telling
        self._lines: list[Line] = []
        line.telling = telling

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> list[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | list[Line]:
        """Some of the lines."""
        return self._made()[index]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.numbers)

    def __iter__(self) -> Iterator[Line]:
        """All of them."""
        return iter(self._made())

    @property
    def end(self) -> int:
        """Where the last of them ends."""
        return self.start + len(self._raw)

    @property
    def beside(self) -> tuple[bytes, bytes]:
        """The next lines with text above and below, without digits."""
        above = self._raw[: self.line.start - self.start].rstrip().rpartition(self._terminator)[2]
        below = self._raw[self.line.end - self.start :].lstrip().partition(self._terminator)[0]
        return above.translate(None, _DIGITS), below.translate(None, _DIGITS)

    def _made(self) -> list[Line]:
        if not self._lines:
            low = 0
            for number in self.numbers:
                high = self._raw.find(self._terminator, low) + 1 or len(self._raw)
                if number == self.line.number:
                    self._lines.append(self.line)
                else:
                    line = Line(number, self.start + low, self._raw[low:high], self._terminator)
                    line.telling = self._telling
                    self._lines.append(line)
                low = high
        return self._lines


@dataclasses.dataclass(slots=True)
class Candidate:
    """A line that may be shown.

    Attributes:
        line: the line.
        score: how much it matters.
        told: the text that it was scored by.
        around: the line and its neighbours in the same block.
        chars_before: code points of the output before the line.
        more: how many later lines differ from it in digits alone, or between their first 192 bytes and their last 64.
        last: the number of the last of them.
        like: the number of its kind among all lines (``rare``), -1 if it was not counted.
        flood: whether lines like it stand so often that each tells little.
        rare: whether it is shown for that alone that lines like it are rare.
        kinds: the numbers of the kinds of the lines around it, -1 where one was not counted.
        first: the number of the first of these.
        common: the numbers of those among them that are of kinds which flood the output.
        block: the numbers of those that are of kinds which are no routine of the output.
        above: the heading of the paragraph that it stands in, farther above than ``around``, and the code points from it to these.
        beside: the next lines with text above and below, without digits.
        later: whether it is one of those lines itself, shown for what stands beside it.
        again: some of the later lines that differ in digits alone, each among other lines than those before.
        looked: how many later lines were looked at for that.
    """

    line: Line
    score: float
    told: str
    around: Sequence[Line]
    chars_before: int
    more: int = 0
    last: int = 0
    like: int = -1
    flood: bool = False
    rare: bool = False
    kinds: tuple[int, ...] = ()
    first: int = 0
    common: frozenset[int] = frozenset()
    block: frozenset[int] = frozenset()
    above: tuple[Line, int] | None = None
    beside: tuple[bytes, bytes] = (b"", b"")
    later: bool = False
    again: list[Candidate] = dataclasses.field(default_factory=list)
    looked: int = 0

    @property
    def kind(self) -> str:
        """A key that lines like it share."""
        return kind_of(self.told[:_LOOKED_AT])

    @property
    def numbers(self) -> Sequence[int]:
        """Those of the line and its neighbours."""
        around = self.around
        return around.numbers if isinstance(around, Around) else [line.number for line in around]

    def neighbour(self, number: int) -> Line:
        """The line with one of these numbers."""
        return self.around[self.numbers.index(number)]

    def near_to(self, start: int, end: int) -> bool:
        """Whether a neighbour has bytes of ``[start, end)``."""
        around = self.around
        low, high = (
            (around.start, around.end) if isinstance(around, Around) else (around[0].start, around[-1].end)
        )
        return low < end and start < high

    @property
    def heading(self) -> Line | None:
        """The last neighbour before an indented line that is indented less, such as the file that a message is about."""
        depth = _depth(self.line)
        above = (line for line in reversed(self.around) if line.number < self.line.number)
        return next((line for line in above if not line.text.isspace() and _depth(line) < depth), None)

    def near(self, most: Near) -> list[Line]:
        """The line and its neighbours in a distance, and those of its block farther away."""
        low = self._reached(-1, most.before, _ABOVE if most.block else 0)
        high = self._reached(1, most.after, _BELOW if most.block else 0)
        return [line for line in self.around if low <= line.number <= high]

    def _reached(self, step: int, most: int, far: int) -> int:
        """The last number in a direction: ``most`` lines away, or where the block ends whose lines hang together."""
        at = {line.number: line for line in self.around}
        reached = self.line.number + step * most
        beside = (at.get(number) for number in range(self.line.number + 1, reached + 1))
        differs = any(line is not None and self._is_half(line) for line in beside)
        loose = 0
        for number in range(reached + step, self.line.number + step * (far + 1), step):
            line = at.get(number)
            if line is None or loose > _LOOSE:
                break
            if number not in self.block and not differs:
                return number - step
            if line.text.isspace():
                continue
            same = number - step in at and line.text == at[number - step].text
            if same or (self._is_under(line) if differs else self._hangs_together(line)):
                reached, loose = number, 0
            else:
                loose += 1
        return reached

    def _is_half(self, line: Line) -> bool:
        """Whether it is a line of a difference: the one half says nothing without the other."""
        return line.text[_depth(self.line) :][:1] in ("+", "-")

    def _is_under(self, line: Line) -> bool:
        """Whether a line is indented more than the candidate, or begins with a sign and is indented as much."""
        depth, own = _depth(line), _depth(self.line)
        return depth > own or (depth == own and not line.text[depth].isalnum())

    def _hangs_together(self, line: Line) -> bool:
        """Whether a line of the block has the form of one: it is indented, begins with a sign, or as the candidate does."""
        start, own = line.text[:_PREFIX], self.line.text[:_PREFIX]
        return not start[0].isalnum() or start.translate(_NO_DIGITS) == own.translate(_NO_DIGITS)


def _depth(line: Line) -> int:
    """How far a line is indented."""
    return len(line.text) - len(line.text.lstrip())


def drowned(
    candidates: Sequence[Candidate], floods: Mapping[int, int], is_routine: Callable[[int], bool]
) -> list[Candidate]:
    """The candidates, of whose score less is left where lines like it flood the output; each knows which neighbours do, and its block."""
    told: Counter[int] = Counter()
    differ: Counter[int] = Counter()
    for each in candidates:
        told[each.like] += 1 + each.more
        differ[each.like] += 1
    flooded = {
        kind
        for kind, count in floods.items()
        if differ[kind] >= _TOLD or told[kind] >= max(min(_TOLD, count * _TOLD_SHARE), count * _TOLD_LEAST)
    }
    kinds = {kind for each in candidates for kind in each.kinds}
    apart = {kind for kind in kinds if not is_routine(number_of(kind))}
    return [
        dataclasses.replace(
            each,
            score=each.score * (_DROWNED if each.like in flooded else 1),
            flood=each.like in flooded,
            common=_common(each, floods),
            block=frozenset(number for number, kind in enumerate(each.kinds, each.first) if kind in apart),
        )
        for each in candidates
    ]


def _common(candidate: Candidate, floods: Mapping[int, int]) -> frozenset[int]:
    """The neighbours whose kinds flood the output, and that have their like among the others, too."""
    if not any(kind in floods for kind in candidate.kinds):
        return frozenset()
    forms = [_form(line) for line in candidate.around]
    return frozenset(
        line.number
        for line, form, kind in zip(candidate.around, forms, candidate.kinds, strict=False)
        if kind in floods and forms.count(form) > 1
    )


def _form(line: Line) -> str | tuple[str, int]:
    """What lines of one form share: all but names, or the first word and how many there are."""
    words = (form := kind_of(line.text[:_LOOKED_AT])).split()
    return (words[0], len(words)) if len(words) > 1 and words[0].isalpha() else form


def ranked(candidates: list[Candidate]) -> list[Candidate]:
    """By score; the first strong one first, the last one better than it is, and less for each one more of a kind."""
    ranked = []
    seen: dict[str | int, int] = {}
    ordered = sorted(candidates, key=lambda each: each.line.number)
    strong = [each.line.number for each in ordered if _points(each) >= STRONG]
    for candidate in ordered:
        points = _points(candidate)
        if strong and candidate.line.number == strong[0]:
            points += _FIRST
        elif strong and candidate.line.number == strong[-1]:
            points += _LAST
        kind = candidate.like if candidate.flood else candidate.kind
        times = seen[kind] = seen.get(kind, 0) + 1
        ranked.append((-points * 0.75 ** (times - 1), candidate.line.number, candidate))
    return [candidate for _, _, candidate in sorted(ranked, key=lambda each: each[:2])]


def _points(candidate: Candidate) -> float:
    """The score, and less the more lines are like it."""
    return candidate.score - min(4, candidate.more / 50)
