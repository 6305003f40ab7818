"""Lines that report failures between the rows of a kind: its cut would leave them out, and they are shown as well.

One place for all kinds. What a kind says is a row of its own is left to it, for a search for ``error`` finds such lines, and
source code raises them; what stands between the rows and is none of them was printed by something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.preview.parts import Gap, Note, Shown, length_of
from spillstore_tools.preview.scan.position import Position
from spillstore_tools.preview.strategies.actionable import STRONG
from spillstore_tools.preview.strategies.candidate import ranked
from spillstore_tools.preview.strategies.candidates import CandidateFinder
from spillstore_tools.preview.strategies.fit import marker_width, merged, with_marker
from spillstore_tools.preview.strategies.kinds.excerpts import Pick
from spillstore_tools.preview.text.clean import BOM

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.candidate import Candidate
    from spillstore_tools.preview.strategies.kinds.kind import Kind
    from spillstore_tools.preview.strategies.request import Request
    from spillstore_tools.preview.text.lines import Line

_FEW = 5  # lines that report failures, beyond which an output is about them
_SHARE = 100  # likewise lines of an output to each of them
_MOST = 8  # that are shown, with their neighbours
_ROOM, _OF_LIMIT = 1600, 3  # code points that they may take, and the part of the limit
_BESIDE = 6  # neighbours on either side, none of them a row


def strong(overview: Overview) -> list[Candidate]:
    """Lines that report failures, best first."""
    finder = overview.observer
    found = finder.candidates if isinstance(finder, CandidateFinder) else []
    return [each for each in ranked(found) if each.score >= STRONG]


def are_many(overview: Overview, found: Sequence[Candidate]) -> bool:
    """Whether so many lines report failures that the output is about them."""
    return sum(1 + each.more for each in found) > max(_FEW, overview.lines // _SHARE)


def cut_with_failures(kind: Kind, overview: Overview, request: Request) -> list[Part] | None:
    """The parts that a kind makes, and in their gaps the lines that report failures; None where the output is text."""
    parts = kind.cut(overview, request)
    told = _told(kind, overview) if parts is not None and request.actionable else []
    if parts is None or not any(_in_gaps(parts, told)):
        return parts
    room = min(_ROOM, request.limit // _OF_LIMIT)
    if length_of(parts) + room > request.limit:
        parts = kind.cut(overview, request.smaller(room))
        if parts is None:
            return None
    picks = _chosen(kind, _in_gaps(parts, told), overview, request, room)
    return merged(_filled(parts, picks, overview, request, room)) if picks else None


def _told(kind: Kind, overview: Overview) -> list[Candidate]:
    """The lines that report failures and are no rows, best first."""
    found = strong(overview)
    no_rows = (False,) if are_many(overview, found) else (False, None)
    return [each for each in found if _is_row(kind, each.line) in no_rows]


def _is_row(kind: Kind, line: Line) -> bool | None:
    text = line.text if line.start else line.text.removeprefix(BOM)
    return kind.is_row(text.encode())


def _in_gaps(parts: Iterable[Part], told: Iterable[Candidate]) -> Iterator[Candidate]:
    """Those of whole lines left out."""
    gaps = [part for part in parts if isinstance(part, Gap) and not part.inside]
    return (each for each in told if any(_has(gap, each.line) for gap in gaps))


def _has(gap: Gap, line: Line) -> bool:
    return gap.start <= line.start and line.end <= gap.end


def _chosen(
    kind: Kind, told: Iterable[Candidate], overview: Overview, request: Request, room: int
) -> list[Pick]:
    """As many as there is room for, by rank, with neighbours that are no rows either; in their order."""
    marker, widest = marker_width(overview, request), room // 2
    chosen: dict[int, Pick] = {}
    for candidate, _ in zip(told, range(_MOST), strict=False):
        for beside in (_BESIDE, 0):
            new = [
                each for each in _picks(kind, candidate, beside, request) if each.line.number not in chosen
            ]
            cost = sum(length_of(_written(each, request, widest)) + marker for each in new)
            if cost <= room:
                room -= cost
                chosen.update((each.line.number, each) for each in new)
                break
    return [chosen[number] for number in sorted(chosen)]


def _picks(kind: Kind, candidate: Candidate, beside: int, request: Request) -> Iterator[Pick]:
    """A line and its neighbours up to the nearest row on either side."""
    number = low = high = candidate.line.number
    others = {line.number for line in candidate.around if beside and _is_row(kind, line) is False}
    while low - 1 in others and number - low < beside:
        low -= 1
    while high + 1 in others and high - number < beside:
        high += 1
    at = candidate.chars_before - sum(line.chars for line in candidate.around if line.number < number)
    for line in candidate.around:
        if low <= line.number <= high:
            last = candidate.last + request.first_line - 1
            more = line.number == number and line.ended and candidate.more
            yield Pick(line, at, f"  [and {more} more like this, to line {last}]\n" if more else "")
        at += line.chars


def _written(pick: Pick, request: Request, widest: int) -> list[Part]:
    label = Note(f"{pick.line.number + request.first_line - 1}: ")
    parts = [label, *pick.line.clipped(min(request.line_limit or widest, widest), request.clip_marker)]
    return [*parts, Note(pick.note)] if pick.note else parts


def _filled(
    parts: Iterable[Part], picks: Iterable[Pick], overview: Overview, request: Request, room: int
) -> Iterator[Part]:
    """The parts, with lines in their gaps."""
    chars = 0  # before a part
    for part in parts:
        inside = [
            each for each in picks if isinstance(part, Gap) and not part.inside and _has(part, each.line)
        ]
        behind = chars + _chars(part)
        if not isinstance(part, Gap) or not inside:
            yield part
        else:
            place = Position(part.start, part.first_line)
            for pick in inside:
                line = pick.line
                yield from _gap(
                    place, Position(line.start, line.number), pick.chars_before - chars, overview, request
                )
                yield from _written(pick, request, room // 2)
                place, chars = Position(line.end, line.number + 1), pick.chars_before + line.chars
            yield from _gap(place, Position(part.end, part.last_line + 1), behind - chars, overview, request)
        chars = behind


def _chars(part: Part) -> int:
    """Code points of the output that a part stands for."""
    if isinstance(part, Gap):
        return part.chars or 0
    return len(part.text) if isinstance(part, Shown) else 0


def _gap(low: Position, high: Position, chars: int, overview: Overview, request: Request) -> Iterator[Part]:
    if low.byte < high.byte:
        yield with_marker(overview.gap(low, high, chars), overview, request.marker)
