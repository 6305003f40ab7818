"""Source code cut between whole functions and classes; what is left out is named.

The first units and the last ones stay, whole, and others from between where room is left; the head of the file gets
its share first. Only when no other unit fits is one cut inside: a class between its methods, a function behind its
first lines. ``language`` finds the language, ``units`` the units; this module decides whether the text is code at all, and
what stays.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.describe import counted
from spillstore_tools.preview.code.language import INSIDE, guessed, hinted, masked
from spillstore_tools.preview.code.omissions import MARKER, TextLines, several
from spillstore_tools.preview.code.units import BLOCK, HEAD, LINES, NAMED, TAIL, Unit, units_of

if TYPE_CHECKING:
    from spillstore_tools.preview.structured.cuts import TextCut

_HEAD_SHARE = 0.15  # of the limit, for what stands before the first unit
_FRONT_SHARE = 0.6  # of the room, for units from the first on, before those from the last back
_INSIDE_SHARE = 0.12  # of the room left over, from which on a unit is cut inside
_SLACK = 0.08  # of the limit that may stay unused, if ...
_ROUNDS = 6  # ... more attempts do not better it
_TRIES = 400  # units looked at to fill the room, and ...
_TRIES_INSIDE = 8  # ... to be cut inside
_WIDEST = 300  # characters of a line of Python that are looked at
_LEAST = 24  # characters of a line at least, to be worth a place of its own
_COVERED = 0.5  # of all lines of code at least are in functions and classes
_GOOD, _GOOD_IF_KNOWN = (
    0.95,
    0.8,
)  # of those that are not, look like code; less where a file name says so, too
_PYTHON_LINE = re.compile(
    r"(?:def|class|async|import|from|if|elif|else|for|while|try|except|finally|with|return|raise|assert|del|pass|global"
    r"|print|match|case|type|yield|break|continue|nonlocal|exec)\b(?!:? [a-z]+ [a-z]+ [a-z]+ )"
    r"|[\w.]+(?:, ?[\w.*]+)*(?:\[.*\](?:, ?[\w.*]+)*)?(?:\s*[-+*/|&%@]?=|: ?[\w\"].*=|\(|: [\w.\[\]]+$|\.)|[rbuf]*\"|[@)\]}({\[\x01]|\w+$|[*+-]"
)
_BRACED_LINE = re.compile(
    r".*[;{},(\[=:&|+?\\]$|[)\]}#@\x01.\[|&<?*:+\"]|(?:import|package|use|using|from|export|include|require|namespace|extern|typedef"
    r"|public|private|protected|internal|abstract|sealed|data|class|static|const|let|var|val|type|typealias|module|return|mod|func|fun|lateinit|open|override"
    r"|template|inline|case|if|for|else|default|[A-Z_]+\()\b|[\w.$]+(?: :?=|\(.*\)$|\s*:\s*[\w<>\[\].?]+$)"
)


def read_code(lines: TextLines, hint: str | None) -> tuple[str, list[Unit]] | None:
    """The language and the units of source code, or None if the text is none."""
    language = guessed(lines.text, lines.raw, hint)
    if language is None:
        return None
    bare = masked(lines.text, language)[: len(lines)]
    units = units_of(lines.raw, bare, language)
    known = hinted(hint) == language
    return (language, units) if _is_code(bare, units, language, known=known) else None


def _is_code(bare: list[str], units: list[Unit], language: str, *, known: bool) -> bool:
    """Whether the units bear out the guess: enough of them, all closed, and little between them that is no code."""
    named = [each for each in flat(units) if each.kind in NAMED]
    if len(named) < (1 if known else 2) or not all(unit.closed or known for unit in units):
        return False
    inside = sum(_written(bare, unit.first, unit.end) for unit in units if _encloses(unit))
    if inside < (_COVERED / 4 if known else _COVERED) * _written(bare, 0, len(bare)):
        return False
    if language == "python":
        pattern, outside = _PYTHON_LINE, [line[:_WIDEST] for line in bare if line[:1].strip()]
    else:
        pattern = _BRACED_LINE
        outside = [
            line.strip() for unit in units if not _encloses(unit) for line in bare[unit.first : unit.end]
        ]
        outside = [line for line in outside if line]
    good = _GOOD_IF_KNOWN if known else _GOOD
    return sum(1 for line in outside if not pattern.match(line)) <= 1 + (1 - good) * len(outside)


def _encloses(unit: Unit) -> bool:
    return unit.kind in NAMED or bool(unit.parts)


def flat(units: list[Unit]) -> list[Unit]:
    """The units and their parts, in order."""
    return [each for unit in units for each in (unit, *unit.parts)]


def _written(bare: list[str], first: int, end: int) -> int:
    return sum(1 for line in bare[first:end] if line and line != INSIDE and not line.isspace())


@dataclass(slots=True)
class _Choice:
    """Units side by side, and which of them are kept."""

    units: list[Unit]
    sizes: list[int]
    left: int
    kept: list[bool] = field(default_factory=list)
    inside: dict[int, list[TextCut]] = field(default_factory=dict)

    def take(self, index: int, cost: int = 0) -> bool:
        """Keep a unit if there is room for it and ``cost`` more."""
        cost += self.sizes[index]
        if self.kept[index] or cost > self.left:
            return False
        self.kept[index] = True
        self.left -= cost
        return True

    def fill(self) -> None:
        """Whole units: from the first on, from the last back, from the first on again, then any between."""
        low, high = 0, len(self.units) - 1
        reserve = int(self.left * (1 - _FRONT_SHARE))
        self.left -= reserve
        while low <= high and (self.kept[low] or self.take(low)):
            low += 1
        self.left += reserve
        while high >= low and (self.kept[high] or self.take(high)):
            high -= 1
        while low <= high and (self.kept[low] or self.take(low)):
            low += 1
        for index in range(low + 1, min(high, low + _TRIES)):
            if self.left < MARKER + _LEAST:
                break
            if self.units[index].kind in NAMED:
                self.take(index, 0 if self.kept[index - 1] else MARKER)


def cut_code(lines: TextLines, units: list[Unit], limit: int) -> list[TextCut] | None:
    """The cuts that bring source code down to a limit, or None if not even one unit's first lines fit.

    Args:
        lines: the text.
        units: all of it.
        limit: characters of the result.
    """
    return _CodeCutter(lines, limit).cut(units)


class _CodeCutter:
    """Decides which units stay; see the module."""

    def __init__(self, lines: TextLines, limit: int) -> None:
        self._lines = lines
        self._limit = limit

    def cut(self, units: list[Unit]) -> list[TextCut] | None:
        cuts = self._choose(units, self._limit)
        if cuts is None:
            return None
        bonus = slack = self._slack(
            cuts
        )  # markers may be short, and what was set aside for them is room still
        for _ in range(_ROUNDS):
            if slack <= _SLACK * self._limit:
                break
            more = self._choose(units, self._limit + bonus)
            if more is not None and 0 <= (left := self._slack(more)) < slack:
                cuts, slack = more, left
                bonus += slack
            else:
                bonus //= 2
        gone = [range(cut.start, cut.end) for cut in cuts]
        starts = self._lines.starts
        named = (each for each in flat(units) if each.kind in NAMED)
        shown = any(all(starts[each.first] not in gap for gap in gone) for each in named)
        return cuts if shown else None

    def _slack(self, cuts: list[TextCut]) -> int:
        removed = sum(cut.end - cut.start - len(cut.text) for cut in cuts)
        return self._limit - len(self._lines.text) + removed

    def _size(self, unit: Unit) -> int:
        return self._lines.size(unit.first, unit.end)

    def _choose(self, units: list[Unit], room: int) -> list[TextCut] | None:
        """The cuts in units side by side that leave at most ``room`` characters, markers included."""
        sizes = [self._size(unit) for unit in units]
        if sum(sizes) <= room:
            return []
        choice = _Choice(units, sizes, room - MARKER, [False] * len(units))
        for index, unit in enumerate(units):
            if unit.kind in (HEAD, TAIL) and not choice.take(index):
                return None
        self._head(choice)
        choice.fill()
        self._inside(choice)
        return self._gaps(choice)

    def _head(self, choice: _Choice) -> None:
        """Keep the lines before the first unit, or as many of them as its share allows."""
        unit = choice.units[0]
        share = int(self._limit * _HEAD_SHARE)
        if unit.kind == LINES and choice.sizes[0] > share and len(choice.units) > 1:
            self._cut_inside(choice, 0, min(share + MARKER, choice.left))

    def _inside(self, choice: _Choice) -> None:
        """Cut the first and the last of the units left out inside, where there is room left."""
        missing = [index for index, kept in enumerate(choice.kept) if not kept]
        tries = [*missing[:_TRIES_INSIDE], *missing[:-_TRIES_INSIDE:-1]]
        front, back = (missing[0], missing[-1]) if missing else (0, 0)
        for index in tries:
            if choice.left <= max(MARKER, _INSIDE_SHARE * self._limit):
                return
            beside = index in (front, back)
            share = _FRONT_SHARE if index == front != back and choice.sizes[back] > MARKER else 1
            room = int(choice.left * share) if beside else choice.left - MARKER
            if not choice.kept[index] and self._cut_inside(choice, index, room) and not beside:
                choice.left -= MARKER

    def _cut_inside(self, choice: _Choice, index: int, room: int) -> bool:
        unit = choice.units[index]
        cuts = self._choose(unit.parts, room) if unit.parts else self._shorten(unit, room)
        if not cuts:
            return False
        used = choice.sizes[index] + sum(len(cut.text) - cut.end + cut.start for cut in cuts)
        choice.kept[index] = True
        choice.inside[index] = cuts
        choice.left -= used
        return True

    def _shorten(self, unit: Unit, room: int) -> list[TextCut] | None:
        """The cut that leaves the first lines of a unit's body and the line that closes it."""
        first, end = unit.body
        room -= self._size(unit) - self._lines.size(first, end) + MARKER
        if room < 0:
            return None
        kept = self._lines.fitting(first, end, room)
        if kept in {end, unit.first}:
            return None
        whose = f" of {unit.name}" if unit.name else ""
        what = f"{counted(end - kept, 'line')}{whose} omitted"
        return [self._lines.cut(kept, end, what, 0, indent=self._lines.indent(kept, end))]

    def _gaps(self, choice: _Choice) -> list[TextCut]:
        cuts: list[TextCut] = []
        missing: list[Unit] = []
        for index, unit in enumerate(choice.units):
            if not choice.kept[index]:
                missing.append(unit)
                continue
            if missing:
                cuts.append(self._gap(missing))
                missing = []
            cuts += choice.inside.get(index, [])
        return [*cuts, self._gap(missing)] if missing else cuts

    def _gap(self, missing: list[Unit]) -> TextCut:
        """The cut of neighbouring units, with their names."""
        first, end = missing[0].first, missing[-1].end
        counts = Counter(unit.kind for unit in missing if unit.kind in NAMED)
        blocks = [unit for unit in missing if unit.kind == BLOCK]
        if not counts and not blocks:
            what = f"{counted(end - first, 'line')} omitted"
        else:
            kinds = [(kind, counts[kind]) for kind in NAMED if counts[kind]]
            kinds += [(BLOCK, len(blocks))] if blocks and not counts else []
            what = ", ".join(several(number, kind) for kind, number in kinds) + " omitted"
        names = [unit.name for unit in missing if unit.name]
        number = sum(counts.values()) + len(blocks)
        return self._lines.cut(
            first, end, what, number, names, self._lines.indent(first, min(end, first + 8))
        )
