"""``smart``: the head, the tail, and from the middle the lines that report errors and the like, with a little context.

While the output passes, ``candidates`` scores its lines and keeps the best ones with their neighbours, in bounded memory.
When it has ended, ``smart_layout`` deals out the room: a short head, a longer tail, then excerpts by rank. Where no line
stands out, the head and the tail get what tells something new. Output of a kind that is known by its bytes is cut as that instead
(``kinds``).
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING

from spillstore.settings import MIB
from spillstore_tools.preview.parts import Note, Shown, gaps_of, length_of
from spillstore_tools.preview.strategies.candidates import CandidateFinder
from spillstore_tools.preview.strategies.decoded import Decoded, encoding_of
from spillstore_tools.preview.strategies.kinds import Guess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Block, Observer
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.candidate import Candidate
    from spillstore_tools.preview.strategies.request import Request
    from spillstore_tools.preview.structured.json_stream import JsonStream
    from spillstore_tools.preview.text.lines import Line
    from spillstore_tools.preview.text.long_line import LongLine

_ENOUGH = 4000  # code points of JSON that is not held
_DENSE, _DENSE_LINES = 2000, 2  # code points of text with hardly a blank, and the lines that it has at most
_SAMPLE, _BLANKS = (
    4096,
    0.1,
)  # code points of a line that are looked at, and the share of blanks that text has
_FEW_LINES = 16  # which share the room, where some of them are long
_SHARES = (1, 1.2, 1.5, 2, 3, 4, 6)  # the room is divided by each in turn, for one of them


class Smart:
    """The strategy; see the module."""

    keep_bytes = MIB  # a diff or source code is cut as a whole

    def observer(self) -> Observer | None:
        """A new ``CandidateFinder`` that guesses the kind of the output, too."""
        return _Observer()

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Strategy``; never None."""
        if overview.chars <= request.limit and (text := overview.text()) is not None:
            return [Shown(text, 0, overview.size)]
        from spillstore_tools.preview.strategies.fit import (  # noqa: PLC0415  # most output is shown whole
            closed,
            marker_width,
            nothing_shown,
        )

        if marker_width(overview, request) >= request.limit // 2:
            return nothing_shown(overview, request)
        finder = overview.observer
        if isinstance(finder, _Observer) and (parts := finder.guess.cut(overview, request)) is not None:
            return closed(parts, overview, request)
        if (words := _outline(overview)) and len(words) < request.limit // 2:
            inner = dataclasses.replace(request, limit=min(request.limit, _ENOUGH) - len(words))
            return [Note(words), *self._text(overview, inner)]
        if _is_dense(overview):
            from spillstore_tools.preview.strategies.head_tail import HeadTail  # noqa: PLC0415  # as above

            small = dataclasses.replace(request, limit=min(request.limit, _DENSE), head_ratio=0.5)
            return HeadTail().cut(overview, small) or []
        return self._text(overview, request)

    def _text(self, overview: Overview, request: Request) -> list[Part]:
        """Both ends, and the lines between them that matter."""
        from spillstore_tools.preview.strategies.fit import closed, fitted, merged  # noqa: PLC0415  # as in ``cut``
        from spillstore_tools.preview.strategies.smart_layout import LINE  # noqa: PLC0415  # likewise

        finder = overview.observer
        candidates = []
        if isinstance(finder, CandidateFinder) and request.actionable:
            candidates = finder.best(ended_well=request.ended_well)
        least = min(request.line_limit or LINE, request.limit // 8)
        # Few lines share the room: as much of each as lets all of them be shown.
        few = _few_lines(overview)
        shares = [int(request.limit / share) for share in _SHARES] if overview.lines <= _FEW_LINES else []
        telling = {
            line.number: line.telling_byte for line in few if request.actionable and line.chars > least
        }
        for line_limit in (*shares, least):
            attempt = dataclasses.replace(request, line_limit=line_limit, repeats=True)
            parts = fitted(overview, attempt, partial(_filled, overview, attempt, candidates))
            if line_limit == least:
                break
            gaps = gaps_of(parts)
            if any(gap.lines or gap.first_line != gap.last_line for gap in gaps):
                continue
            # The room of an end may be too little for what tells most in its line, and that of both be enough.
            places = ((gap, telling.get(gap.first_line)) for gap in gaps)
            if not any(place is not None and gap.start <= place < gap.end for gap, place in places):
                break
            if (
                length_of(
                    cut := [part for line in few for part in line.clipped(line_limit, request.clip_marker)]
                )
                <= request.limit
            ):
                parts = merged(cut)
                break

        def held(start: int, end: int) -> list[Line]:
            return [line for each in candidates if each.near_to(start, end) for line in each.around]

        return closed(parts, overview, request, held)


def _few_lines(overview: Overview) -> list[Line]:
    """All lines of an output that has few of them and whose lines were all kept, in order; else nothing."""
    if overview.lines > _FEW_LINES:
        return []
    lines = {line.number: line for line in (*overview.forward(), *overview.backward())}
    return [lines[number] for number in sorted(lines)] if len(lines) == overview.lines else []


def _outline(overview: Overview) -> str:
    """What JSON of one line holds that is too large to be held; nothing of anything else."""
    finder = overview.observer
    stream = finder.json if isinstance(finder, _Observer) and overview.lines == 1 else None
    words = stream.told() if stream is not None else ""
    return f"[JSON: {words}]\n" if words else ""


def _is_dense(overview: Overview) -> bool:
    """Whether it is a line or two with hardly a blank, as programs are written for programs; both ends say what it is."""
    if overview.lines > _DENSE_LINES:
        return False
    samples = [line.text[:_SAMPLE] for line in overview.forward()]
    return sum(text.count(" ") for text in samples) < _BLANKS * sum(map(len, samples))


def _filled(overview: Overview, request: Request, candidates: list[Candidate], room: int) -> list[Part]:
    from spillstore_tools.preview.strategies.smart_layout import Layout  # noqa: PLC0415  # see ``cut``

    return Layout(overview, request, room).fill(candidates)


def decoded(overview: Overview) -> Decoded | None:
    """The text of an output that is not UTF-8, which the strategy's observer has decoded; None of any other."""
    finder = overview.observer
    return finder.decoded if isinstance(finder, _Observer) else None


class _Observer(CandidateFinder):
    """Finds lines that matter, and sees what kind of output it is.

    Attributes:
        decoded: receives the blocks instead, of text that is not UTF-8.
        json: receives the pieces of a first line that is too long to be held.
    """

    def __init__(self) -> None:
        super().__init__()
        self.guess = Guess()
        self.decoded: Decoded | None = None
        self.json: JsonStream | None = None

    def ahead(self, start: int, line: int, data: bytes, terminator: bytes, cuts: Sequence[int]) -> None:
        """As in ``Observer``."""
        if self.decoded is None:
            super().ahead(start, line, data, terminator, cuts)

    def piece(self, line: LongLine, data: bytes) -> None:
        """As in ``Observer``."""
        super().piece(line, data)
        if line.start:
            return
        if self.json is None:
            from spillstore_tools.preview.structured.json_stream import JsonStream  # noqa: PLC0415  # for long lines alone

            self.json = JsonStream()
        self.json.feed(data)

    def block(self, block: Block) -> None:
        """As in ``Observer``."""
        if (encoding := encoding_of(block)) is not None:
            self.decoded = Decoded(encoding, Smart.keep_bytes, _Observer())
        if self.decoded is not None:
            self.decoded.block(block)
            return
        super().block(block)
        self.guess.block(block)
