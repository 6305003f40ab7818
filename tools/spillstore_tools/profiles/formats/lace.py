"""The profile ``lace``: a JSON result with a preview of each stream.

100 lines of the beginning and 50 of the end, at most 10,000 characters of each, and how many lines there were. Always
stored, empty output too. Only exit code 127 with an empty stdout is an error.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from spillstore_tools.preview.parts import Gap, Shown, length_of, omissions_of, text_of
from spillstore_tools.preview.scan.position import Position
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies.ends import End, beginning, ending
from spillstore_tools.preview.strategies.fit import assemble
from spillstore_tools.preview.strategies.request import Request
from spillstore_tools.preview.text.clean import unmasked
from spillstore_tools.profiles.base import Profile
from spillstore_tools.profiles.notices import get_artifact_call
from spillstore_tools.profiles.rendered import Rendered, is_dropped, mark_dropped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore_tools.preview.parts import Part, View
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.profiles.facts import Facts

STREAMS: tuple[View, View] = ("stdout", "stderr")
HEAD_LINES = 100
TAIL_LINES = 50
MAX_CHARS = 10_000
CUT = "\n[PREVIEW TRUNCATED]"
NOT_FOUND = 127


class Lace(Profile):
    """See the module."""

    name = "lace"
    summary = (
        "The result is JSON with previews of both streams: the first 100 and the last 50 lines, at "
        "most 10,000 characters."
    )
    views = ("stdout", "stderr")
    keep = "all"
    cleanup_on_exit = True
    cannot_start = 1

    def scan(self, view: View, terminator: bytes, source: str) -> Scan:  # noqa: ARG002  # all alike
        """As in ``Profile``."""
        return Scan(head_chars=2 * MAX_CHARS, tail_chars=2 * MAX_CHARS, terminator=terminator, exact=False)

    def complete(self, overviews: Mapping[View, Overview], facts: Facts) -> bool:  # noqa: ARG002  # see below
        """As in ``Profile``."""
        return False  # always stored

    def render(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        """As in ``Profile``."""
        cuts = {view: _preview(overviews[view], view, facts) for view in STREAMS}
        fields = {f"{view}Preview": unmasked(text_of(parts)) for view, parts in cuts.items()}
        omissions = [each for view, parts in cuts.items() for each in omissions_of(parts, view)]
        truncated = {
            view: {"skipped": _skipped(cuts[view]), "total": overviews[view].lines} for view in STREAMS
        }
        return Rendered(
            text=_result(facts, fields, truncated),
            omissions=mark_dropped(omissions, facts),
            strategy="lines" if omissions else "none",
            is_error=facts.exit_code == NOT_FOUND and _blank(overviews["stdout"]),
            fields=fields,
        )

    def progress(self, overviews: Mapping[View, Overview], facts: Facts) -> Rendered:
        """As in ``Profile``; the result stays JSON."""
        return self.render(overviews, facts)

    def news(
        self, new: Overview, origin: Position, overviews: Mapping[View, Overview] | None, facts: Facts
    ) -> Rendered:
        """As in ``Profile``; the result is JSON, too, with what is new of both streams as ``combinedPreview``."""
        rendered = super().news(new, origin, overviews, facts)
        fields = {"combinedPreview": rendered.text}
        skipped = sum(each.lines for each in rendered.omissions)
        text = _result(facts, fields, {"combined": {"skipped": skipped, "total": new.lines}})
        return dataclasses.replace(rendered, text=text, fields=fields)


def _result(facts: Facts, previews: Mapping[str, str], truncated: Mapping[View, Mapping[str, int]]) -> str:
    """The JSON result of a command."""
    identity = facts.stored.id if facts.stored else None
    result: dict[str, object] = {
        "command": facts.command or "",
        "exitCode": 0 if facts.exit_code is None and facts.background is None else facts.exit_code,
        "runtime": facts.runtime or 0,
        **previews,
        "truncated": truncated,
        "outputFiles": {
            view: f"artifact://{identity}?stream={view}" if identity else ""
            for view in (*STREAMS, "combined")
        },
    }
    if facts.background is not None:
        result["background"] = dataclasses.asdict(facts.background)
    if facts.problem is not None:
        result["storageError"] = facts.problem
    return json.dumps(result, ensure_ascii=False)


def _preview(overview: Overview, view: View, facts: Facts) -> list[Part]:
    request = Request(limit=MAX_CHARS, line_limit=None)
    few = overview.lines <= HEAD_LINES + TAIL_LINES
    most = None if few else HEAD_LINES
    head = beginning(overview, 2 * MAX_CHARS, request, most=most, exact=True)
    tail = End([], Position(overview.size, overview.lines + 1))
    if not few:
        tail = ending(overview, MAX_CHARS, request, head.position, most=TAIL_LINES, exact=True)

    def marker(gap: Gap) -> str:
        return "" if few else _marker(gap, view, facts)  # few long lines are cut off below

    parts = assemble(head, tail, overview, marker)
    return parts if length_of(parts) <= MAX_CHARS else _cut_off(parts, overview, tail.position)


def _marker(gap: Gap, view: View, facts: Facts) -> str:
    where = "not stored"
    if facts.stored is not None:
        call = get_artifact_call(facts, stream=view, start_line=gap.first_line, end_line=gap.last_line)
        gone = is_dropped(facts, view, gap.start, gap.end)
        where = f"see full output in {call}{' (not all of it is there any more)' if gone else ''}"
    return (
        f"\n=== OUTPUT TRUNCATED ===\n[Skipped {gap.lines} lines - {where}]\n"
        f"=== LAST {TAIL_LINES} LINES ===\n\n"
    )


def _cut_off(parts: list[Part], overview: Overview, behind: Position) -> list[Part]:
    """The first 10,000 characters, the words that say so included; ``behind`` is where the gap in ``parts`` ends."""
    room = MAX_CHARS - len(CUT)
    kept: list[Part] = []
    chars, place = 0, Position(0, 1)
    for part in parts:
        if isinstance(part, Gap):
            if len(part.text) > room:
                break
            kept.append(part)
            room -= len(part.text)
            chars += part.chars or 0
            place = behind
        elif isinstance(part, Shown):
            text, end = _prefix(part, overview, room)
            if end > part.start:
                kept.append(Shown(text, part.start, end))
                room -= len(text)
                chars += len(text)
                place = Position(end, place.line + text.count("\n"), inside=not text.endswith("\n"))
            if end < part.end:
                break
    gap = overview.gap(place, Position(overview.size, overview.lines + 1), overview.chars - chars)
    return [*kept, dataclasses.replace(gap, text=CUT)]


def _prefix(part: Shown, overview: Overview, room: int) -> tuple[str, int]:
    """As much of a piece as fits, cut where nothing is torn."""
    if len(part.text) <= room:
        return part.text, part.end
    text, end = "", part.start
    for line in (*overview.forward(), *reversed(list(overview.backward()))):
        if line.end <= end:
            continue
        if line.start >= part.end or len(text) == room:
            break
        before = 0  # what the line shows before the piece begins
        if line.start < part.start:
            before = line.chars - (part.text.find("\n") + 1 or len(part.text))
        piece, place = line.prefix(before + room - len(text))
        if place <= end:
            break
        text, end = text + piece[before:], place
        if place < line.end:
            break
    return text, end


def _blank(overview: Overview) -> bool:
    text = overview.text()
    return text is not None and not text.strip()


def _skipped(parts: list[Part]) -> int:
    return sum(part.lines for part in parts if isinstance(part, Gap))
